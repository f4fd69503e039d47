//! OffsetDelete: deletes in the group, reads each topic.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use millstream_protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use millstream_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};

impl Guard for OffsetDeleteRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Delete), (ResourceType::Topic, Operation::Read)];

    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        if !rights.may_group(Operation::Delete, &self.group_id.0) {
            return Verdict::Denied(ErrorCode::GROUP_AUTHORIZATION_FAILED);
        }
        let denied = split(&mut self.topics, |topic| rights.may_topic(Operation::Read, &topic.name.0));
        Verdict::patched(move |_, answer: &mut OffsetDeleteResponse| {
            if answer.error_code == 0 {
                answer.topics.extend(denied.iter().map(refused));
            }
        })
    }
}
// The answer as a whole has a code, too; it is not for topics.
fn refused(topic: &OffsetDeleteRequestTopic) -> OffsetDeleteResponseTopic {
    let partitions = topic.partitions.iter().map(|partition| {
        OffsetDeleteResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(ErrorCode::TOPIC_AUTHORIZATION_FAILED.get())
    });
    OffsetDeleteResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}
