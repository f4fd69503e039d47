//! How a message body is written and read, whoever made the message type: `kafka-protocol` or this crate.
//!
//! Nothing outside of this crate can read a body but through [`frame`](crate::frame): `read` takes a [`Checked`], and
//! only the guard makes one.

mod error;
mod writer;

pub use error::{DecodeError, EncodeError};
pub(crate) use error::{Malformed, Site};
pub(crate) use writer::BodyWriter;

use bytes::Bytes;

/// A body that may be decoded: the guard walked over it.
#[derive(Debug)]
pub struct Checked(Bytes);

impl Checked {
    pub(crate) const fn new(body: Bytes) -> Self {
        Self(body)
    }
    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

/// A request's body: a client writes it, a broker reads it.
pub trait RequestBody: Sized {
    /// Appends the body.
    ///
    /// # Errors
    ///
    /// When a field holds what this version cannot carry.
    #[cfg(feature = "client")]
    fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed>;

    /// Reads the body; bytes after it are not looked at.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    #[cfg(feature = "broker")]
    fn read(version: i16, body: Checked) -> Result<Self, Malformed>;
}

/// A response's body: a broker writes it, a client reads it.
pub trait ResponseBody: Sized {
    /// Appends the body.
    ///
    /// # Errors
    ///
    /// When a field holds what this version cannot carry.
    #[cfg(feature = "broker")]
    fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed>;

    /// Reads the body; bytes after it are not looked at.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    #[cfg(feature = "client")]
    fn read(version: i16, body: Checked) -> Result<Self, Malformed>;
}

/// The body of a schema that is no API's: everybody writes and reads it.
pub trait DataBody: Sized {
    /// Appends the body.
    ///
    /// # Errors
    ///
    /// When a field holds what this version cannot carry.
    fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed>;

    /// Reads the body; bytes after it are not looked at.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    fn read(version: i16, body: Checked) -> Result<Self, Malformed>;
}
