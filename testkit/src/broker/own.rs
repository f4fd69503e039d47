//! Memory of its own for what is kept of a request: a name of three bytes would otherwise keep the whole buffer that it came in.

use bytes::Bytes;
use millstream_protocol::messages::StrBytes;

pub(super) fn text(text: &StrBytes) -> StrBytes {
    StrBytes::from_string(text.to_string())
}
pub(super) fn bytes(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}
