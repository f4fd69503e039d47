//! What single options must satisfy.

use std::time::Duration;

pub(crate) fn positive_duration(value: &Duration) -> Result<(), String> {
    if value.is_zero() { Err("must be more than zero".to_owned()) } else { Ok(()) }
}

pub(crate) fn positive(value: &usize) -> Result<(), String> {
    if *value == 0 { Err("must be more than zero".to_owned()) } else { Ok(()) }
}

/// What requests carry as a string of at most 32,767 bytes.
pub(crate) fn short(value: &str) -> Result<(), String> {
    let most = i16::MAX.unsigned_abs();
    if value.len() > usize::from(most) { Err(format!("must be at most {most} bytes long")) } else { Ok(()) }
}

pub(crate) fn plain_text(value: &str) -> Result<(), String> {
    if value.eq_ignore_ascii_case("PLAINTEXT") {
        return Ok(());
    }
    Err(format!("`{value}` is not supported yet; only PLAINTEXT is"))
}
