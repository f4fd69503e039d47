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
DeleteTopics: Cluster Delete, Topic Delete, Topic Describe
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
AddRaftVoter: Cluster Alter
RemoveRaftVoter: Cluster Alter
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

/// `ListOffsets` as `list_offsets`.
fn file_name(api: &str) -> String {
    let mut name = String::new();
    for letter in api.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    format!("{name}.rs")
}

#[test]
fn every_handlers_head_says_its_versions_and_what_is_left_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/broker/handlers");
    for api in SERVED {
        let text = std::fs::read_to_string(folder.join(file_name(api.name()))).unwrap();
        let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let head = head.join(" ");
        let range = served(*api).unwrap();
        let versions = match range.min() == range.max() {
            true => format!("Version {}. Left out: ", range.min()),
            false => format!("Versions {} to {}. Left out: ", range.min(), range.max()),
        };
        assert!(head.starts_with(api.name()) && head.contains(&versions), "{api}: {versions}: {head}");
    }
}
