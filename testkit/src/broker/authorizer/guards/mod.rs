//! One guard per request. Those that ask for one thing as a whole, or for a list of things each of which is judged alone, are in `simple`;
//! the others have a file each.

mod acls;
mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod configs;
mod consumer_groups;
mod create_partitions;
mod create_topics;
mod delete_topics;
mod describe_cluster;
mod describe_groups;
mod describe_topic_partitions;
mod describe_transactions;
mod fetch;
mod find_coordinator;
mod init_producer_id;
mod list_groups;
mod list_transactions;
mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod simple;
mod txn_offset_commit;
mod write_txn_markers;
