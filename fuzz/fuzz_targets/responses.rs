//! A response of any API: API key, version, header and body.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_fuzz::again;
use millstream_protocol::{ApiKey, frame};

fuzz_target!(|data: &[u8]| {
    let [api, version, payload @ ..] = data else { return };
    let (api, version) = (ApiKey::new(i16::from(*api)), i16::from(*version));
    let Ok((id, response)) = frame::decode_any_response(api, version, Bytes::copy_from_slice(payload)) else { return };
    // An ApiVersions response may have been read as version 0, and then holds nothing that another cannot.
    let written = frame::encode_any_response(version, id, &response).expect("what was read can be written");
    let (_, again) = again().any_response(api, version, written.payload()).expect("what was written can be read");
    let twice = frame::encode_any_response(version, id, &again).expect("what was read can be written");
    assert_eq!(twice, written);
});
