//! A broker's half: requests read, responses written.

use super::body::Kind;
use super::header::{RequestHeader, write_response_header};
use super::{DecodeError, Decoder, EncodeError, Frame, close, open};
use crate::ApiKey;
use crate::codec::{BodyWriter, Malformed, ResponseBody};
use crate::messages::{Request, RequestKind, ResponseKind};
use bytes::Bytes;

/// Writes the response to a request of type `R` as a frame.
///
/// (To an `ApiVersions` request of a version that it does not speak, a broker answers with version 0.)
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [spoken](crate::api::supported).
pub fn encode_response<R: Request>(
    version: i16,
    correlation_id: i32,
    response: &R::Response,
) -> Result<Frame, EncodeError> {
    write(Kind::response(R::KEY, version), correlation_id, |out| response.write(version, out))
}

/// Writes a response of any API as a frame.
///
/// # Errors
///
/// As [`encode_response`].
pub fn encode_any_response(version: i16, correlation_id: i32, response: &ResponseKind) -> Result<Frame, EncodeError> {
    write(Kind::response(response.api(), version), correlation_id, |out| response.write(version, out))
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
    body: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>,
) -> Result<Frame, EncodeError> {
    let mut out = open();
    write_response_header(out.buffer(), (kind.api, kind.version), correlation_id);
    kind.check_version().and_then(|()| body(&mut out)).map_err(|malformed| EncodeError::new(kind.site(), malformed))?;
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
