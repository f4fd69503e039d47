//! Any schema that is no API's: which one, then bytes as they are stored. What is read is written, and read again the same.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_protocol::embedded::{Any, ControlBody, GroupKey, ShareKey, StickyUserData, TransactionKey};
use millstream_protocol::record::ControlKind;

fuzz_target!(|data: &[u8]| {
    let [which, data @ ..] = data else { return };
    let bytes = Bytes::copy_from_slice(data);
    let name = Any::NAMES[usize::from(*which) % Any::NAMES.len()];
    if let Ok((version, read)) = Any::decode(name, &bytes) {
        let written = read.encode(version).expect("what was read can be written");
        let body = read.encode_body(version).expect("what was read can be written");
        // What is written shorter than it was read may cost more than its length allows it: unknown tags are let go, then.
        if written.len() >= bytes.len() {
            assert_eq!(Any::decode(name, &written), Ok((version, read.clone())));
            assert_eq!(Any::decode_body(name, version, body), Ok(read));
        }
    }
    let value = bytes.slice(bytes.len() / 2..);
    if let Ok(key) = GroupKey::decode(&bytes) {
        assert_eq!(GroupKey::decode(&key.encode().expect("it was read")).as_ref(), Ok(&key));
        drop(key.decode_value(&value));
    }
    drop(TransactionKey::decode(&bytes).map(|key| key.decode_value(&value)));
    drop(ShareKey::decode(&bytes).map(|key| key.decode_value(&value)));
    drop(ControlBody::decode(ControlKind::from_id(i16::from(*which)), &bytes));
    drop(StickyUserData::decode_any(&bytes));
});
