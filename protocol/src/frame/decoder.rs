//! The readers of frames and bodies, within limits.

use super::body::Kind;
use super::{DecodeError, FrameBuffer, Limits};
use crate::ApiKey;
#[cfg(feature = "client")]
use crate::codec::ResponseBody;
#[cfg(any(feature = "client", feature = "broker"))]
use crate::messages::Request;
#[cfg(feature = "broker")]
use crate::messages::RequestKind;
#[cfg(feature = "client")]
use crate::messages::ResponseKind;
use bytes::Bytes;

/// Reads messages, once the guard has walked over their bytes, within [`Limits`].
///
/// The functions of this module with the same names are those of [`Decoder::DEFAULT`].
///
/// ```
/// use millstream_protocol::frame::{Decoder, Limits};
/// use millstream_protocol::messages::{MetadataRequest, StrBytes, metadata_request::MetadataRequestTopic};
///
/// let topic = MetadataRequestTopic::default().with_name(Some(StrBytes::from_static_str("orders").into()));
/// let request = MetadataRequest::default().with_topics(Some(vec![topic; 3]));
/// let body = millstream_protocol::frame::encode_request_body(1, &request)?;
///
/// let mut limits = Limits::default();
/// limits.elements = 2;
/// let refused = Decoder::new(limits).request::<MetadataRequest>(1, body).expect_err("three topics");
/// assert_eq!(refused.field(), Some("topics"));
/// assert_eq!(refused.reason(), "3 elements; the limit is 1000000, and 2 in all arrays together");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoder {
    limits: Limits,
}

impl Decoder {
    /// With [`Limits::DEFAULT`].
    pub const DEFAULT: Self = Self::new(Limits::DEFAULT);

    /// With limits of one's own.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits }
    }
    /// What it goes by.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
    /// What cuts a stream into frames of a size within the limits.
    #[must_use]
    pub fn buffer(&self) -> FrameBuffer {
        FrameBuffer::new(self.limits.frame_bytes)
    }
}

/// Responses, for clients.
#[cfg(feature = "client")]
impl Decoder {
    /// Reads a response to a request of this type and version, from a frame without its size: its correlation id and
    /// the response. Bytes after the body are ignored, as Kafka does.
    ///
    /// An `ApiVersions` response that says `UNSUPPORTED_VERSION` is read as version 0, which is how brokers write it
    /// whatever was asked; it lists the versions to ask with instead.
    ///
    /// # Errors
    ///
    /// When the bytes are no such response, or over the limits. No allocation ever goes by a number in the bytes alone.
    pub fn response<R: Request>(&self, version: i16, payload: Bytes) -> Result<(i32, R::Response), DecodeError> {
        let (correlation_id, version, body) = open_response(R::KEY, version, &payload)?;
        Ok((correlation_id, self.response_body::<R>(version, body)?))
    }
    /// Reads a response of any API, from a frame without its size.
    ///
    /// # Errors
    ///
    /// As [`response`](Self::response), and when this crate does not know the API.
    pub fn any_response(&self, api: ApiKey, version: i16, payload: Bytes) -> Result<(i32, ResponseKind), DecodeError> {
        let (correlation_id, version, body) = open_response(api, version, &payload)?;
        Ok((correlation_id, self.any_response_body(api, version, body)?))
    }
    /// Reads a response's body.
    ///
    /// # Errors
    ///
    /// As [`response`](Self::response).
    pub fn response_body<R: Request>(&self, version: i16, body: Bytes) -> Result<R::Response, DecodeError> {
        let read = |checked| R::Response::read(version, checked);
        Kind::response(R::KEY, version).read(body, &self.limits, read).map(|(response, _)| response)
    }
    /// Reads the body of a response of any API.
    ///
    /// # Errors
    ///
    /// As [`any_response`](Self::any_response).
    pub fn any_response_body(&self, api: ApiKey, version: i16, body: Bytes) -> Result<ResponseKind, DecodeError> {
        let read = |checked| ResponseKind::read(api, version, checked);
        Kind::response(api, version).read(body, &self.limits, read).map(|(response, _)| response)
    }
}

/// Requests, for brokers.
#[cfg(feature = "broker")]
impl Decoder {
    /// Reads a request's body; bytes after it are ignored, as Kafka does.
    ///
    /// # Errors
    ///
    /// When the bytes are no such request, or over the limits. No allocation ever goes by a number in the bytes alone.
    pub fn request<R: Request>(&self, version: i16, body: Bytes) -> Result<R, DecodeError> {
        let read = |checked| R::read(version, checked);
        Kind::request(R::KEY, version).read(body, &self.limits, read).map(|(request, _)| request)
    }
    /// Reads the body of a request of any API.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request), and when this crate does not know the API.
    pub fn any_request(&self, api: ApiKey, version: i16, body: Bytes) -> Result<RequestKind, DecodeError> {
        let read = |checked| RequestKind::read(api, version, checked);
        Kind::request(api, version).read(body, &self.limits, read).map(|(request, _)| request)
    }
    /// Reads a request of any API with its header, from a frame without its size.
    ///
    /// # Errors
    ///
    /// As [`any_request`](Self::any_request).
    pub fn request_frame(&self, payload: &Bytes) -> Result<(super::RequestHeader, RequestKind), DecodeError> {
        let header = super::decode_request_header(payload)?;
        let request = self.any_request(header.api(), header.version(), header.body_of(payload))?;
        Ok((header, request))
    }
}

/// The correlation id, the version that the body has, and the body.
#[cfg(feature = "client")]
fn open_response(api: ApiKey, version: i16, payload: &Bytes) -> Result<(i32, i16, Bytes), DecodeError> {
    let (correlation_id, header) = super::header::read_response_header(api, version, payload)?;
    let body = payload.slice(header..);
    Ok((correlation_id, super::answered_version(api, version, &body), body))
}
