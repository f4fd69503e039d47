//! What a serde is told about the bytes in its hands.

use millstream_protocol::{Headers, TopicName};

/// Where the bytes are from, or going to.
///
/// ```
/// use millstream_protocol::{Headers, TopicName};
/// use millstream_state::serde::{Part, SerdeContext};
/// let (topic, mut headers) = (TopicName::from_static("orders"), Headers::new());
/// SerdeContext::new(&topic, Part::Value).writing(&mut headers).headers_mut().add("schema", &b"7"[..]);
/// assert_eq!(headers.last("schema"), Some(&b"7"[..]));
/// ```
#[derive(Debug)]
pub struct SerdeContext<'a> {
    topic: &'a TopicName,
    part: Part,
    headers: Held<'a>,
}
#[derive(Debug)]
enum Held<'a> {
    Own(Headers),
    Read(&'a Headers),
    Write(&'a mut Headers),
}

impl<'a> SerdeContext<'a> {
    /// Bytes of no record, as a store's: there are no headers, and added ones are forgotten.
    #[must_use]
    pub const fn new(topic: &'a TopicName, part: Part) -> Self {
        Self { topic, part, headers: Held::Own(Headers::new()) }
    }
    /// Bytes of a record that is read, with its headers.
    #[must_use]
    pub fn reading(self, headers: &'a Headers) -> Self {
        Self { headers: Held::Read(headers), ..self }
    }
    /// Bytes of a record that is written: serdes may add to its headers.
    #[must_use]
    pub fn writing(self, headers: &'a mut Headers) -> Self {
        Self { headers: Held::Write(headers), ..self }
    }
    /// The topic; a store's changelog topic for a store.
    #[must_use]
    pub const fn topic(&self) -> &TopicName {
        self.topic
    }
    /// Key or value.
    #[must_use]
    pub const fn part(&self) -> Part {
        self.part
    }
    /// The record's headers.
    #[must_use]
    pub const fn headers(&self) -> &Headers {
        match &self.headers {
            Held::Own(headers) => headers,
            Held::Read(headers) => headers,
            Held::Write(headers) => headers,
        }
    }
    /// The record's headers, to add to them. What is added to a record that is read is seen by this context alone.
    pub fn headers_mut(&mut self) -> &mut Headers {
        if let Held::Read(headers) = &self.headers {
            self.headers = Held::Own((*headers).clone());
        }
        match &mut self.headers {
            Held::Own(headers) => headers,
            Held::Write(headers) => headers,
            Held::Read(_) => unreachable!("turned into headers of its own above"),
        }
    }
}

/// A half of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a record has these two")]
#[expect(missing_docs, reason = "a record has these two")]
pub enum Part {
    Key,
    Value,
}
impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::Value => "value",
        })
    }
}
