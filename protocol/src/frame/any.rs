//! Bodies by API, version and direction, for whoever does not know them beforehand: a proxy, a tool.

use super::body::Kind;
use super::{DecodeError, Decoder, Direction, EncodeError};
use crate::ApiKey;
use crate::codec::BodyWriter;
use crate::messages::AnyMessage;
use bytes::Bytes;

impl Decoder {
    /// Reads a body by API, version and direction.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message, or over the limits, or this crate does not know the API or the version.
    pub fn body(
        &self,
        api: ApiKey,
        version: i16,
        direction: Direction,
        body: Bytes,
    ) -> Result<AnyMessage, DecodeError> {
        match direction {
            Direction::Request => self.any_request(api, version, body).map(AnyMessage::Request),
            Direction::Response => self.any_response_body(api, version, body).map(AnyMessage::Response),
        }
    }
}

/// [`Decoder::body`] within the default [`Limits`](super::Limits).
///
/// ```
/// use millstream_protocol::{ApiKey, frame::{self, Direction}};
/// let sent = bytes::Bytes::from_static(b"\0\0\0\0\0\0"); // How long to hold back, no error.
/// let message = frame::decode_body(ApiKey::HEARTBEAT, 1, Direction::Response, sent.clone())?;
/// assert_eq!((message.api(), message.direction()), (ApiKey::HEARTBEAT, Direction::Response));
/// assert_eq!(frame::encode_body(1, &message)?, sent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As that.
pub fn decode_body(api: ApiKey, version: i16, direction: Direction, body: Bytes) -> Result<AnyMessage, DecodeError> {
    Decoder::DEFAULT.body(api, version, direction, body)
}

/// Writes a body; [`encode_any_request`](super::encode_any_request) and
/// [`encode_any_response`](super::encode_any_response) write the header, too.
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [spoken](crate::api::supported).
pub fn encode_body(version: i16, message: &AnyMessage) -> Result<Bytes, EncodeError> {
    let kind = Kind { api: message.api(), direction: message.direction(), version };
    let written = kind.write(|out| match message {
        AnyMessage::Request(request) => request.write(version, out),
        AnyMessage::Response(response) => response.write(version, out),
    });
    written.map(BodyWriter::into_bytes)
}
