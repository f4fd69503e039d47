//! One file per API, whose head says which versions it serves and what of it is left out. Left out of all: throttle times, which are zero.

mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod add_raft_voter;
mod alter_client_quotas;
mod alter_configs;
mod alter_partition_reassignments;
mod alter_replica_log_dirs;
mod alter_user_scram_credentials;
mod altering;
mod api_versions;
mod committed;
mod consumer_group_describe;
mod consumer_group_heartbeat;
mod create_acls;
mod create_partitions;
mod create_topics;
mod delete_acls;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_acls;
mod describe_client_quotas;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_quorum;
mod describe_topic_partitions;
mod describe_transactions;
mod describe_user_scram_credentials;
mod elect_leaders;
mod end_txn;
mod fetch;
mod find_coordinator;
mod get_telemetry_subscriptions;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_config_resources;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod list_transactions;
mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod push_telemetry;
mod remove_raft_voter;
mod sasl_authenticate;
mod sasl_handshake;
mod sync_group;
mod told;
mod txn_offset_commit;
mod unregister_broker;
mod update_features;
mod write_txn_markers;

pub(super) use describe_topic_partitions::page_refusal;

#[cfg(test)]
use super::authorizer::Need;
use super::authorizer::{Guard, Rights, Verdict};
use super::bounds::Comer;
use super::call::{Answer, Call, Closing, Outcome};
use super::faults::Judged;
use super::{Broker, encode, unwritten};
use bytes::Bytes;
use millstream_protocol::api::{self, VersionRange};
use millstream_protocol::frame::{self, Decoder, Frame, Limits};
use millstream_protocol::messages::Request;
use millstream_protocol::{ApiKey, ErrorCode};
use std::collections::BTreeMap;

/// Reads requests. What a request takes in memory it takes while it is served, one at a time in a cluster: so that the few bytes of many
/// short names, which Kafka serves, may take more than what the limits for answers let them.
const fn reader(most_things: usize) -> Decoder {
    let mut limits = Limits::DEFAULT;
    limits.memory_base_bytes = 16 << 20;
    limits.elements = most_things;
    Decoder::new(limits)
}

/// How large a request may be that consists of many things, each of which its answer tells of: a number of four bytes has an answer of dozens,
/// and takes hundreds in memory meanwhile. All partitions that there may be are asked for by a tenth of it.
const MOST_OF_MANY: usize = 16 << 20;

/// How many things a request may name of which each takes its time, while nobody else is answered: twice as many as there may be partitions, as
/// each may stand with its topic. A million groups took ten seconds.
const MOST_COSTLY_THINGS: usize = 200_000;

/// How the broker serves one API.
pub(super) trait Handler {
    type Request: Guard;
    /// How many bytes a request may have; what has records or other bytes of its client's in it may have as many as a frame.
    const MOST_BYTES: usize = MOST_OF_MANY;
    /// How many texts and things with parts it may name.
    const MOST_THINGS: usize = Limits::DEFAULT.elements;
    /// Does what is asked.
    fn handle(broker: &mut Broker, call: &Call, request: Self::Request)
    -> Answer<<Self::Request as Request>::Response>;
    /// The answer to a request of which nothing is done, with a code wherever the API has one.
    fn refuse(request: &Self::Request, code: ErrorCode) -> <Self::Request as Request>::Response;
    /// What a request that makes the cluster remember something is refused with when that remembers as much as it may; none where it
    /// remembers no more than before.
    fn when_full(_broker: &Broker, _request: &Self::Request) -> Option<ErrorCode> {
        None
    }
    /// Who wants that to be remembered.
    fn comer(_broker: &Broker, _request: &Self::Request) -> Comer {
        Comer::New
    }
    /// Takes out of a refusal what a version has no place for.
    fn fit(_: &mut <Self::Request as Request>::Response, _version: i16) {}
}

