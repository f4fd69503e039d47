//! A message as lines: where a value begins, its bytes, its field's path, the value.

use super::lines::{Extent, Lines, Origin, counted, hex, quoted};
use super::opened::{self, Hints, Opened};
use crate::codec::Malformed;
use crate::guard::{self, Limits, Shape, Value, Visit, secrets};
use crate::{ApiKey, ErrorCode};
use std::fmt::Write;
use std::ops::Range;

/// A message to be drawn, and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shape: &'static Shape,
    pub(super) version: i16,
    pub(super) bytes: &'a [u8],
    /// Where `bytes` begin.
    pub(super) origin: Origin,
    /// What stands before every field's path.
    pub(super) path: &'a str,
    pub(super) hints: Hints<'a>,
}

impl<'a> Place<'a> {
    /// The bytes from here on, to be shown beside what is wrong; none where they may be a secret's.
    fn rest(&self, start: usize, extent: Extent) -> &'a [u8] {
        let hidden = secrets::has_secrets(self.shape) && extent == Extent::Excerpt;
        if hidden { &[] } else { self.bytes.get(start..).unwrap_or_default() }
    }
    /// The line at the end of the message, and what stands after it.
    pub(super) fn end(&self, length: usize, lines: &mut Lines) {
        let more = self.bytes.len().saturating_sub(length);
        let what = if more == 0 { "end".to_owned() } else { format!("end; {} after it", counted(more, "byte")) };
        lines.push(self.origin.plus(length), self.rest(length, lines.extent), &what);
    }
}

/// Draws the message at the front of the bytes, up to what is wrong with it. Returns how many bytes it takes, if all is well.
pub(super) fn draw(place: Place<'_>, lines: &mut Lines) -> Option<usize> {
    let mut outline =
        Outline { place, lines, levels: Vec::new(), pending: None, at: 0, hidden: None, hints: place.hints };
    let walked = guard::walk(place.shape, place.version, place.bytes, &Limits::DEFAULT, &mut outline);
    match walked {
        Ok(walked) => {
            outline.flush(walked.length);
            Some(walked.length)
        }
        Err(malformed) => {
            outline.refuse(&malformed);
            None
        }
    }
}

/// A struct with the field that is being read, or an array with the next element's index.
enum Level {
    Struct(Option<&'static str>),
    Array(usize),
}

/// A line that waits for the end of its bytes.
struct Pending<'a> {
    at: usize,
    path: String,
    what: What<'a>,
}

enum What<'a> {
    Said(String),
    /// Bytes that are not shown.
    Secret(usize),
    /// An array: how many elements it has, the first of them if they are numbers, and how many numbers there were.
    Array(usize, String, usize),
    /// Bytes that hold something: what is said of them, and what they are.
    Held(String, &'a [u8], Opened<'a>),
}

struct Outline<'a, 'l> {
    place: Place<'a>,
    lines: &'l mut Lines,
    levels: Vec<Level>,
    pending: Option<Pending<'a>>,
    /// Where the field or element begins that is being read.
    at: usize,
    /// How many levels are around an array whose further elements are not drawn.
    hidden: Option<usize>,
    hints: Hints<'a>,
}

