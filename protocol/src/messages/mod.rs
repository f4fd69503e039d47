//! Requests and responses, by their names in Kafka's schemas.
//!
//! Most types are `kafka-protocol`'s, which agree with Kafka byte for byte. This crate's own are Produce and Fetch, which
//! carry records, and those that `kafka-protocol` lacks or of which it lacks a version. Their decoders are reached through
//! [`frame`](crate::frame) only, behind the guard. Other packages name these types inside, never in a public signature.

pub mod fetch_request;
pub mod fetch_response;
pub(crate) mod field;
mod foreign;
#[rustfmt::skip]
mod generated;
mod kind;
pub mod produce_request;
pub mod produce_response;
mod record_data;

pub use kafka_protocol::messages::*;
pub use kafka_protocol::protocol::StrBytes;
pub use kind::{AnyMessage, RequestKind, ResponseKind};
pub use uuid::Uuid;

// Ours, in place of `kafka-protocol`'s of the same name.
pub use crate::ApiKey;
pub use fetch_request::FetchRequest;
pub use fetch_response::FetchResponse;
pub use field::TaggedFields;
pub use generated::add_raft_voter_request::{self, AddRaftVoterRequest};
pub use generated::add_raft_voter_response::{self, AddRaftVoterResponse};
pub use generated::api_versions_request::{self, ApiVersionsRequest};
pub use generated::api_versions_response::{self, ApiVersionsResponse};
pub use generated::broker_heartbeat_request::{self, BrokerHeartbeatRequest};
pub use generated::broker_heartbeat_response::{self, BrokerHeartbeatResponse};
pub use generated::delete_groups_request::{self, DeleteGroupsRequest};
pub use generated::delete_groups_response::{self, DeleteGroupsResponse};
pub use generated::describe_log_dirs_request::{self, DescribeLogDirsRequest};
pub use generated::describe_log_dirs_response::{self, DescribeLogDirsResponse};
pub use generated::describe_share_group_offsets_request::{self, DescribeShareGroupOffsetsRequest};
pub use generated::describe_share_group_offsets_response::{self, DescribeShareGroupOffsetsResponse};
pub use generated::init_producer_id_request::{self, InitProducerIdRequest};
pub use generated::init_producer_id_response::{self, InitProducerIdResponse};
pub use generated::list_offsets_request::{self, ListOffsetsRequest};
pub use generated::list_offsets_response::{self, ListOffsetsResponse};
pub use generated::offset_commit_request::{self, OffsetCommitRequest};
pub use generated::offset_commit_response::{self, OffsetCommitResponse};
pub use generated::offset_fetch_request::{self, OffsetFetchRequest};
pub use generated::offset_fetch_response::{self, OffsetFetchResponse};
pub use generated::read_share_group_state_summary_request::{self, ReadShareGroupStateSummaryRequest};
pub use generated::read_share_group_state_summary_response::{self, ReadShareGroupStateSummaryResponse};
pub use generated::share_acknowledge_request::{self, ShareAcknowledgeRequest};
pub use generated::share_acknowledge_response::{self, ShareAcknowledgeResponse};
pub use generated::share_fetch_request::{self, ShareFetchRequest};
pub use generated::share_fetch_response::{self, ShareFetchResponse};
pub use generated::streams_group_describe_request::{self, StreamsGroupDescribeRequest};
pub use generated::streams_group_describe_response::{self, StreamsGroupDescribeResponse};
pub use generated::streams_group_heartbeat_request::{self, StreamsGroupHeartbeatRequest};
pub use generated::streams_group_heartbeat_response::{self, StreamsGroupHeartbeatResponse};
pub use generated::streams_group_topology_description_update_request::{
    self, StreamsGroupTopologyDescriptionUpdateRequest,
};
pub use generated::streams_group_topology_description_update_response::{
    self, StreamsGroupTopologyDescriptionUpdateResponse,
};
pub use generated::txn_offset_commit_request::{self, TxnOffsetCommitRequest};
pub use generated::txn_offset_commit_response::{self, TxnOffsetCommitResponse};
pub use generated::unregister_controller_request::{self, UnregisterControllerRequest};
pub use generated::unregister_controller_response::{self, UnregisterControllerResponse};
pub use generated::write_share_group_state_request::{self, WriteShareGroupStateRequest};
pub use generated::write_share_group_state_response::{self, WriteShareGroupStateResponse};
pub use generated::write_txn_markers_request::{self, WriteTxnMarkersRequest};
pub use generated::write_txn_markers_response::{self, WriteTxnMarkersResponse};
pub use produce_request::ProduceRequest;
pub use produce_response::ProduceResponse;
pub use record_data::RecordData;

use crate::api::for_each_api;
use crate::codec::{RequestBody, ResponseBody};
use foreign::{foreign, own};

/// A request or a response.
pub trait Message: Clone + std::fmt::Debug + Default + PartialEq + Send + Sync + 'static {}

/// A request, and what answers it.
pub trait Request: Message + RequestBody + Into<RequestKind> {
    /// The API.
    const KEY: ApiKey;
    /// What a broker answers with.
    type Response: Message + ResponseBody + Into<ResponseKind>;
}

macro_rules! bodies {
    (foreign $key:ident $request:ident $response:ident $min:literal $max:literal) => {
        foreign!($key $request $response);
    };
    // Their bodies are written beside the types.
    (own $key:ident $request:ident $response:ident $min:literal $max:literal) => {
        own!($key $request $response $min $max);
    };
}
macro_rules! requests {
    ($($name:ident $key:ident $request:ident $response:ident $min:literal $stable:literal $max:literal $flexible:tt $whose:ident;)*) => {
        $(
            impl Message for $request {}
            impl Message for $response {}
            impl Request for $request {
                const KEY: ApiKey = ApiKey::$key;
                type Response = $response;
            }
        )*
        $(bodies!($whose $key $request $response $min $max);)*
    };
}
for_each_api!(requests);
