//! AlterReplicaLogDirs: each broker has one directory, in memory, so that there is nowhere else to move a replica to.
//!
//! Versions 1 to 2. Left out: moves, since there is nowhere to go.

use super::Handler;
use super::describe_log_dirs::DIRECTORY;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_replica_log_dirs_response::{
    AlterReplicaLogDirPartitionResult, AlterReplicaLogDirTopicResult,
};
use millstream_protocol::messages::{AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse};

pub(super) struct AlterReplicaLogDirs;

impl Handler for AlterReplicaLogDirs {
    type Request = AlterReplicaLogDirsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: AlterReplicaLogDirsRequest,
    ) -> Answer<AlterReplicaLogDirsResponse> {
        Answer::Reply(answer(&request, |path, topic, index| {
            let partition = broker.topics.find(topic).and_then(|topic| topic.partition(index));
            match partition {
                _ if path != DIRECTORY => ErrorCode::LOG_DIR_NOT_FOUND,
                None => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                Some(partition) if partition.replicas.contains(&call.node) => ErrorCode::NONE,
                Some(_) => ErrorCode::REPLICA_NOT_AVAILABLE,
            }
        }))
    }
    fn refuse(request: &AlterReplicaLogDirsRequest, code: ErrorCode) -> AlterReplicaLogDirsResponse {
        answer(request, |_, _, _| code)
    }
}

fn answer(
    request: &AlterReplicaLogDirsRequest,
    code: impl Fn(&str, &str, i32) -> ErrorCode,
) -> AlterReplicaLogDirsResponse {
    let topics = request.dirs.iter().flat_map(|dir| dir.topics.iter().map(move |topic| (dir, topic)));
    let results = topics.map(|(dir, topic)| {
        let partitions = topic.partitions.iter().map(|index| {
            let code = code(&dir.path, &topic.name.0, *index);
            AlterReplicaLogDirPartitionResult::default().with_partition_index(*index).with_error_code(code.get())
        });
        AlterReplicaLogDirTopicResult::default()
            .with_topic_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    AlterReplicaLogDirsResponse::default().with_results(results.collect())
}
