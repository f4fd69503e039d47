//! Record headers: an ordered list in which a name may come twice.

use bytes::Bytes;
use std::sync::Arc;

/// One header, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the format has these two")]
pub struct Header<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value; null and empty differ.
    pub value: Option<&'a [u8]>,
}

/// Headers of one record. Cloning shares them; changing a clone leaves the other as it was.
///
/// ```
/// use millstream_protocol::Headers;
/// let headers = Headers::new().with("trace", "a").with("trace", "b");
/// assert_eq!(headers.last("trace"), Some(&b"b"[..]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<List>>);

type List = Vec<(String, Option<Bytes>)>;

impl Headers {
    /// No headers.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }
    /// Appends one.
    pub fn add(&mut self, name: &str, value: impl Into<Bytes>) {
        self.push(name, Some(value.into()));
    }
    /// Appends one whose value may be null.
    pub fn push(&mut self, name: &str, value: Option<Bytes>) {
        Arc::make_mut(self.0.get_or_insert_default()).push((name.to_owned(), value));
    }
    /// Appends one, for chains.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Bytes>) -> Self {
        self.add(name, value);
        self
    }
    /// Removes all of this name.
    pub fn remove(&mut self, name: &str) {
        if let Some(list) = &mut self.0 {
            Arc::make_mut(list).retain(|(each, _)| each != name);
            if list.is_empty() {
                self.0 = None;
            }
        }
    }
    /// The value of the last one of this name; a null value reads as none.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&[u8]> {
        self.list().iter().rev().find(|(each, _)| each == name)?.1.as_deref()
    }
    /// How many.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.list().len()
    }
    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list().is_empty()
    }
    /// In order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Header<'_>> {
        self.list().iter().map(|(name, value)| Header { name, value: value.as_deref() })
    }

    #[inline]
    fn list(&self) -> &[(String, Option<Bytes>)] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}
