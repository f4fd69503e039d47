//! Requests for one thing, and requests for a list of topics or groups.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_user_scram_credentials_response::DescribeUserScramCredentialsResult;
use millstream_protocol::messages::{
    AddRaftVoterRequest, AlterClientQuotasRequest, AlterPartitionReassignmentsRequest, AlterReplicaLogDirsRequest,
    AlterUserScramCredentialsRequest, ApiVersionsRequest, DeleteGroupsRequest, DeleteRecordsRequest,
    DescribeClientQuotasRequest, DescribeLogDirsRequest, DescribeProducersRequest, DescribeQuorumRequest,
    DescribeUserScramCredentialsRequest, ElectLeadersRequest, EndTxnRequest, GetTelemetrySubscriptionsRequest,
    HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, ListConfigResourcesRequest, ListOffsetsRequest,
    ListPartitionReassignmentsRequest, PushTelemetryRequest, RemoveRaftVoterRequest, SaslAuthenticateRequest,
    SaslHandshakeRequest, SyncGroupRequest, UnregisterBrokerRequest, UpdateFeaturesRequest,
};

/// From this version on SyncGroup says which protocol it means (KIP-559).
const PROTOCOL_SINCE: i16 = 5;

/// Needs nothing.
macro_rules! open {
    ($($request:ident)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[];
            fn screen(&mut self, _: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
                Verdict::GRANTED
            }
        }
    )*};
}
/// Needs an operation on the cluster.
macro_rules! cluster {
    ($($request:ident $operation:ident;)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::$operation)];
            fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
                let may = rights.may_cluster(Operation::$operation);
                Verdict::granted_if(may, ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
            }
        }
    )*};
}
/// Needs to read its group.
macro_rules! group {
    ($($request:ident)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Read)];
            fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
                let may = rights.may_group(Operation::Read, &self.group_id.0);
                Verdict::granted_if(may, ErrorCode::GROUP_AUTHORIZATION_FAILED)
            }
        }
    )*};
}
/// Needs an operation on each of a list of topics; what is refused joins the answer's list.
macro_rules! topics {
    ($($request:ident $list:ident $with:ident $name:ident $operation:ident $answers:ident;)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[(ResourceType::Topic, Operation::$operation)];
            fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
                let denied = split(&mut self.$list, |topic| rights.may_topic(Operation::$operation, &topic.$name.0));
                if denied.is_empty() {
                    return Verdict::GRANTED;
                }
                let refused = refuse(&self.clone().$with(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
                joined(vec![refused], |answer, refused| answer.$answers.extend(refused.$answers))
            }
        }
    )*};
}

open! {
    ApiVersionsRequest SaslHandshakeRequest SaslAuthenticateRequest GetTelemetrySubscriptionsRequest PushTelemetryRequest
}
cluster! {
    AlterReplicaLogDirsRequest Alter;
    DescribeLogDirsRequest Describe;
    ElectLeadersRequest Alter;
    AlterPartitionReassignmentsRequest Alter;
    ListPartitionReassignmentsRequest Describe;
    AlterClientQuotasRequest AlterConfigs;
    AlterUserScramCredentialsRequest Alter;
    DescribeQuorumRequest Describe;
    UpdateFeaturesRequest Alter;
    UnregisterBrokerRequest Alter;
    AddRaftVoterRequest Alter;
    RemoveRaftVoterRequest Alter;
    ListConfigResourcesRequest DescribeConfigs;
}
group! { HeartbeatRequest JoinGroupRequest LeaveGroupRequest }
topics! {
    ListOffsetsRequest topics with_topics name Describe topics;
    DeleteRecordsRequest topics with_topics name Delete topics;
    DescribeProducersRequest topics with_topics name Read topics;
}

impl Guard for SyncGroupRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Read)];
    // Whoever does not say which protocol it means is told so first.
    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let names_protocol = self.protocol_type.is_some() && self.protocol_name.is_some();
        if rights.version() >= PROTOCOL_SINCE && !names_protocol {
            return Verdict::Denied(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        let may = rights.may_group(Operation::Read, &self.group_id.0);
        Verdict::granted_if(may, ErrorCode::GROUP_AUTHORIZATION_FAILED)
    }
}
impl Guard for DescribeClientQuotasRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::DescribeConfigs)];
    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.may_cluster(Operation::DescribeConfigs) {
            return Verdict::GRANTED;
        }
        // No more is told than the code.
        Verdict::Answered(refuse(self, ErrorCode::CLUSTER_AUTHORIZATION_FAILED).with_error_message(None))
    }
}
impl Guard for DescribeUserScramCredentialsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Cluster, Operation::Describe)];
    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
        if rights.may_cluster(Operation::Describe) {
            return Verdict::GRANTED;
        }
        // Kafka refuses as many users without names as were asked for.
        let asked = self.users.as_ref().map_or(0, Vec::len);
        let nobody = DescribeUserScramCredentialsResult::default().with_error_code(code.get()).with_error_message(None);
        Verdict::Answered(refuse(self, code).with_error_message(None).with_results(vec![nobody; asked]))
    }
}
impl Guard for EndTxnRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::TransactionalId, Operation::Write)];
    fn screen(&mut self, rights: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        let may = rights.may_transactional_id(Operation::Write, &self.transactional_id.0);
        Verdict::granted_if(may, ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    }
}
impl Guard for DeleteGroupsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Delete)];
    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let denied = split(&mut self.groups_names, |group| rights.may_group(Operation::Delete, &group.0));
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(&self.clone().with_groups_names(denied), ErrorCode::GROUP_AUTHORIZATION_FAILED);
        joined(vec![refused], |answer, refused| answer.results.extend(refused.results))
    }
}
