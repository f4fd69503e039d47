//! What each API needs, as Kafka's documentation of operations and resources has it.

use super::*;
use std::collections::BTreeMap;

const TABLE: &str = "\
Produce: TransactionalId Write, Topic Write
Fetch: Topic Read
Metadata: Topic Describe, Topic Create, Cluster Create, Cluster Describe
ListOffsets: Topic Describe
Heartbeat: Group Read
OffsetCommit: Group Read, Topic Read
OffsetFetch: Group Describe, Topic Describe
FindCoordinator: Group Describe, TransactionalId Describe, Cluster ClusterAction
JoinGroup: Group Read
SyncGroup: Group Read
LeaveGroup: Group Read
DescribeGroups: Group Describe
ListGroups: Cluster Describe, Group Describe
SaslHandshake:
ApiVersions:
CreateTopics: Cluster Create, Topic Create, Topic DescribeConfigs
DeleteTopics: Topic Delete, Topic Describe
DeleteRecords: Topic Delete
InitProducerId: TransactionalId Write, Cluster IdempotentWrite, Topic Write
OffsetForLeaderEpoch: Cluster ClusterAction, Topic Describe
AddPartitionsToTxn: TransactionalId Write, Topic Write, Cluster ClusterAction
AddOffsetsToTxn: TransactionalId Write, Group Read
EndTxn: TransactionalId Write
WriteTxnMarkers: Cluster Alter, Cluster ClusterAction
TxnOffsetCommit: TransactionalId Write, Group Read, Topic Read
DescribeAcls: Cluster Describe
CreateAcls: Cluster Alter
DeleteAcls: Cluster Alter
DescribeConfigs: Topic DescribeConfigs, Group DescribeConfigs, Cluster DescribeConfigs
AlterConfigs: Topic AlterConfigs, Group AlterConfigs, Cluster AlterConfigs
IncrementalAlterConfigs: Topic AlterConfigs, Group AlterConfigs, Cluster AlterConfigs
AlterReplicaLogDirs: Cluster Alter
DescribeLogDirs: Cluster Describe
SaslAuthenticate:
CreatePartitions: Topic Alter
DeleteGroups: Group Delete
ElectLeaders: Cluster Alter
AlterPartitionReassignments: Cluster Alter
ListPartitionReassignments: Cluster Describe
OffsetDelete: Group Delete, Topic Read
DescribeClientQuotas: Cluster DescribeConfigs
AlterClientQuotas: Cluster AlterConfigs
DescribeUserScramCredentials: Cluster Describe
AlterUserScramCredentials: Cluster Alter
DescribeQuorum: Cluster Describe
UpdateFeatures: Cluster Alter
DescribeCluster: Cluster Describe
DescribeProducers: Topic Read
UnregisterBroker: Cluster Alter
DescribeTransactions: TransactionalId Describe, Topic Describe
ListTransactions: TransactionalId Describe
ConsumerGroupHeartbeat: Group Read, Topic Describe
ConsumerGroupDescribe: Group Describe, Topic Describe
GetTelemetrySubscriptions:
PushTelemetry:
ListConfigResources: Cluster DescribeConfigs
DescribeTopicPartitions: Topic Describe
";

#[test]
fn every_api_that_is_served_asks_for_kafkas_rights() {
    let table: BTreeMap<&str, &str> =
        TABLE.lines().filter_map(|line| line.split_once(':')).map(|(api, needs)| (api, needs.trim())).collect();
    for (api, needs) in NEEDS {
        let needs: Vec<String> = needs.iter().map(|(kind, operation)| format!("{kind:?} {operation:?}")).collect();
        assert_eq!(table.get(api.name()), Some(&needs.join(", ").as_str()), "{api}");
    }
    assert_eq!(NEEDS.len(), SERVED.len());
}
