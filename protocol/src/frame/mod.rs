//! Whole frames: size, header, body, and the way back. The one door to the decoders.
//!
//! ```
//! use millstream_protocol::frame::{self, FrameBuffer};
//! use millstream_protocol::messages::HeartbeatRequest;
//!
//! let mut request = HeartbeatRequest::default();
//! request.generation_id = 7;
//! let sent = frame::encode_request(4, 1, Some("me"), &request)?;
//!
//! let mut received = FrameBuffer::new(1 << 20);
//! sent.segments().iter().for_each(|segment| received.extend(segment));
//! let payload = received.next_frame()?.expect("a whole frame came");
//! let header = frame::decode_request_header(&payload)?;
//! assert_eq!((header.version(), header.correlation_id()), (4, 1));
//! assert_eq!(frame::decode_request::<HeartbeatRequest>(4, header.body_of(&payload))?, request);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(all(feature = "client", feature = "broker"))]
mod any;
pub(crate) mod body;
#[cfg(feature = "broker")]
mod broker;
mod buffer;
#[cfg(feature = "client")]
mod client;
mod decoder;
mod header;

#[cfg(all(feature = "client", feature = "broker"))]
pub use any::{decode_body, encode_body};
#[cfg(feature = "broker")]
pub use broker::{
    decode_any_request, decode_request, decode_request_frame, encode_any_response, encode_response,
    encode_response_body,
};
pub use buffer::{FrameBuffer, FrameError, NoMemory};
#[cfg(feature = "client")]
pub use client::{
    decode_any_response, decode_response, decode_response_body, encode_any_request, encode_request, encode_request_body,
};
pub use decoder::Decoder;
pub(crate) use header::answered_version;
pub use header::{FrameTooShort, RequestHeader, correlation_id, decode_request_header};

pub use crate::codec::{DecodeError, EncodeError};
pub use crate::guard::{Direction, Limits, TEXT_BYTES};

use crate::codec::{BodyWriter, Malformed, Site};
use bytes::{BufMut, Bytes, BytesMut};

/// What a small frame needs, so that most are written into one allocation.
const CAPACITY: usize = 256;
const SIZE_PREFIX: usize = 4;

/// One frame to be sent, its size first, as the pieces for one vectored write (record bytes are shared, not copied).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    segments: Vec<Bytes>,
    len: usize,
}

impl Frame {
    /// The pieces in order; none is empty.
    #[must_use]
    pub fn segments(&self) -> &[Bytes] {
        &self.segments
    }
    /// The pieces, owned.
    #[must_use]
    pub fn into_segments(self) -> Vec<Bytes> {
        self.segments
    }
    /// Bytes in all, with the 4 of the size.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a frame is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }
    /// All bytes in one piece; copies when there is more than one.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self.segments.as_slice() {
            [one] => one.clone(),
            many => many
                .iter()
                .fold(BytesMut::with_capacity(self.len), |mut all, part| {
                    all.extend_from_slice(part);
                    all
                })
                .freeze(),
        }
    }
    /// Everything after the size, in one piece, as the other side gets it.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        self.to_bytes().slice(SIZE_PREFIX..)
    }
}

/// A writer with room left for the size.
fn open() -> BodyWriter {
    let mut out = BodyWriter::with_capacity(CAPACITY);
    out.buffer().put_i32(0);
    out
}

/// Fills in the size.
fn close(site: Site, mut out: BodyWriter) -> Result<Frame, EncodeError> {
    let len = out.len();
    let Ok(size) = i32::try_from(len - SIZE_PREFIX) else {
        let reason = format!("the frame has {len} bytes; Kafka's limit is {}; send less at once", i32::MAX);
        return Err(EncodeError::new(site, Malformed::new(reason)));
    };
    // `open` left room for it.
    if let Some(prefix) = out.buffer().first_chunk_mut::<SIZE_PREFIX>() {
        *prefix = size.to_be_bytes();
    }
    Ok(Frame { segments: out.into_segments(), len })
}
