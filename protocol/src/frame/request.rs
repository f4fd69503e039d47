//! Requests, written and read.

use super::body::Kind;
use super::header::write_request_header;
use super::{DecodeError, EncodeError, Frame, close, open};
use crate::ApiKey;
use crate::codec::{BodyWriter, Malformed};
use crate::guard::Direction;
use crate::messages::{Request, RequestKind};
use bytes::Bytes;

/// Writes a request as a frame.
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [supported](crate::api::supported).
pub fn encode_request<R: Request>(
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &R,
) -> Result<Frame, EncodeError> {
    write(R::KEY, version, correlation_id, client_id, |out| request.write(version, out))
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
    write(request.api(), version, correlation_id, client_id, |out| request.write(version, out))
}

fn write(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    body: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>,
) -> Result<Frame, EncodeError> {
    let kind = kind(api, version);
    let mut out = open();
    kind.check_version()
        .and_then(|()| write_request_header(out.buffer(), (api, version), correlation_id, client_id))
        .and_then(|()| body(&mut out))
        .map_err(|malformed| EncodeError::new(kind.site(), malformed))?;
    close(kind.site(), out)
}

/// Reads a request's body; bytes after it are ignored, as Kafka does.
///
/// # Errors
///
/// When the bytes are no such request. No allocation ever goes by a number in the bytes alone.
pub fn decode_request<R: Request>(version: i16, body: Bytes) -> Result<R, DecodeError> {
    kind(R::KEY, version).read(body, |checked| R::read(version, checked))
}

/// Reads the body of a request of any API.
///
/// # Errors
///
/// As [`decode_request`], and when this crate does not know the API.
pub fn decode_any_request(api: ApiKey, version: i16, body: Bytes) -> Result<RequestKind, DecodeError> {
    kind(api, version).read(body, |checked| RequestKind::read(api, version, checked))
}

const fn kind(api: ApiKey, version: i16) -> Kind {
    Kind { api, direction: Direction::Request, version }
}
