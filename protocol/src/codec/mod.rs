//! How a message body is written and read, whoever made the message type: `kafka-protocol` or this crate.
//!
//! Nothing outside of this crate can read a body but through [`frame`](crate::frame): [`Body::read`] takes a
//! [`Checked`], and only the guard and the frame reader make one.

mod error;
mod writer;

pub use error::{DecodeError, EncodeError};
pub(crate) use error::{Malformed, Site};
pub(crate) use writer::BodyWriter;

use bytes::Bytes;

/// A body that may be decoded: the guard walked over it, or its decoder checks all bounds itself.
#[derive(Debug)]
pub struct Checked(Bytes);

impl Checked {
    pub(crate) const fn new(body: Bytes) -> Self {
        Self(body)
    }
    pub(crate) const fn bytes(&mut self) -> &mut Bytes {
        &mut self.0
    }
}

/// A message body that can be written and read at the versions of its API.
pub trait Body: Sized {
    /// Whether [`read`](Self::read) checks every count and length against the bytes left before it reserves or reads,
    /// so that the guard's walk would be work done twice.
    const CHECKS_BOUNDS: bool = false;

    /// Appends the body.
    ///
    /// # Errors
    ///
    /// When a field holds what this version cannot carry.
    fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed>;

    /// Reads the body from the front of `body`; bytes after it stay.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    fn read(version: i16, body: &mut Checked) -> Result<Self, Malformed>;
}

/// Implements [`Body`] for types of `kafka-protocol`.
macro_rules! foreign_body {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::codec::Body for $type {
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                let written = ::kafka_protocol::protocol::Encodable::encode(self, out.buffer(), version);
                written.map_err(|error| $crate::codec::Malformed::new(format!("{error:#}")))
            }
            fn read(version: i16, body: &mut $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                let read = ::kafka_protocol::protocol::Decodable::decode(body.bytes(), version);
                read.map_err(|error| $crate::codec::Malformed::new(format!("{error:#}")))
            }
        }
    )*};
}
pub(crate) use foreign_body;
