//! What Kafka's own assignors make of 50 groups over three rounds each, row by row (`assignors.jsonl.gz`).
//!
//! `MILLSTREAM_WIRE_DIR` names another folder with rows of the same kind.

use flate2::read::GzDecoder;
use millstream_client_core::group::assignor::{
    ClusterLayout, CooperativeSticky, GroupMember, PartitionAssignor, Range,
};
use millstream_client_core::group::{Assignment, Subscription};
use millstream_protocol::TopicPartition;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

fn rows(assignor: &str) -> Vec<Value> {
    let own = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testkit/vectors/wire");
    let folder = std::env::var_os("MILLSTREAM_WIRE_DIR").map_or_else(own, PathBuf::from);
    let path = folder.join("assignors.jsonl.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("open {}: {error}", path.display()));
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let rows = lines.map(|line| serde_json::from_str::<Value>(&line.expect("a line")).expect("JSON"));
    let rows: Vec<Value> = rows.filter(|row| row["assignor"] == assignor).collect();
    assert!(!rows.is_empty(), "no rows for {assignor} in {}", path.display());
    rows
}

fn layout(row: &Value) -> ClusterLayout {
    let brokers = row["brokers"].as_array().expect("brokers").iter();
    let racks: BTreeMap<i64, &str> =
        brokers.filter_map(|broker| Some((broker["id"].as_i64()?, broker["rack"].as_str()?))).collect();
    let mut layout = ClusterLayout::new();
    for topic in row["topics"].as_array().expect("topics") {
        let racks_of = |replicas: &Value| -> BTreeSet<String> {
            let ids = replicas.as_array().expect("replicas").iter().filter_map(Value::as_i64);
            ids.filter_map(|id| racks.get(&id).map(|rack| (*rack).to_owned())).collect()
        };
        let partitions = topic["replicas"].as_array().expect("replicas").iter().map(racks_of).collect();
        layout.insert_with_racks(text(&topic["name"]), partitions);
    }
    layout
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn hex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digits).collect()
}

fn members(row: &Value) -> Vec<GroupMember> {
    let member = |member: &Value| {
        let subscription = Subscription::decode(&hex(text(&member["subscription"])).into()).expect("a subscription");
        GroupMember::new(text(&member["id"]), member["instance"].as_str().map(str::to_owned), subscription)
    };
    row["members"].as_array().expect("members").iter().map(member).collect()
}

fn expected(row: &Value) -> BTreeMap<String, BTreeSet<TopicPartition>> {
    let share = |member: &Value| {
        let assignment = Assignment::decode(&hex(text(&member["encoded"])).into()).expect("an assignment");
        (text(&member["id"]).to_owned(), assignment.partitions.into_iter().collect())
    };
    row["assignment"].as_array().expect("assignment").iter().map(share).collect()
}

fn assigned(assignor: &mut dyn PartitionAssignor, row: &Value) -> BTreeMap<String, BTreeSet<TopicPartition>> {
    let members = members(row);
    let shares = assignor.assign(&members, &layout(row)).expect("an assignment");
    assert_eq!(shares.len(), members.len(), "{}", row["id"]);
    members
        .into_iter()
        .zip(shares)
        .map(|(member, share)| (member.member_id, share.partitions.into_iter().collect()))
        .collect()
}

#[test]
fn range_assigns_as_kafka_does() {
    for row in rows("range") {
        assert_eq!(assigned(&mut Range::new(), &row), expected(&row), "{}", row["id"]);
    }
}

#[test]
fn cooperative_sticky_assigns_as_kafka_does() {
    let rows = rows("cooperative-sticky");
    let wrong = |row: &&Value| assigned(&mut CooperativeSticky::new(), row) != expected(row);
    let wrong: Vec<&str> = rows.iter().filter(wrong).map(|row| text(&row["id"])).collect();
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:?}", wrong.len(), rows.len());
}
