//! What is read is what was written, at every API and version.

use super::sample::{Chance, Manner, body};
use super::{seed, subjects};
use crate::frame;

/// What a message of ours looks like once it was read: tagged fields that hold their default are left out.
#[test]
fn what_is_written_is_read_as_it_was() {
    let mut chance = Chance::new(seed());
    let mut count = 0;
    for subject in subjects() {
        for unknown_tags in [false, true] {
            let sample = body(subject.shape, subject.version, Manner::Varied { unknown_tags }, &mut chance);
            let decode = |bytes| frame::decode_body(subject.api, subject.version, subject.direction, bytes);
            let message = decode(sample.clone()).unwrap_or_else(|error| panic!("{error}: {sample:02x?}"));
            let written = frame::encode_body(subject.version, &message).expect("it was read");
            assert!(written.len() <= sample.len(), "{subject:?} grew");
            assert_eq!(decode(written.clone()).expect("it was written"), message, "{subject:?}");
            count += 1;
        }
    }
    println!("{count} messages");
}
