//! A broker's half: requests read, responses written.

use super::body::Kind;
use super::header::{RequestHeader, answered_version, write_response_header};
use super::{DecodeError, Decoder, EncodeError, Frame, close, open};
use crate::ApiKey;
use crate::codec::{BodyWriter, Malformed, ResponseBody};
use crate::messages::{Request, RequestKind, ResponseKind};
use bytes::Bytes;

/// Writes the response to a request of type `R` as a frame.
///
/// An `ApiVersions` response that says `UNSUPPORTED_VERSION` is written as version 0 whatever was asked, as it is read (KIP-511).
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [spoken](crate::api::supported).
pub fn encode_response<R: Request>(
    version: i16,
    correlation_id: i32,
    response: &R::Response,
) -> Result<Frame, EncodeError> {
    write(Kind::response(R::KEY, version), correlation_id, |version, out| response.write(version, out))
}

/// Writes a response of any API as a frame.
///
/// # Errors
///
/// As [`encode_response`].
pub fn encode_any_response(version: i16, correlation_id: i32, response: &ResponseKind) -> Result<Frame, EncodeError> {
    write(Kind::response(response.api(), version), correlation_id, |version, out| response.write(version, out))
}

/// Writes a response's body alone.
///
/// # Errors
///
/// As [`encode_response`].
pub fn encode_response_body<R: Request>(version: i16, response: &R::Response) -> Result<Bytes, EncodeError> {
    Kind::response(R::KEY, version).write(|out| response.write(version, out)).map(BodyWriter::into_bytes)
}

fn write(
    kind: Kind,
    correlation_id: i32,
    body: impl Fn(i16, &mut BodyWriter) -> Result<(), Malformed>,
) -> Result<Frame, EncodeError> {
    let mut out = open();
    write_response_header(out.buffer(), (kind.api, kind.version), correlation_id);
    let start = out.buffer().len();
    let mut write = || {
        kind.check_version()?;
        body(kind.version, &mut out)?;
        // As it is read: of some answers it says itself that it is of another version.
        let version = answered_version(kind.api, kind.version, out.buffer().get(start..).unwrap_or_default());
        if version != kind.version {
            out.buffer().truncate(start);
            body(version, &mut out)?;
        }
        Kind { version, ..kind }.check_written(&out, start)
    };
    write().map_err(|malformed| EncodeError::new(kind.site(), malformed))?;
    close(kind.site(), out)
}

/// [`Decoder::request`] within the default [`Limits`](super::Limits): a body alone.
///
/// # Errors
///
/// As that.
pub fn decode_request<R: Request>(version: i16, body: Bytes) -> Result<R, DecodeError> {
    Decoder::DEFAULT.request(version, body)
}

/// [`Decoder::any_request`] within the default [`Limits`](super::Limits): a body alone.
///
/// # Errors
///
/// As that.
pub fn decode_any_request(api: ApiKey, version: i16, body: Bytes) -> Result<RequestKind, DecodeError> {
    Decoder::DEFAULT.any_request(api, version, body)
}

/// [`Decoder::request_frame`] within the default [`Limits`](super::Limits): header and body.
///
/// # Errors
///
/// As that.
pub fn decode_request_frame(payload: &Bytes) -> Result<(RequestHeader, RequestKind), DecodeError> {
    Decoder::DEFAULT.request_frame(payload)
}
