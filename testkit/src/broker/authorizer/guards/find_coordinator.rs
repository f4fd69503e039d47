//! FindCoordinator: each key by its kind.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{FindCoordinatorRequest, StrBytes};

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;
const BATCHED_SINCE: i16 = 4;
/// From this version on there are share groups' keys.
const SHARES_SINCE: i16 = 6;

impl Guard for FindCoordinatorRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::Group, Operation::Describe),
        (ResourceType::TransactionalId, Operation::Describe),
        (ResourceType::Cluster, Operation::ClusterAction),
    ];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let kind = self.key_type;
        let (may, code): (fn(&Rights<'_>, &str) -> bool, ErrorCode) = match kind {
            GROUP => (|rights, key| rights.may_group(Operation::Describe, key), ErrorCode::GROUP_AUTHORIZATION_FAILED),
            TRANSACTION => (
                |rights, key| rights.may_transactional_id(Operation::Describe, key),
                ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            ),
            SHARE if rights.version() >= SHARES_SINCE => {
                (|rights, _| rights.may_cluster(Operation::ClusterAction), ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
            }
            // There is no such kind, or none in this version, whoever asks.
            _ => return Verdict::GRANTED,
        };
        if rights.version() < BATCHED_SINCE {
            return Verdict::granted_if(may(rights, &self.key), code);
        }
        let denied = split(&mut self.coordinator_keys, |key| may(rights, key));
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let mut refused = refuse(&self.clone().with_coordinator_keys(denied), code);
        if kind != SHARE {
            refused.coordinators.iter_mut().for_each(|key| key.error_message = Some(StrBytes::new()));
        }
        joined(vec![refused], |answer, refused| answer.coordinators.extend(refused.coordinators))
    }
}