impl<'a> Outline<'a, '_> {
    fn extent(&self) -> Extent {
        self.lines.extent
    }
    fn path(&self) -> String {
        let mut path = self.place.path.to_owned();
        for level in &self.levels {
            let _infallible = match level {
                Level::Struct(Some(name)) if path.is_empty() => write!(path, "{name}"),
                Level::Struct(Some(name)) => write!(path, ".{name}"),
                Level::Struct(None) => Ok(()),
                Level::Array(next) => write!(path, "[{}]", next.saturating_sub(1)),
            };
        }
        path
    }
    fn field_name(&self) -> &'static str {
        self.levels
            .iter()
            .rev()
            .find_map(|level| if let Level::Struct(name) = level { *name } else { None })
            .unwrap_or("")
    }
    /// What follows belongs to the struct, and to none of its fields.
    fn leave_field(&mut self) {
        if let Some(Level::Struct(field)) = self.levels.last_mut() {
            *field = None;
        }
    }
    fn wait(&mut self, at: usize, what: What<'a>) {
        if self.hidden.is_none() {
            self.pending = Some(Pending { at, path: self.path(), what });
        }
    }
    /// A line about the struct around, or the message.
    fn about(&mut self, at: usize, what: &str) {
        self.at = at;
        if self.hidden.is_none() {
            let path = self.path();
            let what = if path.is_empty() { what.to_owned() } else { format!(": {what}") };
            self.pending = Some(Pending { at, path, what: What::Said(what) });
        }
    }
    /// Draws the line that waits, whose bytes end here.
    fn flush(&mut self, end: usize) {
        let Some(Pending { at, path, what }) = self.pending.take() else { return };
        let bytes = self.place.bytes.get(at..end).unwrap_or_default();
        let origin = self.place.origin.plus(at);
        match what {
            What::Said(what) => self.lines.push(origin, bytes, &(path + &what)),
            What::Secret(count) => {
                self.lines.push(origin, &[], &format!("{path}: {} that are secret", counted(count, "byte")));
            }
            What::Array(count, _, 0) => {
                self.lines.push(origin, bytes, &format!("{path}: {}", counted(count, "element")))
            }
            What::Array(count, shown, drawn) => {
                let more = if drawn < count { format!(", … {} more", count - drawn) } else { String::new() };
                self.lines.push(origin, bytes, &format!("{path} = [{shown}{more}]"));
            }
            What::Held(what, content, opened) => {
                self.lines.push(origin, bytes, &(path.clone() + &what));
                let origin = self.place.origin.plus(end.saturating_sub(content.len()));
                opened::draw(opened, content, origin, &path, self.lines);
            }
        }
    }
    /// Begins an element that is no number: from the limit on they are not drawn.
    fn enter(&mut self) {
        let Some(Level::Array(next)) = self.levels.last() else { return };
        let next = *next;
        if self.hidden.is_none() {
            self.flush(self.at);
            if next > self.extent().elements() {
                self.lines.note(&format!("{} and further on: not shown", self.path()));
                self.hidden = Some(self.levels.len());
            }
        }
    }
    /// A number among the elements of an array: they share a line.
    fn joined(&mut self, value: Value<'a>) -> bool {
        let Some(Level::Array(next)) = self.levels.last() else { return false };
        let (next, most) = (*next, self.extent().elements());
        let number = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Uuid(_));
        let extent = self.extent();
        match &mut self.pending {
            Some(Pending { what: What::Array(_, shown, drawn), .. }) if number => {
                if next <= most {
                    let separator = if *drawn == 0 { "" } else { ", " };
                    let _infallible = write!(shown, "{separator}{}", said(value, extent));
                    *drawn += 1;
                }
                true
            }
            _ => number && self.hidden.is_some(),
        }
    }
    fn refuse(&mut self, malformed: &Malformed) {
        let at = malformed.offset().unwrap_or(self.place.bytes.len());
        // From the field's start, unless that stands in a line already.
        let is_drawn = self.pending.as_ref().is_some_and(|pending| pending.at == self.at);
        let start = if is_drawn || self.at > at { at } else { self.at };
        self.flush(start);
        let path = if self.place.path.is_empty() { String::new() } else { format!("{}.", self.place.path) };
        let field = malformed.field().map_or_else(String::new, |field| format!("{path}{field}: "));
        let rest = self.place.rest(start, self.extent());
        let what = format!("{field}{}", malformed.reason());
        let origin = malformed.offset().map(|_| self.place.origin.plus(start));
        self.lines.wrong(origin, if origin.is_some() { rest } else { &[] }, &what);
    }
    fn described(&mut self, value: Value<'a>) -> What<'a> {
        let field = self.field_name();
        self.hints.note(field, value);
        let Some((content, opened)) = opened::what(self.place.shape, field, value, &self.hints) else {
            let hidden = secrets::is_secret(field, value) && self.extent() == Extent::Excerpt;
            return match value {
                Value::Bytes(content) if hidden => What::Secret(content.len()),
                value => What::Said(format!(" = {}{}", said(value, self.extent()), explained(field, value))),
            };
        };
        let shown = if matches!(opened, Opened::Records(_)) { String::new() } else { format!(", {}", opened.name()) };
        What::Held(format!(": {}{shown}", counted(content.len(), "byte")), content, opened)
    }
}

impl<'a> Visit<'a> for Outline<'a, '_> {
    const VALUES: bool = true;

    fn field(&mut self, name: &'static str, at: usize) {
        self.flush(at);
        self.at = at;
        if let Some(Level::Struct(field)) = self.levels.last_mut() {
            *field = Some(name);
        }
    }
    fn element(&mut self, at: usize) {
        self.at = at;
        if let Some(Level::Array(next)) = self.levels.last_mut() {
            *next += 1;
        }
    }
    fn open_struct(&mut self) {
        self.enter();
        self.levels.push(Level::Struct(None));
    }
    fn close_struct(&mut self) {
        self.levels.pop();
    }
    fn open_array(&mut self, count: usize) {
        self.enter();
        self.wait(self.at, What::Array(count, String::new(), 0));
        self.levels.push(Level::Array(0));
    }
    fn close_array(&mut self) {
        if self.hidden == Some(self.levels.len()) {
            self.hidden = None;
        }
        self.levels.pop();
    }
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        if self.joined(value) {
            return Ok(());
        }
        self.enter();
        let what = self.described(value);
        self.wait(self.at, what);
        Ok(())
    }
    fn present(&mut self, at: usize) {
        self.wait(at, What::Said(": not null".to_owned()));
    }
    fn open_tags(&mut self, count: u32, at: Range<usize>) {
        self.flush(at.start);
        self.leave_field();
        self.about(at.start, &counted(usize::try_from(count).unwrap_or(usize::MAX), "tagged field"));
    }
    fn tag(&mut self, tag: u32, size: usize, at: Range<usize>) {
        self.flush(at.start);
        self.leave_field();
        self.about(at.start, &format!("tag {tag}, {}", counted(size, "byte")));
    }
    fn unknown_tag(&mut self, tag: u32, content: &'a [u8], at: Range<usize>) {
        self.flush(at.start);
        self.leave_field();
        self.about(at.start, &format!("unknown tag {tag} = {}", hex(content, self.extent())));
    }
}

fn said(value: Value<'_>, extent: Extent) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Uuid(bytes) => super::json::uuid(bytes),
        Value::Text(text) => quoted(text, extent),
        Value::Bytes([]) | Value::Records([]) => "empty".to_owned(),
        Value::Bytes(bytes) | Value::Records(bytes) => hex(bytes, extent),
    }
}

/// What a number stands for.
fn explained(field: &str, value: Value<'_>) -> String {
    let number = if let Value::Int(number) = value { i16::try_from(number).ok() } else { None };
    match (field, number) {
        ("errorCode", Some(code)) => format!(" ({})", ErrorCode::new(code).name()),
        ("apiKey" | "requestApiKey", Some(key)) => format!(" ({})", ApiKey::new(key).name()),
        _ => String::new(),
    }
}
