//! Schemas that are no API's: read as Kafka reads them, written as Kafka writes them, with and without what stands before them.

use crate::fuzzed::{Chance, meddle, seed};
use crate::memory;
use bytes::Bytes;
use millstream_protocol::embedded::{
    Any, CooperativeStickyUserData, Embedded, GroupKey, ShareKey, StickyUserData, TransactionKey,
};
use millstream_protocol::picture::Picture;
use millstream_vectors::{bytes, int16, rows};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A row, taken apart.
struct Row {
    name: String,
    version: i16,
    body: Bytes,
    whole: Bytes,
    row: Value,
}

impl Row {
    fn of(row: Value) -> Self {
        let body = bytes(&row, "hex");
        let whole = [bytes(&row, "prefix"), body.clone()].concat();
        let name = row["name"].as_str().expect("a name").to_owned();
        Self { name, version: int16(&row, "version"), body: body.into(), whole: whole.into(), row }
    }
    /// The KRaft records name their version in a field, which rows fill by chance.
    fn has_prefix(&self) -> bool {
        !matches!(
            self.name.as_str(),
            "LeaderChangeMessage"
                | "SnapshotHeaderRecord"
                | "SnapshotFooterRecord"
                | "KRaftVersionRecord"
                | "VotersRecord"
        )
    }
}

fn data() -> impl Iterator<Item = Row> {
    rows("messages-data").map(Row::of)
}

#[test]
fn bodies_are_written_again_as_kafka_writes_them() {
    let mut read = 0;
    for row in data() {
        let value = Any::decode_body(&row.name, row.version, row.body.clone());
        let value = value.unwrap_or_else(|error| panic!("{error}: {}", row.row));
        assert_eq!(value.encode_body(row.version).expect("it was read"), row.body, "{}", row.row);
        let picture = Picture::of_embedded(&row.name, row.version, &row.body).expect("Kafka has it");
        let json: Value = serde_json::from_str(&picture.json().expect("Kafka wrote it")).expect("JSON");
        assert_eq!((json, picture.length()), (row.row["json"].clone(), Ok(row.body.len())), "{}", row.row);
        read += 1;
    }
    println!("{read} rows");
    assert!(read > 0);
}

#[test]
fn what_stands_before_a_body_is_read_and_written() {
    let mut read = 0;
    for row in data().filter(Row::has_prefix) {
        let (version, value) =
            Any::decode(&row.name, &row.whole).unwrap_or_else(|error| panic!("{error}: {}", row.row));
        assert_eq!((version, value.encode(version).expect("it was read")), (row.version, row.whole), "{}", row.row);
        read += 1;
    }
    assert!(read > 0, "the corpus is empty");
}

#[test]
fn a_coordinators_key_tells_which_schema_its_record_has() {
    let mut keys = 0;
    for row in data().filter(|row| row.row["type"] == "coordinator-key") {
        let (written, named) = match row.row["module"].as_str() {
            Some("group-coordinator") => {
                let key = GroupKey::decode(&row.whole).expect("Kafka wrote it");
                (key.encode(), format!("{key:?}"))
            }
            Some("share-coordinator") => {
                let key = ShareKey::decode(&row.whole).expect("Kafka wrote it");
                (key.encode(), format!("{key:?}"))
            }
            _ => {
                let key = TransactionKey::decode(&row.whole).expect("Kafka wrote it");
                (key.encode(), format!("{key:?}"))
            }
        };
        assert_eq!(written.as_ref(), Ok(&row.whole));
        assert!(named.contains(&format!("({} {{", row.name)), "{named} is no {}", row.name);
        keys += 1;
    }
    assert!(keys > 0, "the corpus has no keys");
}

/// The corpus in the project has all of them at all versions.
#[test]
fn every_schema_is_in_the_corpus_at_every_version() {
    let mut seen: BTreeMap<String, BTreeSet<i16>> = BTreeMap::new();
    for row in data() {
        seen.entry(row.name).or_default().insert(row.version);
    }
    for (name, versions) in &seen {
        let range = Any::versions(name).unwrap_or_else(|| panic!("no schema {name}"));
        assert!(versions.iter().all(|version| range.contains(*version)), "{name} has {range}, not {versions:?}");
    }
    if millstream_vectors::is_own_copy() {
        let all: usize = Any::NAMES
            .iter()
            .filter_map(|name| Any::versions(name))
            .map(|range| (range.min()..=range.max()).count())
            .sum();
        assert_eq!((seen.len(), seen.values().map(BTreeSet::len).sum::<usize>()), (Any::NAMES.len(), all));
    }
}

