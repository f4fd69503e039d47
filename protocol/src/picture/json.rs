//! A message as JSON.

use super::lines::counted;
use crate::codec::Malformed;
use crate::guard::{Value, Visit, secrets};
use std::fmt::Write;

/// Kafka's, for ids.
const URL_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[derive(Debug)]
pub(super) struct Json {
    pub(super) text: String,
    with_secrets: bool,
    /// The last one that began.
    field: &'static str,
}

impl Json {
    pub(super) const fn new(with_secrets: bool) -> Self {
        Self { text: String::new(), with_secrets, field: "" }
    }
    /// A comma, unless something was just opened.
    fn separate(&mut self) {
        if !self.text.ends_with(['{', '[', ':']) && !self.text.is_empty() {
            self.text.push(',');
        }
    }
    pub(super) fn put(&mut self, value: Value<'_>) {
        self.separate();
        self.push(value);
    }
    fn push(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => write_to(&mut self.text, value),
            Value::Int(value) => write_to(&mut self.text, value),
            Value::Float(value) if value.is_finite() => write_to(&mut self.text, format_args!("{value:?}")),
            Value::Float(value) => write_to(&mut self.text, format_args!("\"{value}\"")),
            Value::Uuid(bytes) => self.quoted(&uuid(bytes)),
            Value::Bytes(bytes) | Value::Records(bytes) => {
                let padding = "=".repeat((3 - bytes.len() % 3) % 3);
                self.quoted(&(base64(bytes, ALPHABET) + &padding));
            }
            Value::Text(text) => self.quoted(&escaped(&String::from_utf8_lossy(text))),
        }
    }
    fn quoted(&mut self, text: &str) {
        self.text.extend(["\"", text, "\""]);
    }
}

impl<'a> Visit<'a> for Json {
    const VALUES: bool = true;

    fn field(&mut self, name: &'static str, _at: usize) {
        self.separate();
        self.field = name;
        self.quoted(name);
        self.text.push(':');
    }
    fn open_struct(&mut self) {
        self.separate();
        self.text.push('{');
    }
    fn close_struct(&mut self) {
        self.text.push('}');
    }
    fn open_array(&mut self, _count: usize) {
        self.separate();
        self.text.push('[');
    }
    fn close_array(&mut self) {
        self.text.push(']');
    }
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        match value {
            Value::Bytes(bytes) if !self.with_secrets && secrets::is_secret(self.field, value) => {
                self.put(Value::Text(format!("({} that are secret)", counted(bytes.len(), "byte")).as_bytes()));
            }
            _ => self.put(value),
        }
        Ok(())
    }
}

/// Writing to a string cannot fail.
fn write_to(text: &mut String, value: impl std::fmt::Display) {
    let _infallible = write!(text, "{value}");
}

pub(super) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\u{1f}' => write_to(&mut out, format_args!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
        out
    })
}

/// As Kafka writes an id.
pub(super) fn uuid(bytes: &[u8]) -> String {
    base64(bytes, URL_ALPHABET)
}

/// Without padding.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| (bits << 8) | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..=chunk.len() {
            let digit = (bits >> (18 - 6 * at)) & 63;
            text.extend(alphabet.get(digit).copied().map(char::from));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_rfc_4648s() {
        let pairs = [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes(), ALPHABET), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff], URL_ALPHABET), "-_8");
    }
}
