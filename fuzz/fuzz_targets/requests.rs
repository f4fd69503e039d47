//! A request's body of any API: API key, version, body.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_fuzz::again;
use millstream_protocol::{ApiKey, frame};

fuzz_target!(|data: &[u8]| {
    let [api, version, body @ ..] = data else { return };
    let (api, version) = (ApiKey::new(i16::from(*api)), i16::from(*version));
    let Ok(request) = frame::decode_any_request(api, version, Bytes::copy_from_slice(body)) else { return };
    let written = frame::encode_any_request(version, 1, None, &request).expect("what was read can be written");
    let payload = written.payload();
    let body = frame::decode_request_header(&payload).expect("a header").body_of(&payload);
    let again = again().any_request(api, version, body).expect("what was written can be read");
    let twice = frame::encode_any_request(version, 1, None, &again).expect("what was read can be written");
    assert_eq!(twice, written);
});