#[test]
fn every_cut_ends_with_a_value_or_an_error_in_bounded_memory() {
    let mut cuts = 0;
    for row in data() {
        let step = 1 + row.whole.len() / 200;
        for end in (0..row.whole.len()).step_by(step) {
            let cut = row.whole.slice(..end);
            let (peak, _) = memory::peak_of(|| Any::decode(&row.name, &cut).is_ok());
            assert!(peak <= 8 * end + (64 << 10), "{peak} bytes for {end} of {}", row.name);
            if let Some(body) = row.body.get(..end) {
                let body = Bytes::copy_from_slice(body);
                let (peak, read) = memory::peak_of(|| Any::decode_body(&row.name, row.version, body).is_ok());
                assert!(peak <= 8 * end + (64 << 10), "{peak} bytes for {end} of {}", row.name);
                assert!(!read || end >= row.body.len(), "a cut body of {} was read: {}", row.name, row.row);
                cuts += 1;
            }
        }
    }
    assert!(cuts > 0, "the corpus is empty");
}

#[test]
fn meddled_bytes_end_with_a_value_or_an_error_in_bounded_memory() {
    let mut chance = Chance::new(seed());
    let mut refused_and_read = [0_u32; 2];
    for row in data() {
        for _ in 0..24 {
            let mut body = row.body.to_vec();
            meddle(&mut body, &mut chance);
            let (size, body) = (body.len(), Bytes::from(body));
            let (peak, read) = memory::peak_of(|| Any::decode_body(&row.name, row.version, body.clone()).is_ok());
            assert!(peak <= 8 * size + (64 << 10), "{peak} bytes for {size} of {}: {body:02x?}", row.name);
            refused_and_read[usize::from(read)] += 1;
        }
    }
    println!("refused, read: {refused_and_read:?}");
    assert!(refused_and_read.into_iter().all(|count| count > 0), "meddled too much or too little");
}

/// Two thousand empty texts, arrays or structs, each a byte on the wire.
#[test]
fn arrays_of_the_smallest_elements_take_bounded_memory() {
    for name in Any::NAMES {
        let versions = Any::versions(name).expect("it has a schema");
        for (version, before) in
            (versions.min()..=versions.max()).flat_map(|version| (0..24).map(move |at| (version, at)))
        {
            for (count, byte) in [(&[0xd1, 0x0f][..], 0), (&[0xd1, 0x0f], 1), (&[0, 0, 0x07, 0xd0], 0)] {
                let body = Bytes::from([&vec![0; before][..], count, &vec![byte; 12_000]].concat());
                let size = body.len();
                let (peak, _) = memory::peak_of(|| Any::decode_body(name, version, body).is_ok());
                assert!(peak <= 8 * size + (64 << 10), "{peak} bytes for {size} of {name} {version}");
            }
        }
    }
}

#[test]
fn user_data_of_the_sticky_assignors_is_written_again_as_kafka_writes_it() {
    let (mut sticky, mut cooperative) = (0, 0);
    for row in rows("assignors") {
        let members = row["members"].as_array().expect("members");
        for data in
            members.iter().filter(|member| member["user_data"].is_string()).map(|member| bytes(member, "user_data"))
        {
            let data = Bytes::from(data);
            match row["assignor"].as_str() {
                Some("sticky") => {
                    let (version, read) = StickyUserData::decode_any(&data).expect("Kafka wrote it");
                    assert_eq!(read.encode(version), Ok(data));
                    sticky += 1;
                }
                Some("cooperative-sticky") => {
                    let (version, read) = CooperativeStickyUserData::decode(&data).expect("Kafka wrote it");
                    assert_eq!(read.encode(version), Ok(data));
                    cooperative += 1;
                }
                other => panic!("{other:?} has user data"),
            }
        }
    }
    println!("{sticky} of sticky, {cooperative} of cooperative-sticky");
    assert!(sticky > 0 && cooperative > 0);
}
