//! What Kafka's own assignors make of 50 groups over three rounds each, row by row (`assignors.jsonl.gz`).

use millstream_client_core::group::assignor::{
    ClusterLayout, CooperativeSticky, GroupMember, PartitionAssignor, Range,
};
use millstream_client_core::group::{Assignment, Subscription};
use millstream_protocol::TopicPartition;
use millstream_vectors::unhex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn rows(assignor: &str) -> Vec<Value> {
    let rows: Vec<Value> = millstream_vectors::rows("assignors").filter(|row| row["assignor"] == assignor).collect();
    assert!(!rows.is_empty(), "no rows for {assignor}");
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

fn members(row: &Value) -> Vec<GroupMember> {
    let member = |member: &Value| {
        let subscription = Subscription::decode(&unhex(text(&member["subscription"])).into()).expect("a subscription");
        GroupMember::new(text(&member["id"]), member["instance"].as_str().map(str::to_owned), subscription)
    };
    row["members"].as_array().expect("members").iter().map(member).collect()
}

fn expected(row: &Value) -> BTreeMap<String, BTreeSet<TopicPartition>> {
    let share = |member: &Value| {
        let assignment = Assignment::decode(&unhex(text(&member["encoded"])).into()).expect("an assignment");
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
