//! How long a broker asks a connection to pause (KIP-219): each response's own field.

use millstream_protocol::messages as m;
use std::time::Duration;

/// A response that may ask for a pause.
pub(crate) trait Throttled {
    /// How long nothing should be sent on the connection.
    fn throttle_time(&self) -> Duration;
}

macro_rules! throttled {
    ($($response:ident),* $(,)?) => {$(
        impl Throttled for m::$response {
            fn throttle_time(&self) -> Duration {
                Duration::from_millis(u64::try_from(self.throttle_time_ms).unwrap_or(0))
            }
        }
    )*};
}
macro_rules! never_throttled {
    ($($response:ident),* $(,)?) => {$(
        impl Throttled for m::$response {
            fn throttle_time(&self) -> Duration {
                Duration::ZERO
            }
        }
    )*};
}
throttled!(
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    AlterConfigsResponse,
    AlterPartitionReassignmentsResponse,
    ApiVersionsResponse,
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteGroupsResponse,
    DeleteRecordsResponse,
    DeleteTopicsResponse,
    DescribeClusterResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    DescribeProducersResponse,
    DescribeTransactionsResponse,
    EndTxnResponse,
    FetchResponse,
    FindCoordinatorResponse,
    HeartbeatResponse,
    IncrementalAlterConfigsResponse,
    InitProducerIdResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    ListGroupsResponse,
    ListOffsetsResponse,
    ListTransactionsResponse,
    MetadataResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    OffsetForLeaderEpochResponse,
    ProduceResponse,
    SyncGroupResponse,
    TxnOffsetCommitResponse,
);
never_throttled!(WriteTxnMarkersResponse);
