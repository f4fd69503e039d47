//! The same cases on the embedded cluster and on a real Kafka: every public operation of client, runtime and command line.
//!
//! `coverage` holds the list of operations and says which case shows which.

mod admin;
mod cli;
mod cluster;
mod consumer;
mod coverage;
mod groups;
mod producer;
mod streams;
mod transactions;

/// Makes two tests of each case: one on the embedded cluster, one that needs a real Kafka.
macro_rules! on_both {
    ($($module:ident: $($case:ident)*;)*) => {
        /// The names of all cases.
        const CASES: &[&str] = &[$($(concat!(stringify!($module), "::", stringify!($case)),)*)*];

        mod embedded {
            $(mod $module {$(
                #[tokio::test(flavor = "multi_thread")]
                async fn $case() {
                    let cluster = crate::cluster::Cluster::embedded().await;
                    crate::cluster::soon(crate::$module::$case(&cluster)).await;
                }
            )*})*
        }
        mod real {
            $(mod $module {$(
                #[tokio::test(flavor = "multi_thread")]
                #[ignore = "needs a real Kafka at MILLSTREAM_KAFKA"]
                async fn $case() {
                    let cluster = crate::cluster::Cluster::real();
                    crate::cluster::soon(crate::$module::$case(&cluster)).await;
                }
            )*})*
        }
    };
}

on_both! {
    producer:
        every_way_to_send_reaches_the_log
        records_come_back_as_they_were_sent
        every_codec_is_read_again
        keys_go_where_the_java_client_puts_them
        an_unknown_topic_is_named
        a_partitioner_of_ones_own_is_asked
        code_that_is_not_async_waits_for_space;
    consumer:
        a_consumer_reads_what_it_is_assigned
        positions_can_be_moved
        a_paused_partition_brings_nothing
        a_rewound_consumer_reads_again
        offsets_are_resolved_by_place_and_time
        what_is_missing_follows_the_reset_policy
        a_stream_commits_what_is_finished
        read_committed_hides_what_was_aborted;
    groups:
        a_group_goes_on_where_it_committed
        two_members_share_the_partitions
        a_cooperative_member_keeps_what_does_not_move
        a_revocation_waits_for_the_application
        a_static_member_keeps_its_partitions
        a_closed_member_leaves_at_once
        a_subscription_is_replaced;
    transactions:
        a_commit_shows_everything_and_an_abort_nothing
        a_dropped_transaction_is_aborted
        consumed_offsets_are_part_of_the_transaction
        a_transaction_goes_step_by_step
        a_newer_instance_fences_the_older
        transactions_are_listed_described_and_fenced
        a_transactional_producer_is_reusable_for_long;
    admin:
        topics_are_created_described_and_deleted
        a_topic_that_exists_is_not_created_again
        partitions_are_added
        options_are_described
        groups_are_listed_described_and_deleted
        what_a_group_has_committed_and_its_lag_are_told;
    streams:
        the_kip_28_example_sums_up
        a_count_is_written_for_every_record
        a_restart_goes_on_where_it_stopped
        a_wiped_state_folder_is_restored_from_the_changelog
        a_runtime_shows_what_it_does
        workers_come_and_go
        a_paused_runtime_processes_nothing
        a_static_runtime_stays_in_its_group
        a_missing_input_topic_is_named;
    cli:
        lines_go_in_and_come_out
        topics_from_the_command_line
        groups_from_the_command_line
        what_a_broker_answers_is_explained
        the_demo_verifies_its_sums;
}
