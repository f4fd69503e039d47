//! Pictures of any bytes: what they are (request, response, records, a schema), API and version where it needs them, bytes.
//! Text and JSON agree on whether something is wrong, and the JSON is some.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millstream_protocol::ApiKey;
use millstream_protocol::embedded::Any;
use millstream_protocol::picture::Picture;

fn picture(data: &[u8]) -> Option<Picture<'_>> {
    let [what, api, version, bytes @ ..] = data else { return None };
    let (key, version) = (ApiKey::new(i16::from(*api)), i16::from(*version));
    match what % 6 {
        0 => Picture::of_request(key, version, bytes),
        1 => Picture::of_response(key, version, bytes),
        2 => Some(Picture::of_records(bytes)),
        3 => Picture::of_embedded(Any::NAMES[usize::from(*api) % Any::NAMES.len()], version, bytes),
        4 => Some(Picture::of_request_frame(bytes)),
        _ => Some(Picture::of_response_frame(key, version, bytes)),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(picture) = picture(data) else { return };
    let (text, json) = (picture.to_string(), picture.json());
    assert!(!text.is_empty());
    assert!(picture.in_topic("__consumer_offsets").whole().to_string().len() >= 8);
    match json {
        Ok(json) => drop(serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON")),
        Err(error) => assert!(picture.faults() > 0 && !error.to_string().is_empty(), "{error}\n{text}"),
    }
});
