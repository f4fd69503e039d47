//! What members of a group tell each other.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_client_core::group::{Assignment, Subscription};

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    if let Ok(subscription) = Subscription::decode(&bytes) {
        let again = Subscription::decode(&subscription.encode());
        assert_eq!(again.as_ref().map(Subscription::encode), Ok(subscription.encode()));
    }
    if let Ok(assignment) = Assignment::decode(&bytes) {
        // A topic that comes twice is written once.
        let again = Assignment::decode(&assignment.encode());
        assert_eq!(again.as_ref().map(Assignment::encode), Ok(assignment.encode()));
    }
});
