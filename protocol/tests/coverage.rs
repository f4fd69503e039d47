//! Every API of Kafka's jar, at every version in both directions, is read and written here, and stands in the corpus.

#[path = "../examples/generate-guard/schema.rs"]
#[expect(dead_code, reason = "the generator needs more of it")]
mod schema;

use millstream_protocol::frame::{self, Direction};
use millstream_protocol::{ApiKey, api};
use millstream_vectors::{bytes, int16, rows};
use std::collections::BTreeSet;
use std::path::Path;

type Kind = (ApiKey, i16, Direction);

const CORPORA: [(&str, Direction); 2] =
    [("messages-requests", Direction::Request), ("messages-responses", Direction::Response)];

/// What the corpus has, after each row of it was read and written again.
fn exercised() -> BTreeSet<Kind> {
    let mut kinds = BTreeSet::new();
    for (corpus, direction) in CORPORA {
        for row in rows(corpus) {
            let (api, version) = (ApiKey::new(int16(&row, "api")), int16(&row, "version"));
            let body = bytes(&row, "hex").into();
            let message = frame::decode_body(api, version, direction, body).unwrap_or_else(|error| panic!("{error}"));
            let written = frame::encode_body(version, &message).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(written, bytes(&row, "hex"), "{api} {version} {direction:?}");
            kinds.insert((api, version, direction));
        }
    }
    kinds
}

/// What the table of this crate has.
fn spoken() -> BTreeSet<Kind> {
    let versions = |api| api::supported(api).into_iter().flat_map(|range| range.min()..=range.max());
    let both = |api, version| CORPORA.map(|(_, direction)| (api, version, direction));
    api::all().flat_map(|(api, _)| versions(api).flat_map(move |version| both(api, version))).collect()
}

/// What Kafka's schemas have.
fn of_the_jar(schemas: &Path) -> BTreeSet<Kind> {
    let mut kinds = BTreeSet::new();
    for schema in schema::read_all(schemas).expect("the schemas are readable") {
        let (key, direction) = match schema.kind {
            schema::Kind::Request(key) => (key, Direction::Request),
            schema::Kind::Response(key) => (key, Direction::Response),
            _ => continue,
        };
        let last = schema.versions.last.expect("valid versions have an end");
        kinds.extend((schema.versions.first..=last).map(|version| (ApiKey::new(key), version, direction)));
    }
    kinds
}

#[test]
fn the_corpus_has_every_message_that_is_spoken() {
    let (spoken, exercised) = (spoken(), exercised());
    assert!(exercised.is_subset(&spoken), "{:?} is not spoken", exercised.difference(&spoken));
    println!("{} of {} kinds of messages are in the corpus", exercised.len(), spoken.len());
    if millstream_vectors::is_own_copy() {
        assert_eq!(exercised, spoken);
    }
}

/// `MILLSTREAM_KAFKA_SCHEMAS` is a directory with what `common/message` holds in the jar kafka-clients of Kafka 4.4.0.
#[test]
#[ignore = "needs Kafka's jars"]
fn every_message_of_the_jar_is_spoken() {
    let schemas = std::env::var_os("MILLSTREAM_KAFKA_SCHEMAS").expect("MILLSTREAM_KAFKA_SCHEMAS names the schemas");
    let of_the_jar = of_the_jar(Path::new(&schemas));
    assert_eq!(spoken(), of_the_jar);
    let apis: BTreeSet<_> = of_the_jar.iter().map(|(api, ..)| *api).collect();
    println!("{} APIs, {} kinds of messages", apis.len(), of_the_jar.len());
    assert!(apis.iter().all(|api| api.name() != "unknown API"));
}
