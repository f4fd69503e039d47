//! What single options must satisfy.

use std::time::Duration;

pub(crate) fn positive_duration(value: &Duration) -> Result<(), String> {
    if value.is_zero() { Err("must be more than zero".to_owned()) } else { Ok(()) }
}

pub(crate) fn positive(value: &usize) -> Result<(), String> {
    if *value == 0 { Err("must be more than zero".to_owned()) } else { Ok(()) }
}

pub(crate) fn plain_text(value: &str) -> Result<(), String> {
    if value.eq_ignore_ascii_case("PLAINTEXT") {
        return Ok(());
    }
    Err(format!("`{value}` is not supported yet; only PLAINTEXT is"))
}
