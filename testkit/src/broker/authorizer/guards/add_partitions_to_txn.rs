//! AddPartitionsToTxn: from clients, writes under the transactional id and to each topic, all or nothing; in batches (version 4 on) it is
//! the brokers' own.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::AddPartitionsToTxnRequest;
use std::collections::BTreeSet;

const BATCHED_SINCE: i16 = 4;

impl Guard for AddPartitionsToTxnRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::TransactionalId, Operation::Write),
        (ResourceType::Topic, Operation::Write),
        (ResourceType::Cluster, Operation::ClusterAction),
    ];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.version() >= BATCHED_SINCE {
            let may = rights.may_cluster(Operation::ClusterAction);
            return Verdict::granted_if(may, ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
        }
        if !rights.may_transactional_id(Operation::Write, &self.v3_and_below_transactional_id.0) {
            return Verdict::Denied(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        }
        let may = |name: &str| rights.may_topic(Operation::Write, name);
        if self.v3_and_below_topics.iter().all(|topic| may(&topic.name.0)) {
            return Verdict::GRANTED;
        }
        let mut answer = refuse(self, ErrorCode::OPERATION_NOT_ATTEMPTED);
        for topic in answer.results_by_topic_v3_and_below.iter_mut().filter(|topic| !may(&topic.name.0)) {
            for partition in &mut topic.results_by_partition {
                partition.partition_error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED.get();
            }
        }
        // Each partition is answered for once.
        for topic in &mut answer.results_by_topic_v3_and_below {
            let mut seen = BTreeSet::new();
            topic.results_by_partition.retain(|partition| seen.insert(partition.partition_index));
        }
        Verdict::Answered(answer)
    }
}
