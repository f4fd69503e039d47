//! The APIs whose messages this crate encodes and decodes, with the versions at which it does both directions.
//!
//! One row: message name, key, request type, response type, lowest version, highest version, first flexible version
//! (`NEVER` without one). The ranges are what both Kafka 4.4 and the decoders have; `kafka-protocol`'s own
//! `valid_versions` is not asked, since it names request versions that its decoders then refuse.

/// A first flexible version for APIs that have none.
pub(crate) const NEVER: i16 = i16::MAX;

/// Calls the macro `$then` with all rows.
macro_rules! for_each_api {
    ($then:ident) => {
        $then! {
            Produce PRODUCE ProduceRequest ProduceResponse 3 13 9;
            Fetch FETCH FetchRequest FetchResponse 4 18 12;
            ListOffsets LIST_OFFSETS ListOffsetsRequest ListOffsetsResponse 1 10 6;
            Metadata METADATA MetadataRequest MetadataResponse 0 13 9;
            OffsetCommit OFFSET_COMMIT OffsetCommitRequest OffsetCommitResponse 2 9 8;
            OffsetFetch OFFSET_FETCH OffsetFetchRequest OffsetFetchResponse 1 9 6;
            FindCoordinator FIND_COORDINATOR FindCoordinatorRequest FindCoordinatorResponse 0 6 3;
            JoinGroup JOIN_GROUP JoinGroupRequest JoinGroupResponse 0 9 6;
            Heartbeat HEARTBEAT HeartbeatRequest HeartbeatResponse 0 4 4;
            LeaveGroup LEAVE_GROUP LeaveGroupRequest LeaveGroupResponse 0 5 4;
            SyncGroup SYNC_GROUP SyncGroupRequest SyncGroupResponse 0 5 4;
            DescribeGroups DESCRIBE_GROUPS DescribeGroupsRequest DescribeGroupsResponse 0 6 5;
            ListGroups LIST_GROUPS ListGroupsRequest ListGroupsResponse 0 5 3;
            SaslHandshake SASL_HANDSHAKE SaslHandshakeRequest SaslHandshakeResponse 0 1 NEVER;
            ApiVersions API_VERSIONS ApiVersionsRequest ApiVersionsResponse 0 4 3;
            CreateTopics CREATE_TOPICS CreateTopicsRequest CreateTopicsResponse 2 7 5;
            DeleteTopics DELETE_TOPICS DeleteTopicsRequest DeleteTopicsResponse 1 6 4;
            DeleteRecords DELETE_RECORDS DeleteRecordsRequest DeleteRecordsResponse 0 2 2;
            InitProducerId INIT_PRODUCER_ID InitProducerIdRequest InitProducerIdResponse 0 5 2;
            OffsetForLeaderEpoch OFFSET_FOR_LEADER_EPOCH OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse 2 4 4;
            AddPartitionsToTxn ADD_PARTITIONS_TO_TXN AddPartitionsToTxnRequest AddPartitionsToTxnResponse 0 5 3;
            AddOffsetsToTxn ADD_OFFSETS_TO_TXN AddOffsetsToTxnRequest AddOffsetsToTxnResponse 0 4 3;
            EndTxn END_TXN EndTxnRequest EndTxnResponse 0 5 3;
            WriteTxnMarkers WRITE_TXN_MARKERS WriteTxnMarkersRequest WriteTxnMarkersResponse 1 1 1;
            TxnOffsetCommit TXN_OFFSET_COMMIT TxnOffsetCommitRequest TxnOffsetCommitResponse 0 5 3;
            DescribeAcls DESCRIBE_ACLS DescribeAclsRequest DescribeAclsResponse 1 3 2;
            CreateAcls CREATE_ACLS CreateAclsRequest CreateAclsResponse 1 3 2;
            DeleteAcls DELETE_ACLS DeleteAclsRequest DeleteAclsResponse 1 3 2;
            DescribeConfigs DESCRIBE_CONFIGS DescribeConfigsRequest DescribeConfigsResponse 1 4 4;
            AlterConfigs ALTER_CONFIGS AlterConfigsRequest AlterConfigsResponse 0 2 2;
            AlterReplicaLogDirs ALTER_REPLICA_LOG_DIRS AlterReplicaLogDirsRequest AlterReplicaLogDirsResponse 1 2 2;
            DescribeLogDirs DESCRIBE_LOG_DIRS DescribeLogDirsRequest DescribeLogDirsResponse 1 4 2;
            SaslAuthenticate SASL_AUTHENTICATE SaslAuthenticateRequest SaslAuthenticateResponse 0 2 2;
            CreatePartitions CREATE_PARTITIONS CreatePartitionsRequest CreatePartitionsResponse 0 3 2;
            CreateDelegationToken CREATE_DELEGATION_TOKEN CreateDelegationTokenRequest CreateDelegationTokenResponse 1 3 2;
            RenewDelegationToken RENEW_DELEGATION_TOKEN RenewDelegationTokenRequest RenewDelegationTokenResponse 1 2 2;
            ExpireDelegationToken EXPIRE_DELEGATION_TOKEN ExpireDelegationTokenRequest ExpireDelegationTokenResponse 1 2 2;
            DescribeDelegationToken DESCRIBE_DELEGATION_TOKEN DescribeDelegationTokenRequest DescribeDelegationTokenResponse 1 3 2;
            DeleteGroups DELETE_GROUPS DeleteGroupsRequest DeleteGroupsResponse 0 2 2;
            ElectLeaders ELECT_LEADERS ElectLeadersRequest ElectLeadersResponse 0 2 2;
            IncrementalAlterConfigs INCREMENTAL_ALTER_CONFIGS IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse 0 1 1;
            AlterPartitionReassignments ALTER_PARTITION_REASSIGNMENTS AlterPartitionReassignmentsRequest AlterPartitionReassignmentsResponse 0 1 0;
            ListPartitionReassignments LIST_PARTITION_REASSIGNMENTS ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse 0 0 0;
            OffsetDelete OFFSET_DELETE OffsetDeleteRequest OffsetDeleteResponse 0 0 NEVER;
            DescribeClientQuotas DESCRIBE_CLIENT_QUOTAS DescribeClientQuotasRequest DescribeClientQuotasResponse 0 1 1;
            AlterClientQuotas ALTER_CLIENT_QUOTAS AlterClientQuotasRequest AlterClientQuotasResponse 0 1 1;
            DescribeUserScramCredentials DESCRIBE_USER_SCRAM_CREDENTIALS DescribeUserScramCredentialsRequest DescribeUserScramCredentialsResponse 0 0 0;
            AlterUserScramCredentials ALTER_USER_SCRAM_CREDENTIALS AlterUserScramCredentialsRequest AlterUserScramCredentialsResponse 0 0 0;
            Vote VOTE VoteRequest VoteResponse 0 2 0;
            BeginQuorumEpoch BEGIN_QUORUM_EPOCH BeginQuorumEpochRequest BeginQuorumEpochResponse 0 1 1;
            EndQuorumEpoch END_QUORUM_EPOCH EndQuorumEpochRequest EndQuorumEpochResponse 0 1 1;
            DescribeQuorum DESCRIBE_QUORUM DescribeQuorumRequest DescribeQuorumResponse 0 2 0;
            AlterPartition ALTER_PARTITION AlterPartitionRequest AlterPartitionResponse 2 3 2;
            UpdateFeatures UPDATE_FEATURES UpdateFeaturesRequest UpdateFeaturesResponse 0 2 0;
            Envelope ENVELOPE EnvelopeRequest EnvelopeResponse 0 0 0;
            FetchSnapshot FETCH_SNAPSHOT FetchSnapshotRequest FetchSnapshotResponse 0 1 0;
            DescribeCluster DESCRIBE_CLUSTER DescribeClusterRequest DescribeClusterResponse 0 2 0;
            DescribeProducers DESCRIBE_PRODUCERS DescribeProducersRequest DescribeProducersResponse 0 0 0;
            BrokerRegistration BROKER_REGISTRATION BrokerRegistrationRequest BrokerRegistrationResponse 0 4 0;
            BrokerHeartbeat BROKER_HEARTBEAT BrokerHeartbeatRequest BrokerHeartbeatResponse 0 1 0;
            UnregisterBroker UNREGISTER_BROKER UnregisterBrokerRequest UnregisterBrokerResponse 0 0 0;
            DescribeTransactions DESCRIBE_TRANSACTIONS DescribeTransactionsRequest DescribeTransactionsResponse 0 0 0;
            ListTransactions LIST_TRANSACTIONS ListTransactionsRequest ListTransactionsResponse 0 2 0;
            AllocateProducerIds ALLOCATE_PRODUCER_IDS AllocateProducerIdsRequest AllocateProducerIdsResponse 0 0 0;
            ConsumerGroupHeartbeat CONSUMER_GROUP_HEARTBEAT ConsumerGroupHeartbeatRequest ConsumerGroupHeartbeatResponse 0 1 0;
            ConsumerGroupDescribe CONSUMER_GROUP_DESCRIBE ConsumerGroupDescribeRequest ConsumerGroupDescribeResponse 0 1 0;
            ControllerRegistration CONTROLLER_REGISTRATION ControllerRegistrationRequest ControllerRegistrationResponse 0 0 0;
            GetTelemetrySubscriptions GET_TELEMETRY_SUBSCRIPTIONS GetTelemetrySubscriptionsRequest GetTelemetrySubscriptionsResponse 0 0 0;
            PushTelemetry PUSH_TELEMETRY PushTelemetryRequest PushTelemetryResponse 0 0 0;
            AssignReplicasToDirs ASSIGN_REPLICAS_TO_DIRS AssignReplicasToDirsRequest AssignReplicasToDirsResponse 0 0 0;
            ListConfigResources LIST_CONFIG_RESOURCES ListConfigResourcesRequest ListConfigResourcesResponse 0 1 0;
            DescribeTopicPartitions DESCRIBE_TOPIC_PARTITIONS DescribeTopicPartitionsRequest DescribeTopicPartitionsResponse 0 0 0;
            ShareGroupHeartbeat SHARE_GROUP_HEARTBEAT ShareGroupHeartbeatRequest ShareGroupHeartbeatResponse 1 1 1;
            ShareGroupDescribe SHARE_GROUP_DESCRIBE ShareGroupDescribeRequest ShareGroupDescribeResponse 1 1 1;
            ShareFetch SHARE_FETCH ShareFetchRequest ShareFetchResponse 1 1 1;
            ShareAcknowledge SHARE_ACKNOWLEDGE ShareAcknowledgeRequest ShareAcknowledgeResponse 1 1 1;
            AddRaftVoter ADD_RAFT_VOTER AddRaftVoterRequest AddRaftVoterResponse 0 0 0;
            RemoveRaftVoter REMOVE_RAFT_VOTER RemoveRaftVoterRequest RemoveRaftVoterResponse 0 0 0;
            UpdateRaftVoter UPDATE_RAFT_VOTER UpdateRaftVoterRequest UpdateRaftVoterResponse 0 0 0;
            InitializeShareGroupState INITIALIZE_SHARE_GROUP_STATE InitializeShareGroupStateRequest InitializeShareGroupStateResponse 0 0 0;
            ReadShareGroupState READ_SHARE_GROUP_STATE ReadShareGroupStateRequest ReadShareGroupStateResponse 0 0 0;
            WriteShareGroupState WRITE_SHARE_GROUP_STATE WriteShareGroupStateRequest WriteShareGroupStateResponse 0 0 0;
            DeleteShareGroupState DELETE_SHARE_GROUP_STATE DeleteShareGroupStateRequest DeleteShareGroupStateResponse 0 0 0;
            ReadShareGroupStateSummary READ_SHARE_GROUP_STATE_SUMMARY ReadShareGroupStateSummaryRequest ReadShareGroupStateSummaryResponse 0 0 0;
            DescribeShareGroupOffsets DESCRIBE_SHARE_GROUP_OFFSETS DescribeShareGroupOffsetsRequest DescribeShareGroupOffsetsResponse 0 0 0;
            AlterShareGroupOffsets ALTER_SHARE_GROUP_OFFSETS AlterShareGroupOffsetsRequest AlterShareGroupOffsetsResponse 0 0 0;
            DeleteShareGroupOffsets DELETE_SHARE_GROUP_OFFSETS DeleteShareGroupOffsetsRequest DeleteShareGroupOffsetsResponse 0 0 0;
        }
    };
}
pub(crate) use for_each_api;
