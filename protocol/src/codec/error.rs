//! What can be wrong with a message, and where.

use crate::ApiKey;
use crate::picture::excerpt;
use std::borrow::Cow;
use std::fmt;

/// What is wrong inside a body, before it is known which message it was. One pointer, so that results stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(Box<Detail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    reason: Cow<'static, str>,
    // Such as `.topics[2].partitions`: each part with what leads to it.
    path: String,
    offset: Option<usize>,
    /// The bytes around the offset, to be shown.
    excerpt: Option<String>,
}

impl Malformed {
    #[cold]
    pub(crate) fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Detail { reason: reason.into(), path: String::new(), offset: None, excerpt: None }))
    }
    /// How many bytes after the body's first.
    pub(crate) fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }
    /// This went wrong within these bytes: an error shows those at its offset.
    pub(crate) fn within(mut self, body: &[u8]) -> Self {
        self.0.excerpt = self.0.offset.map(|offset| excerpt(body, offset));
        self
    }
    /// This went wrong inside of the field of this name.
    pub(crate) fn in_field(self, name: &str) -> Self {
        self.below(&format!(".{name}"))
    }
    /// This went wrong inside of the array element of this index.
    pub(crate) fn in_element(self, index: usize) -> Self {
        self.below(&format!("[{index}]"))
    }

    fn below(mut self, outer: &str) -> Self {
        self.0.path.insert_str(0, outer);
        self
    }
    /// How many bytes after the body's first, if anybody knew it.
    pub(crate) const fn offset(&self) -> Option<usize> {
        self.0.offset
    }
    /// What is wrong.
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }
    /// The path to the field, if anybody knew it.
    pub(crate) fn field(&self) -> Option<&str> {
        Some(self.0.path.trim_start_matches('.')).filter(|path| !path.is_empty())
    }
}
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.field(), self.0.offset) {
            (Some(path), Some(offset)) => write!(f, "field {path} at byte {offset}: ")?,
            (Some(path), None) => write!(f, "field {path}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.0.reason)
    }
}

/// Which message an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Request(ApiKey, i16),
    Response(ApiKey, i16),
    RequestHeader,
    ResponseHeader(ApiKey, i16),
    /// A schema that travels inside other messages.
    Embedded(&'static str, i16),
    /// Batches of records.
    Records,
}
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(api, version) => write!(f, "{api} request, version {version}"),
            Self::Response(api, version) => write!(f, "{api} response, version {version}"),
            Self::RequestHeader => f.write_str("a request's header"),
            Self::ResponseHeader(api, version) => write!(f, "the header of a {api} response, version {version}"),
            Self::Embedded(name, version) => write!(f, "{name}, version {version}"),
            Self::Records => f.write_str("record batches"),
        }
    }
}

/// Bytes that are not the message that they should be.
///
/// `Display` names the message, its version, the field and the byte where known, and shows the bytes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError(Box<(Site, Malformed)>);

impl DecodeError {
    pub(crate) fn new(site: Site, malformed: Malformed) -> Self {
        Self(Box::new((site, malformed)))
    }
    /// The field in question, where known, such as `topics[0].partitions`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.1.field()
    }
    /// The byte in question where known, counted from the first after the header.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.1.0.offset
    }
    /// The bytes around the one in question where known, such as `… 00 01 67 > 7f ff ff ff …`: it is the one behind the
    /// mark.
    #[must_use]
    pub fn excerpt(&self) -> Option<&str> {
        self.0.1.0.excerpt.as_deref()
    }
    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.1.0.reason
    }
}
impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.0.0, self.0.1)?;
        self.excerpt().map_or(Ok(()), |excerpt| write!(f, "; the bytes there: {excerpt}"))
    }
}
impl std::error::Error for DecodeError {}

/// A message that cannot be written at this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError(Box<(Site, Malformed)>);

impl EncodeError {
    pub(crate) fn new(site: Site, malformed: Malformed) -> Self {
        Self(Box::new((site, malformed)))
    }
    /// The field in question, where known.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.1.field()
    }
    /// Why it cannot be written.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.1.0.reason
    }
}
impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.0.0, self.0.1)
    }
}
impl std::error::Error for EncodeError {}
