//! What can be wrong with a message, and where.

use crate::ApiKey;
use std::borrow::Cow;
use std::fmt;

/// What is wrong inside a body, before it is known which message it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    reason: Cow<'static, str>,
    path: Option<String>,
    offset: Option<usize>,
}

impl Malformed {
    pub(crate) const fn fixed(reason: &'static str) -> Self {
        Self { reason: Cow::Borrowed(reason), path: None, offset: None }
    }
    pub(crate) fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), path: None, offset: None }
    }
    /// In which field, such as `responses[2].partitions[0].records`.
    pub(crate) fn at_field(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
    /// How many bytes after the body's first.
    pub(crate) const fn at_offset(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }
}
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.offset) {
            (Some(path), Some(offset)) => write!(f, "field {path} at byte {offset}: ")?,
            (Some(path), None) => write!(f, "field {path}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.reason)
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
}
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(api, version) => write!(f, "{api} request, version {version}"),
            Self::Response(api, version) => write!(f, "{api} response, version {version}"),
            Self::RequestHeader => f.write_str("a request's header"),
            Self::ResponseHeader(api, version) => write!(f, "the header of a {api} response, version {version}"),
            Self::Embedded(name, version) => write!(f, "{name}, version {version}"),
        }
    }
}

/// Bytes that are not the message that they should be.
///
/// `Display` names the message, its version, the field and the byte where known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError(Box<(Site, Malformed)>);

impl DecodeError {
    pub(crate) fn new(site: Site, malformed: Malformed) -> Self {
        Self(Box::new((site, malformed)))
    }
    /// The field in question, where known, such as `topics[0].partitions`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.1.path.as_deref()
    }
    /// The byte in question where known, counted from the first after the header.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.1.offset
    }
    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.1.reason
    }
}
impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.0.0, self.0.1)
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
        self.0.1.path.as_deref()
    }
    /// Why it cannot be written.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.1.reason
    }
}
impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.0.0, self.0.1)
    }
}
impl std::error::Error for EncodeError {}