macro_rules! served {
    ($($handler:path;)*) => {
        const SERVED: &[ApiKey] = &[$(<<$handler as Handler>::Request as Request>::KEY,)*];

        /// What each API may need.
        #[cfg(test)]
        const NEEDS: &[(ApiKey, &[Need])] =
            &[$((<<$handler as Handler>::Request as Request>::KEY, <<$handler as Handler>::Request as Guard>::NEEDS),)*];

        fn route(broker: &mut Broker, api: ApiKey, call: &Call, body: Bytes) -> Option<Outcome> {
            $(if api == <<$handler as Handler>::Request as Request>::KEY {
                return serve::<$handler>(broker, call, body);
            })*
            Some(Outcome::Close(not_served(broker, api, call.version)))
        }

        /// The answer that refuses a request, whatever it asks for; none when it cannot be read.
        pub(super) fn refusal(api: ApiKey, call: &Call, body: Bytes, code: ErrorCode) -> Option<Frame> {
            $(if api == <<$handler as Handler>::Request as Request>::KEY {
                return refuse::<$handler>(call, body, code);
            })*
            None
        }
    };
}
served! {
    produce::Produce;
    fetch::Fetch;
    metadata::Metadata;
    list_offsets::ListOffsets;
    heartbeat::Heartbeat;
    offset_commit::OffsetCommit;
    offset_fetch::OffsetFetch;
    find_coordinator::FindCoordinator;
    join_group::JoinGroup;
    sync_group::SyncGroup;
    leave_group::LeaveGroup;
    describe_groups::DescribeGroups;
    list_groups::ListGroups;
    sasl_handshake::SaslHandshake;
    api_versions::ApiVersions;
    create_topics::CreateTopics;
    delete_topics::DeleteTopics;
    delete_records::DeleteRecords;
    init_producer_id::InitProducerId;
    offset_for_leader_epoch::OffsetForLeaderEpoch;
    add_partitions_to_txn::AddPartitionsToTxn;
    add_offsets_to_txn::AddOffsetsToTxn;
    end_txn::EndTxn;
    write_txn_markers::WriteTxnMarkers;
    txn_offset_commit::TxnOffsetCommit;
    describe_acls::DescribeAcls;
    create_acls::CreateAcls;
    delete_acls::DeleteAcls;
    describe_configs::DescribeConfigs;
    alter_configs::AlterConfigs;
    incremental_alter_configs::IncrementalAlterConfigs;
    describe_log_dirs::DescribeLogDirs;
    sasl_authenticate::SaslAuthenticate;
    create_partitions::CreatePartitions;
    delete_groups::DeleteGroups;
    offset_delete::OffsetDelete;
    describe_user_scram_credentials::DescribeUserScramCredentials;
    alter_user_scram_credentials::AlterUserScramCredentials;
    elect_leaders::ElectLeaders;
    alter_partition_reassignments::AlterPartitionReassignments;
    list_partition_reassignments::ListPartitionReassignments;
    describe_cluster::DescribeCluster;
    describe_producers::DescribeProducers;
    describe_transactions::DescribeTransactions;
    list_transactions::ListTransactions;
    consumer_group_heartbeat::ConsumerGroupHeartbeat;
    consumer_group_describe::ConsumerGroupDescribe;
    update_features::UpdateFeatures;
    describe_quorum::DescribeQuorum;
    unregister_broker::UnregisterBroker;
    alter_replica_log_dirs::AlterReplicaLogDirs;
    describe_client_quotas::DescribeClientQuotas;
    alter_client_quotas::AlterClientQuotas;
    get_telemetry_subscriptions::GetTelemetrySubscriptions;
    push_telemetry::PushTelemetry;
    list_config_resources::ListConfigResources;
    describe_topic_partitions::DescribeTopicPartitions;
    add_raft_voter::AddRaftVoter;
    remove_raft_voter::RemoveRaftVoter;
}

/// The versions of an API that this broker serves.
pub(super) fn versions(broker: &Broker, api: ApiKey) -> Option<VersionRange> {
    broker.versions.spoken(api, served(api)?)
}
/// The versions for which there is a handler.
pub(crate) fn served(api: ApiKey) -> Option<VersionRange> {
    SERVED.contains(&api).then(|| api::stable(api)).flatten()
}
/// All APIs that this broker serves.
pub(crate) fn all_versions(broker: &Broker) -> impl Iterator<Item = (ApiKey, VersionRange)> {
    let mut served = SERVED.to_vec();
    served.sort_unstable();
    served.into_iter().filter_map(|api| Some((api, versions(broker, api)?)))
}

/// Serves a request. What Kafka does not understand ends the connection: an API, a version, a body.
pub(super) fn dispatch(broker: &mut Broker, api: ApiKey, call: &Call, body: Bytes) -> Option<Outcome> {
    let is_served = versions(broker, api).is_some_and(|range| range.contains(call.version));
    match (is_served, api) {
        (true, _) => route(broker, api, call, body),
        (false, ApiKey::API_VERSIONS) => Some(api_versions::refuse_version(broker, call)),
        (false, _) => Some(Outcome::Close(not_served(broker, api, call.version))),
    }
}
fn not_served(broker: &Broker, api: ApiKey, version: i16) -> Closing {
    if let Some(reason) = broker.versions.lost(api, version, served(api)) {
        return Closing::failed(reason);
    }
    Closing::refused(match versions(broker, api) {
        Some(range) => format!("of {api} these brokers speak the versions {} to {}", range.min(), range.max()),
        None => format!("these brokers do not serve {api}"),
    })
}

