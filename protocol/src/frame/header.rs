//! The header before each request and each response.

use super::DecodeError;
use crate::api;
use crate::codec::{Malformed, Site};
use crate::guard::{Direction, Walker, secrets};
use crate::messages::StrBytes;
use crate::{ApiKey, ErrorCode};
use bytes::{BufMut, Bytes, BytesMut};

/// What stands before a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHeader {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: Option<StrBytes>,
    len: usize,
}

impl RequestHeader {
    /// The API that is asked, known to this crate or not.
    #[must_use]
    pub const fn api(&self) -> ApiKey {
        self.api
    }
    /// The version of the request, supported or not.
    #[must_use]
    pub const fn version(&self) -> i16 {
        self.version
    }
    /// What the response must carry.
    #[must_use]
    pub const fn correlation_id(&self) -> i32 {
        self.correlation_id
    }
    /// Who asks, in their own words.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }
    /// The header's length in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }
    /// The body of the payload that this header was read from.
    #[must_use]
    pub fn body_of(&self, payload: &Bytes) -> Bytes {
        payload.slice(self.len.min(payload.len())..)
    }
}

/// Reads the header of a request from a frame without its size.
///
/// For an API that this crate does not know the header is read as version 1, so that a broker can answer.
///
/// # Errors
///
/// When the bytes are no header.
pub fn decode_request_header(payload: &Bytes) -> Result<RequestHeader, DecodeError> {
    let api = ApiKey::new(payload.first_chunk().map_or(-1, |key| i16::from_be_bytes(*key)));
    read_request_header(payload).map_err(|malformed| {
        let shown = secrets::shown_in_frame(malformed, api, Direction::Request, payload);
        DecodeError::new(Site::RequestHeader, shown)
    })
}

fn read_request_header(payload: &Bytes) -> Result<RequestHeader, Malformed> {
    let mut walker = Walker::new(payload);
    let api = ApiKey::new(walker.int16()?);
    let version = walker.int16()?;
    let correlation_id = walker.int32()?;
    let client_id = walker.length16()?.map(|length| walker.take(length)).transpose()?;
    let client_id = client_id.map(|text| StrBytes::from_utf8(payload.slice_ref(text))).transpose();
    let client_id = client_id.map_err(|_| Malformed::new("text that is not UTF-8").in_field("clientId"))?;
    if api::request_header_version(api, version) >= 2 {
        walker.tagged_fields()?;
    }
    Ok(RequestHeader { api, version, correlation_id, client_id, len: walker.position() })
}

/// The correlation id of a response, from a frame without its size: what tells which request it answers.
///
/// # Errors
///
/// When the frame has fewer than four bytes.
pub fn correlation_id(payload: &[u8]) -> Result<i32, FrameTooShort> {
    let first = payload.first_chunk().ok_or(FrameTooShort { len: payload.len() })?;
    Ok(i32::from_be_bytes(*first))
}

/// A response of fewer bytes than a correlation id has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a response of {len} bytes is too short for a correlation id")]
pub struct FrameTooShort {
    len: usize,
}

/// Reads a response's header and returns the correlation id and how many bytes the header has.
#[cfg(feature = "client")]
pub(super) fn read_response_header(api: ApiKey, version: i16, payload: &[u8]) -> Result<(i32, usize), DecodeError> {
    let mut walker = Walker::new(payload);
    let mut read = || {
        let id = walker.int32()?;
        if api::response_header_version(api, version) >= 1 {
            walker.tagged_fields()?;
        }
        Ok((id, walker.position()))
    };
    read().map_err(|malformed: Malformed| {
        let shown = secrets::shown_in_frame(malformed, api, Direction::Response, payload);
        DecodeError::new(Site::ResponseHeader(api, version), shown)
    })
}

/// The version that the body of an answer has: the one asked for, or 0 of an `ApiVersions` response that says
/// `UNSUPPORTED_VERSION`.
pub(crate) fn answered_version(api: ApiKey, asked: i16, body: &[u8]) -> i16 {
    // The first field at every version is the error code.
    let code = body.first_chunk().map(|code| i16::from_be_bytes(*code));
    let is_unsupported = code == Some(ErrorCode::UNSUPPORTED_VERSION.get());
    if api == ApiKey::API_VERSIONS && is_unsupported { 0 } else { asked }
}

/// Appends a request's header; `Err` when the client id is too long for it.
#[cfg(feature = "client")]
pub(super) fn write_request_header(
    out: &mut BytesMut,
    (api, version): (ApiKey, i16),
    correlation_id: i32,
    client_id: Option<&str>,
) -> Result<(), Malformed> {
    let length = client_id.map_or(Ok(-1), |id| i16::try_from(id.len()));
    out.put_i16(api.get());
    out.put_i16(version);
    out.put_i32(correlation_id);
    out.put_i16(length.map_err(|_| Malformed::new("it has more than 32767 bytes").in_field("clientId"))?);
    out.put_slice(client_id.unwrap_or_default().as_bytes());
    if api::request_header_version(api, version) >= 2 {
        out.put_u8(0);
    }
    Ok(())
}

/// Appends a response's header.
#[cfg(feature = "broker")]
pub(super) fn write_response_header(out: &mut BytesMut, (api, version): (ApiKey, i16), correlation_id: i32) {
    out.put_i32(correlation_id);
    if api::response_header_version(api, version) >= 1 {
        out.put_u8(0);
    }
}
