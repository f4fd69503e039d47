//! Kafka's grouping of partitions into tasks, from topologies: task `s_p` takes partition `p` of every topic that has one.

use millstream_processor_core::Topology;
use serde_json::Value;
use std::collections::BTreeMap;

/// One source for each sub-topology.
fn topology(row: &Value) -> Topology {
    let mut builder = Topology::builder();
    for subtopology in row["subtopologies"].as_array().unwrap() {
        let topics = subtopology["topics"].as_object().unwrap().keys();
        let sources: Vec<_> = topics.map(|topic| builder.add_source::<String, String>(topic, topic.as_str())).collect();
        let sink = format!("sink-{}", subtopology["id"]);
        builder.add_sink(&sink, sources.into_iter().collect::<millstream_processor_core::Parents<_, _>>(), "out");
    }
    builder.build().unwrap()
}
#[test]
fn tasks_take_the_partitions_that_kafka_streams_gives_them() {
    for row in millstream_vectors::rows("streams-partition-groups") {
        let subtopologies = row["subtopologies"].as_array().unwrap();
        let count = |name: &str| {
            let count = subtopologies.iter().find_map(|subtopology| subtopology["topics"][name].as_i64());
            count.and_then(|count| i32::try_from(count).ok())
        };
        let tasks = topology(&row).tasks("app", |topic| count(topic.as_str()));
        let partitions = |id| tasks.partitions(id).iter().map(ToString::to_string).collect::<Vec<_>>();
        let found: BTreeMap<String, Vec<String>> = tasks.tasks().map(|id| (id.to_string(), partitions(id))).collect();
        let expected: BTreeMap<String, Vec<String>> = serde_json::from_value(row["tasks"].clone()).unwrap();
        assert_eq!(found, expected, "{}", row["id"]);
    }
}