fn serve<H: Handler>(broker: &mut Broker, call: &Call, body: Bytes) -> Option<Outcome> {
    let kept = body.clone();
    let mut request = match read::<H>(call, body) {
        Ok(request) => request,
        Err(reason) => return Some(Outcome::Close(Closing::refused(reason))),
    };
    match broker.judge(H::Request::KEY, call, &kept, &request) {
        Judged::Serve => {}
        Judged::Refuse(code) => {
            let mut response = H::refuse(&request, code);
            H::fit(&mut response, call.version);
            return Some(encode::<H::Request>(call, &response));
        }
        Judged::Done(outcome) => return outcome,
    }
    if broker.settings.security.has_authorizer
        && let Err(mut response) = screen::<H>(broker, call, &mut request)
    {
        H::fit(&mut response, call.version);
        return Some(encode::<H::Request>(call, &response));
    }
    if let Some(code) = H::when_full(broker, &request)
        && !broker.has_state_room(H::Request::KEY, call, kept.len(), H::comer(broker, &request))
    {
        let mut response = H::refuse(&request, code);
        H::fit(&mut response, call.version);
        return Some(encode::<H::Request>(call, &response));
    }
    match H::handle(broker, call, request) {
        Answer::Reply(mut response) => {
            broker.patch::<H::Request>(call, &mut response);
            Some(encode_or_fail::<H>(call, kept, &response))
        }
        Answer::Later => None,
        // Nobody listens, so that a refusal can only be told by hanging up.
        Answer::Silence if broker.patches.has(call.connection) => {
            Some(Outcome::Close(produce::unheard(ErrorCode::TOPIC_AUTHORIZATION_FAILED)))
        }
        Answer::Silence => Some(Outcome::Silence),
        Answer::Close(closing) => Some(Outcome::Close(closing)),
    }
}

/// Writes an answer. One that quotes so much of its request that no client could read it is told as Kafka tells what it stumbled over.
fn encode_or_fail<H: Handler>(call: &Call, body: Bytes, response: &<H::Request as Request>::Response) -> Outcome {
    match frame::encode_response::<H::Request>(call.version, call.correlation_id, response) {
        Ok(frame) => Outcome::Frame(frame),
        Err(error) => {
            let (api, client) = (H::Request::KEY, &call.client_id);
            tracing::error!(
                "the answer to {api} of client `{client}` cannot be written, and is UNKNOWN_SERVER_ERROR instead: {error}; ask for less at once"
            );
            match refuse::<H>(call, body, ErrorCode::UNKNOWN_SERVER_ERROR) {
                Some(frame) => Outcome::Frame(frame),
                None => Outcome::Close(unwritten(&error)),
            }
        }
    }
}
fn read<H: Handler>(call: &Call, body: Bytes) -> Result<H::Request, String> {
    let (api, bytes, most) = (H::Request::KEY, body.len(), H::MOST_BYTES);
    if bytes > most {
        return Err(format!(
            "a request of {api} has {most} bytes at most, and this one has {bytes}: ask for less at once"
        ));
    }
    reader(H::MOST_THINGS).request::<H::Request>(call.version, body).map_err(|error| error.to_string())
}

/// Takes out of a request what its sender may not do, and remembers what its answer has to say of that; the answer when nothing is left.
fn screen<H: Handler>(
    broker: &mut Broker,
    call: &Call,
    request: &mut H::Request,
) -> Result<(), <H::Request as Request>::Response> {
    let patch = match request.screen(&Rights::new(broker, call, H::Request::NEEDS), H::refuse) {
        Verdict::Granted(patch) => patch,
        Verdict::Denied(code) => return Err(H::refuse(request, code)),
        Verdict::Answered(response) => return Err(response),
    };
    broker.patches.put(call.connection, patch);
    Ok(())
}

fn refuse<H: Handler>(call: &Call, body: Bytes, code: ErrorCode) -> Option<Frame> {
    let request = read::<H>(call, body).ok()?;
    let mut response = H::refuse(&request, code);
    H::fit(&mut response, call.version);
    frame::encode_response::<H::Request>(call.version, call.correlation_id, &response).ok()
}

/// What is asked for, each key once at its first place, with how often it comes: what comes twice is answered once.
fn counted_by<'r, T, K: Ord + 'r>(asked: &'r [T], key: impl Fn(&'r T) -> &'r K) -> Vec<(&'r T, usize)> {
    let mut counts: BTreeMap<&K, usize> = BTreeMap::new();
    asked.iter().for_each(|each| *counts.entry(key(each)).or_default() += 1);
    asked.iter().filter_map(|each| Some((each, counts.remove(key(each))?))).collect()
}

/// The code of a result.
fn code_of(result: Result<(), ErrorCode>) -> i16 {
    result.err().unwrap_or(ErrorCode::NONE).get()
}

#[cfg(test)]
mod tests;
