//! The APIs whose messages this crate encodes and decodes, with the versions at which it does both directions.
//!
//! One row: message name, key, request type, response type, lowest version, highest version, first flexible version
//! (`NEVER` without one), and whose types they are: `kafka-protocol`'s (`foreign`) or this crate's (`own`). The ranges
//! are what both Kafka 4.4 and the decoders have; `kafka-protocol`'s own `valid_versions` is not asked, since it names
//! request versions that its decoders then refuse.

/// A first flexible version for APIs that have none.
pub(crate) const NEVER: i16 = i16::MAX;

/// Calls the macro `$then` with all rows.
macro_rules! for_each_api {
    ($then:ident) => {
        $then! {
            Produce PRODUCE ProduceRequest ProduceResponse 3 13 9 own;
            Fetch FETCH FetchRequest FetchResponse 4 18 12 own;
            ListOffsets LIST_OFFSETS ListOffsetsRequest ListOffsetsResponse 1 10 6 foreign;
            Metadata METADATA MetadataRequest MetadataResponse 0 13 9 foreign;
            OffsetCommit OFFSET_COMMIT OffsetCommitRequest OffsetCommitResponse 2 9 8 foreign;
            OffsetFetch OFFSET_FETCH OffsetFetchRequest OffsetFetchResponse 1 9 6 foreign;
            FindCoordinator FIND_COORDINATOR FindCoordinatorRequest FindCoordinatorResponse 0 6 3 foreign;
            JoinGroup JOIN_GROUP JoinGroupRequest JoinGroupResponse 0 9 6 foreign;
            Heartbeat HEARTBEAT HeartbeatRequest HeartbeatResponse 0 4 4 foreign;
            LeaveGroup LEAVE_GROUP LeaveGroupRequest LeaveGroupResponse 0 5 4 foreign;
            SyncGroup SYNC_GROUP SyncGroupRequest SyncGroupResponse 0 5 4 foreign;
            DescribeGroups DESCRIBE_GROUPS DescribeGroupsRequest DescribeGroupsResponse 0 6 5 foreign;
            ListGroups LIST_GROUPS ListGroupsRequest ListGroupsResponse 0 5 3 foreign;
            SaslHandshake SASL_HANDSHAKE SaslHandshakeRequest SaslHandshakeResponse 0 1 NEVER foreign;
            ApiVersions API_VERSIONS ApiVersionsRequest ApiVersionsResponse 0 4 3 foreign;
            CreateTopics CREATE_TOPICS CreateTopicsRequest CreateTopicsResponse 2 7 5 foreign;
            DeleteTopics DELETE_TOPICS DeleteTopicsRequest DeleteTopicsResponse 1 6 4 foreign;
            DeleteRecords DELETE_RECORDS DeleteRecordsRequest DeleteRecordsResponse 0 2 2 foreign;
            InitProducerId INIT_PRODUCER_ID InitProducerIdRequest InitProducerIdResponse 0 5 2 foreign;
            OffsetForLeaderEpoch OFFSET_FOR_LEADER_EPOCH OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse 2 4 4 foreign;
            AddPartitionsToTxn ADD_PARTITIONS_TO_TXN AddPartitionsToTxnRequest AddPartitionsToTxnResponse 0 5 3 foreign;
            AddOffsetsToTxn ADD_OFFSETS_TO_TXN AddOffsetsToTxnRequest AddOffsetsToTxnResponse 0 4 3 foreign;
            EndTxn END_TXN EndTxnRequest EndTxnResponse 0 5 3 foreign;
            WriteTxnMarkers WRITE_TXN_MARKERS WriteTxnMarkersRequest WriteTxnMarkersResponse 1 1 1 foreign;
            TxnOffsetCommit TXN_OFFSET_COMMIT TxnOffsetCommitRequest TxnOffsetCommitResponse 0 5 3 foreign;
            DescribeAcls DESCRIBE_ACLS DescribeAclsRequest DescribeAclsResponse 1 3 2 foreign;
            CreateAcls CREATE_ACLS CreateAclsRequest CreateAclsResponse 1 3 2 foreign;
            DeleteAcls DELETE_ACLS DeleteAclsRequest DeleteAclsResponse 1 3 2 foreign;
            DescribeConfigs DESCRIBE_CONFIGS DescribeConfigsRequest DescribeConfigsResponse 1 4 4 foreign;
            AlterConfigs ALTER_CONFIGS AlterConfigsRequest AlterConfigsResponse 0 2 2 foreign;
            AlterReplicaLogDirs ALTER_REPLICA_LOG_DIRS AlterReplicaLogDirsRequest AlterReplicaLogDirsResponse 1 2 2 foreign;
            DescribeLogDirs DESCRIBE_LOG_DIRS DescribeLogDirsRequest DescribeLogDirsResponse 1 4 2 foreign;
            SaslAuthenticate SASL_AUTHENTICATE SaslAuthenticateRequest SaslAuthenticateResponse 0 2 2 foreign;
            CreatePartitions CREATE_PARTITIONS CreatePartitionsRequest CreatePartitionsResponse 0 3 2 foreign;
            CreateDelegationToken CREATE_DELEGATION_TOKEN CreateDelegationTokenRequest CreateDelegationTokenResponse 1 3 2 foreign;
            RenewDelegationToken RENEW_DELEGATION_TOKEN RenewDelegationTokenRequest RenewDelegationTokenResponse 1 2 2 foreign;
            ExpireDelegationToken EXPIRE_DELEGATION_TOKEN ExpireDelegationTokenRequest ExpireDelegationTokenResponse 1 2 2 foreign;
            DescribeDelegationToken DESCRIBE_DELEGATION_TOKEN DescribeDelegationTokenRequest DescribeDelegationTokenResponse 1 3 2 foreign;
            DeleteGroups DELETE_GROUPS DeleteGroupsRequest DeleteGroupsResponse 0 2 2 foreign;
            ElectLeaders ELECT_LEADERS ElectLeadersRequest ElectLeadersResponse 0 2 2 foreign;
            IncrementalAlterConfigs INCREMENTAL_ALTER_CONFIGS IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse 0 1 1 foreign;
            AlterPartitionReassignments ALTER_PARTITION_REASSIGNMENTS AlterPartitionReassignmentsRequest AlterPartitionReassignmentsResponse 0 1 0 foreign;
            ListPartitionReassignments LIST_PARTITION_REASSIGNMENTS ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse 0 0 0 foreign;
            OffsetDelete OFFSET_DELETE OffsetDeleteRequest OffsetDeleteResponse 0 0 NEVER foreign;
            DescribeClientQuotas DESCRIBE_CLIENT_QUOTAS DescribeClientQuotasRequest DescribeClientQuotasResponse 0 1 1 foreign;
            AlterClientQuotas ALTER_CLIENT_QUOTAS AlterClientQuotasRequest AlterClientQuotasResponse 0 1 1 foreign;
            DescribeUserScramCredentials DESCRIBE_USER_SCRAM_CREDENTIALS DescribeUserScramCredentialsRequest DescribeUserScramCredentialsResponse 0 0 0 foreign;
            AlterUserScramCredentials ALTER_USER_SCRAM_CREDENTIALS AlterUserScramCredentialsRequest AlterUserScramCredentialsResponse 0 0 0 foreign;
            Vote VOTE VoteRequest VoteResponse 0 2 0 foreign;
            BeginQuorumEpoch BEGIN_QUORUM_EPOCH BeginQuorumEpochRequest BeginQuorumEpochResponse 0 1 1 foreign;
            EndQuorumEpoch END_QUORUM_EPOCH EndQuorumEpochRequest EndQuorumEpochResponse 0 1 1 foreign;
            DescribeQuorum DESCRIBE_QUORUM DescribeQuorumRequest DescribeQuorumResponse 0 2 0 foreign;
            AlterPartition ALTER_PARTITION AlterPartitionRequest AlterPartitionResponse 2 3 2 foreign;
            UpdateFeatures UPDATE_FEATURES UpdateFeaturesRequest UpdateFeaturesResponse 0 2 0 foreign;
            Envelope ENVELOPE EnvelopeRequest EnvelopeResponse 0 0 0 foreign;
            FetchSnapshot FETCH_SNAPSHOT FetchSnapshotRequest FetchSnapshotResponse 0 1 0 foreign;
            DescribeCluster DESCRIBE_CLUSTER DescribeClusterRequest DescribeClusterResponse 0 2 0 foreign;
            DescribeProducers DESCRIBE_PRODUCERS DescribeProducersRequest DescribeProducersResponse 0 0 0 foreign;
            BrokerRegistration BROKER_REGISTRATION BrokerRegistrationRequest BrokerRegistrationResponse 0 4 0 foreign;
            BrokerHeartbeat BROKER_HEARTBEAT BrokerHeartbeatRequest BrokerHeartbeatResponse 0 1 0 foreign;
            UnregisterBroker UNREGISTER_BROKER UnregisterBrokerRequest UnregisterBrokerResponse 0 0 0 foreign;
            DescribeTransactions DESCRIBE_TRANSACTIONS DescribeTransactionsRequest DescribeTransactionsResponse 0 0 0 foreign;
            ListTransactions LIST_TRANSACTIONS ListTransactionsRequest ListTransactionsResponse 0 2 0 foreign;
            AllocateProducerIds ALLOCATE_PRODUCER_IDS AllocateProducerIdsRequest AllocateProducerIdsResponse 0 0 0 foreign;
            ConsumerGroupHeartbeat CONSUMER_GROUP_HEARTBEAT ConsumerGroupHeartbeatRequest ConsumerGroupHeartbeatResponse 0 1 0 foreign;
            ConsumerGroupDescribe CONSUMER_GROUP_DESCRIBE ConsumerGroupDescribeRequest ConsumerGroupDescribeResponse 0 1 0 foreign;
            ControllerRegistration CONTROLLER_REGISTRATION ControllerRegistrationRequest ControllerRegistrationResponse 0 0 0 foreign;
            GetTelemetrySubscriptions GET_TELEMETRY_SUBSCRIPTIONS GetTelemetrySubscriptionsRequest GetTelemetrySubscriptionsResponse 0 0 0 foreign;
            PushTelemetry PUSH_TELEMETRY PushTelemetryRequest PushTelemetryResponse 0 0 0 foreign;
            AssignReplicasToDirs ASSIGN_REPLICAS_TO_DIRS AssignReplicasToDirsRequest AssignReplicasToDirsResponse 0 0 0 foreign;
            ListConfigResources LIST_CONFIG_RESOURCES ListConfigResourcesRequest ListConfigResourcesResponse 0 1 0 foreign;
            DescribeTopicPartitions DESCRIBE_TOPIC_PARTITIONS DescribeTopicPartitionsRequest DescribeTopicPartitionsResponse 0 0 0 foreign;
            ShareGroupHeartbeat SHARE_GROUP_HEARTBEAT ShareGroupHeartbeatRequest ShareGroupHeartbeatResponse 1 1 1 foreign;
            ShareGroupDescribe SHARE_GROUP_DESCRIBE ShareGroupDescribeRequest ShareGroupDescribeResponse 1 1 1 foreign;
            ShareFetch SHARE_FETCH ShareFetchRequest ShareFetchResponse 1 1 1 foreign;
            ShareAcknowledge SHARE_ACKNOWLEDGE ShareAcknowledgeRequest ShareAcknowledgeResponse 1 1 1 foreign;
            AddRaftVoter ADD_RAFT_VOTER AddRaftVoterRequest AddRaftVoterResponse 0 0 0 foreign;
            RemoveRaftVoter REMOVE_RAFT_VOTER RemoveRaftVoterRequest RemoveRaftVoterResponse 0 0 0 foreign;
            UpdateRaftVoter UPDATE_RAFT_VOTER UpdateRaftVoterRequest UpdateRaftVoterResponse 0 0 0 foreign;
            InitializeShareGroupState INITIALIZE_SHARE_GROUP_STATE InitializeShareGroupStateRequest InitializeShareGroupStateResponse 0 0 0 foreign;
            ReadShareGroupState READ_SHARE_GROUP_STATE ReadShareGroupStateRequest ReadShareGroupStateResponse 0 0 0 foreign;
            WriteShareGroupState WRITE_SHARE_GROUP_STATE WriteShareGroupStateRequest WriteShareGroupStateResponse 0 0 0 foreign;
            DeleteShareGroupState DELETE_SHARE_GROUP_STATE DeleteShareGroupStateRequest DeleteShareGroupStateResponse 0 0 0 foreign;
            ReadShareGroupStateSummary READ_SHARE_GROUP_STATE_SUMMARY ReadShareGroupStateSummaryRequest ReadShareGroupStateSummaryResponse 0 0 0 foreign;
            DescribeShareGroupOffsets DESCRIBE_SHARE_GROUP_OFFSETS DescribeShareGroupOffsetsRequest DescribeShareGroupOffsetsResponse 0 0 0 foreign;
            AlterShareGroupOffsets ALTER_SHARE_GROUP_OFFSETS AlterShareGroupOffsetsRequest AlterShareGroupOffsetsResponse 0 0 0 foreign;
            DeleteShareGroupOffsets DELETE_SHARE_GROUP_OFFSETS DeleteShareGroupOffsetsRequest DeleteShareGroupOffsetsResponse 0 0 0 foreign;
        }
    };
}
pub(crate) use for_each_api;
