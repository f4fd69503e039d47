//! Responses, written and read.

use super::body::Kind;
use super::header::{read_response_header, write_response_header};
use super::{DecodeError, EncodeError, Frame, close, open};
use crate::codec::{Body, BodyWriter, Malformed};
use crate::guard::Direction;
use crate::messages::{Request, ResponseKind};
use crate::{ApiKey, ErrorCode};
use bytes::Bytes;

/// Reads a response to a request of this type and version, from a frame without its size: its correlation id and
/// the response. Bytes after the body are ignored.
///
/// An `ApiVersions` response that says `UNSUPPORTED_VERSION` is read as version 0, which is how brokers write it
/// whatever was asked; it lists the versions to ask with instead.
///
/// # Errors
///
/// When the bytes are no such response. No allocation ever goes by a number in the bytes alone.
pub fn decode_response<R: Request>(version: i16, payload: Bytes) -> Result<(i32, R::Response), DecodeError> {
    let (correlation_id, version, body) = open_response(R::KEY, version, &payload)?;
    let response = kind(R::KEY, version).read(body, |checked| R::Response::read(version, checked))?;
    Ok((correlation_id, response))
}

/// Reads a response of any API.
///
/// # Errors
///
/// As [`decode_response`], and when this crate does not know the API.
pub fn decode_any_response(api: ApiKey, version: i16, payload: Bytes) -> Result<(i32, ResponseKind), DecodeError> {
    let (correlation_id, version, body) = open_response(api, version, &payload)?;
    let response = kind(api, version).read(body, |checked| ResponseKind::read(api, version, checked))?;
    Ok((correlation_id, response))
}

/// The correlation id, the version that the body has, and the body.
fn open_response(api: ApiKey, version: i16, payload: &Bytes) -> Result<(i32, i16, Bytes), DecodeError> {
    let (correlation_id, header) = read_response_header(api, version, payload)?;
    let body = payload.slice(header..);
    let version = if api == ApiKey::API_VERSIONS && says_unsupported(&body) { 0 } else { version };
    Ok((correlation_id, version, body))
}

/// The first field of every `ApiVersions` response is its error code.
fn says_unsupported(body: &[u8]) -> bool {
    body.first_chunk().is_some_and(|code| i16::from_be_bytes(*code) == ErrorCode::UNSUPPORTED_VERSION.get())
}

/// Writes the response to a request of type `R` as a frame.
///
/// (To an `ApiVersions` request of a version that it does not speak, a broker answers with version 0.)
///
/// # Errors
///
/// When a field holds what this version cannot carry, or the version is not [supported](crate::api::supported).
pub fn encode_response<R: Request>(
    version: i16,
    correlation_id: i32,
    response: &R::Response,
) -> Result<Frame, EncodeError> {
    write(R::KEY, version, correlation_id, |out| response.write(version, out))
}

/// Writes a response of any API as a frame.
///
/// # Errors
///
/// As [`encode_response`].
pub fn encode_any_response(version: i16, correlation_id: i32, response: &ResponseKind) -> Result<Frame, EncodeError> {
    write(response.api(), version, correlation_id, |out| response.write(version, out))
}

fn write(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    body: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>,
) -> Result<Frame, EncodeError> {
    let kind = kind(api, version);
    let mut out = open();
    write_response_header(out.buffer(), (api, version), correlation_id);
    kind.check_version().and_then(|()| body(&mut out)).map_err(|malformed| EncodeError::new(kind.site(), malformed))?;
    close(kind.site(), out)
}

const fn kind(api: ApiKey, version: i16) -> Kind {
    Kind { api, direction: Direction::Response, version }
}
