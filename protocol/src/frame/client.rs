//! A client's half: requests written, responses read.

use super::body::Kind;
use super::header::write_request_header;
use super::{DecodeError, Decoder, EncodeError, Frame, close, open};
use crate::ApiKey;
use crate::codec::{BodyWriter, Malformed};
use crate::messages::{Request, RequestKind, ResponseKind};
use bytes::Bytes;

/// Writes a request as a frame.
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [spoken](crate::api::supported).
pub fn encode_request<R: Request>(
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &R,
) -> Result<Frame, EncodeError> {
    write(Kind::request(R::KEY, version), correlation_id, client_id, |out| request.write(version, out))
}

/// Writes a request of any API as a frame.
///
/// # Errors
///
/// As [`encode_request`].
pub fn encode_any_request(
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &RequestKind,
) -> Result<Frame, EncodeError> {
    let kind = Kind::request(request.api(), version);
    write(kind, correlation_id, client_id, |out| request.write(version, out))
}

/// Writes a request's body alone.
///
/// # Errors
///
/// As [`encode_request`].
pub fn encode_request_body<R: Request>(version: i16, request: &R) -> Result<Bytes, EncodeError> {
    Kind::request(R::KEY, version).write(|out| request.write(version, out)).map(BodyWriter::into_bytes)
}

fn write(
    kind: Kind,
    correlation_id: i32,
    client_id: Option<&str>,
    body: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>,
) -> Result<Frame, EncodeError> {
    let api: (ApiKey, i16) = (kind.api, kind.version);
    let mut out = open();
    kind.check_version()
        .and_then(|()| write_request_header(out.buffer(), api, correlation_id, client_id))
        .and_then(|()| {
            let start = out.len();
            body(&mut out)?;
            kind.check_written(&out, start)
        })
        .map_err(|malformed| EncodeError::new(kind.site(), malformed))?;
    close(kind.site(), out)
}

/// [`Decoder::response`] within the default [`Limits`](super::Limits).
///
/// # Errors
///
/// As that.
pub fn decode_response<R: Request>(version: i16, payload: Bytes) -> Result<(i32, R::Response), DecodeError> {
    Decoder::DEFAULT.response::<R>(version, payload)
}

/// [`Decoder::any_response`] within the default [`Limits`](super::Limits).
///
/// # Errors
///
/// As that.
pub fn decode_any_response(api: ApiKey, version: i16, payload: Bytes) -> Result<(i32, ResponseKind), DecodeError> {
    Decoder::DEFAULT.any_response(api, version, payload)
}

/// [`Decoder::response_body`] within the default [`Limits`](super::Limits).
///
/// # Errors
///
/// As that.
pub fn decode_response_body<R: Request>(version: i16, body: Bytes) -> Result<R::Response, DecodeError> {
    Decoder::DEFAULT.response_body::<R>(version, body)
}
