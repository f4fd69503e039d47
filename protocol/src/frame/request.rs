//! Requests, written and read.

use super::header::write_request_header;
use super::{DecodeError, EncodeError, Frame, close, open};
use crate::ApiKey;
use crate::codec::{BodyWriter, Malformed, Site};
use crate::guard::{self, Direction};
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
    let site = Site::Request(api, version);
    let mut out = open();
    write_request_header(out.buffer(), (api, version), correlation_id, client_id)
        .and_then(|()| body(&mut out))
        .map_err(|malformed| EncodeError::new(site, malformed))?;
    close(site, out)
}

/// Reads a request's body; bytes after it are ignored, as Kafka does.
///
/// # Errors
///
/// When the bytes are no such request. No allocation ever goes by a number in the bytes alone.
pub fn decode_request<R: Request>(version: i16, body: Bytes) -> Result<R, DecodeError> {
    let site = Site::Request(R::KEY, version);
    guard::check(R::KEY, Direction::Request, version, body)
        .and_then(|mut checked| R::read(version, &mut checked))
        .map_err(|malformed| DecodeError::new(site, malformed))
}

/// Reads the body of a request of any API.
///
/// # Errors
///
/// As [`decode_request`], and when this crate does not know the API.
pub fn decode_any_request(api: ApiKey, version: i16, body: Bytes) -> Result<RequestKind, DecodeError> {
    let site = Site::Request(api, version);
    guard::check(api, Direction::Request, version, body)
        .and_then(|mut checked| RequestKind::read(api, version, &mut checked))
        .map_err(|malformed| DecodeError::new(site, malformed))
}
