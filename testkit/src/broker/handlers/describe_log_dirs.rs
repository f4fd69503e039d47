//! DescribeLogDirs: one directory, in memory. Sizes are those of the batches.
//!
//! Versions 1 to 5. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::topic::Topic;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use millstream_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use millstream_protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, StrBytes, TopicName};
use std::collections::{BTreeMap, BTreeSet};

/// Where a broker's replicas are said to be.
pub(super) const DIRECTORY: &str = "/memory";
/// How large its file system is said to be, and how much of it is free.
const SIZE_BYTES: i64 = 1 << 40;

pub(super) struct DescribeLogDirs;

impl Handler for DescribeLogDirs {
    type Request = DescribeLogDirsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DescribeLogDirsRequest) -> Answer<DescribeLogDirsResponse> {
        let wanted = request.topics.as_deref().map(partitions);
        let is_wanted = |topic: &str, index: i32| {
            wanted.as_ref().is_none_or(|wanted| wanted.get(topic).is_some_and(|indexes| indexes.contains(&index)))
        };
        let describe = |topic: &Topic| {
            let here = topic
                .numbered()
                .filter(|(index, partition)| partition.replicas.contains(&call.node) && is_wanted(&topic.name, *index));
            let partitions = here.map(|(index, partition)| {
                let size = i64::try_from(partition.log.size_bytes()).unwrap_or(i64::MAX);
                DescribeLogDirsPartition::default().with_partition_index(index).with_partition_size(size)
            });
            DescribeLogDirsTopic::default()
                .with_name(TopicName(topic.name.clone()))
                .with_partitions(partitions.collect())
        };
        let topics = broker.topics.all().map(describe).filter(|topic| !topic.partitions.is_empty()).collect();
        let result = DescribeLogDirsResult::default()
            .with_log_dir(StrBytes::from_static_str(DIRECTORY))
            .with_topics(topics)
            .with_total_bytes(SIZE_BYTES)
            .with_usable_bytes(SIZE_BYTES);
        Answer::Reply(DescribeLogDirsResponse::default().with_results(vec![result]))
    }
    fn refuse(_: &DescribeLogDirsRequest, code: ErrorCode) -> DescribeLogDirsResponse {
        DescribeLogDirsResponse::default().with_error_code(code.get())
    }
}

/// The partitions that are asked for, by topic.
fn partitions(asked: &[DescribableLogDirTopic]) -> BTreeMap<&str, BTreeSet<i32>> {
    let mut wanted: BTreeMap<&str, BTreeSet<i32>> = BTreeMap::new();
    for topic in asked {
        wanted.entry(topic.topic.0.as_str()).or_default().extend(&topic.partitions);
    }
    wanted
}
