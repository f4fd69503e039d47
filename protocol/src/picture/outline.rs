//! A message as lines: where a value begins, its name, the value.

use super::json::escaped;
use crate::codec::Malformed;
use crate::guard::{Value, Visit};
use std::fmt::Write;
use std::ops::Range;

/// Longer text and bytes are cut here.
const SHOWN: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) text: String,
    /// Structs and arrays around, the message included.
    open: usize,
    at: usize,
    name: Option<&'static str>,
}

impl Outline {
    fn line(&mut self, text: &str) {
        let indent = 2 * self.open.saturating_sub(1);
        let name = self.name.take().map_or_else(|| "- ".to_owned(), |name| format!("{name}: "));
        let _infallible = writeln!(self.text, "{:>6}  {:indent$}{name}{text}", self.at, "");
    }
}

impl<'a> Visit<'a> for Outline {
    const VALUES: bool = true;

    fn field(&mut self, name: &'static str, at: usize) {
        self.name = Some(name);
        self.at = at;
    }
    fn element(&mut self, at: usize) {
        self.at = at;
    }
    fn open_struct(&mut self) {
        // The message itself has its line already.
        if self.open > 0 {
            self.line("");
        }
        self.open += 1;
    }
    fn close_struct(&mut self) {
        self.open -= 1;
    }
    fn open_array(&mut self, count: usize) {
        self.line(&format!("{count} of"));
        self.open += 1;
    }
    fn close_array(&mut self) {
        self.open -= 1;
    }
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        self.line(&shown(value));
        Ok(())
    }
    fn unknown_tag(&mut self, tag: u32, content: &'a [u8], at: Range<usize>) {
        self.at = at.start;
        self.line(&format!("unknown tag {tag}: {}", shown(Value::Bytes(content))));
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Uuid(bytes) => hex(bytes),
        Value::Text(text) => format!("\"{}\"", escaped(&String::from_utf8_lossy(text))),
        Value::Bytes(bytes) if bytes.len() > SHOWN => format!("{}… ({} bytes)", hex(&bytes[..SHOWN]), bytes.len()),
        Value::Bytes(bytes) => hex(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
