//! Bugs of brokers and clients that are planted: the checker that is there for them finds them, and no other speaks, unless it is said why.
//! The same run without the bug is good.

use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::checkers::Checker::{
    self, K1, K2, K3, K4, K5, K6, K7, K8, K9, K10, K11, K12, K13, K14, K15, K16, K17, K18,
};
use millstream_testkit::simulation::workload::{Case, Report, Workload, run_with, shrink};
use millstream_testkit::simulation::{Bug, Fault, Links, SimulationError, Trouble};
use std::collections::BTreeSet;
use std::time::Duration;

type Names<'a> = &'a [(Checker, &'static str)];

/// With the bug these speak, all of them and no other; without it none does.
#[track_caller]
fn is_caught(bug: Bug, case: &Case, expected: Names<'_>) {
    is_caught_beside(bug, case, expected, &[]);
}
/// The same; and these may speak, too.
#[track_caller]
fn is_caught_beside(bug: Bug, case: &Case, expected: Names<'_>, others: Names<'_>) {
    let sound = case.run();
    assert!(sound.is_good(), "without the bug: {sound}");
    let report = case.clone().with_bug(bug).run();
    let names = report.violations.iter().map(|violation| (violation.checker(), violation.name()));
    let names: BTreeSet<_> = names.filter(|name| !others.contains(name)).collect();
    assert_eq!(names, expected.iter().copied().collect(), "{report}");
    assert_eq!(report.error, None, "{report}");
}
fn case(workload: Workload) -> Case {
    Case::new(workload, 3).lasting(secs(40))
}
const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// The reader that goes back to where logs part looks for them, too.
#[test]
fn k1_k6_a_cleaner_that_takes_what_is_acknowledged_is_found() {
    let expected = [(K1, "lost-write"), (K6, "poll-skip")];
    is_caught(Bug::LoseFirstBatches, &case(Workload::Producing), &expected);
}

/// Where a lost record was to lie another one lies, perhaps of the same producer; and the last one that is lost is passed over by nobody.
#[test]
fn k1_k4_a_leader_that_acknowledges_what_it_then_loses_is_found() {
    let (expected, beside) =
        ([(K1, "lost-write"), (K4, "inconsistent-offsets")], [(K2, "unseen"), (K7, "nonmonotonic-send")]);
    is_caught_beside(Bug::LoseEveryFifthWrite, &case(Workload::Producing), &expected, &beside);
}

#[test]
fn k2_a_broker_that_takes_new_batches_for_known_ones_is_found() {
    is_caught(Bug::TakeForDuplicates, &case(Workload::Producing), &[(K2, "unseen")]);
}

#[test]
fn k3_a_broker_that_does_not_know_a_batch_again_is_found() {
    let case = (1..=3).fold(case(Workload::Producing), |case, node: i32| {
        case.every(secs(3), Fault::ApplyThenDisconnect(node.into(), 1))
    });
    is_caught(Bug::ForgetSequences, &case, &[(K3, "duplicate")]);
}

#[test]
fn k4_a_broker_that_gives_out_other_values_is_found() {
    is_caught(Bug::MixUpValues, &case(Workload::Grouping), &[(K4, "inconsistent-offsets")]);
}

#[test]
fn k5_a_broker_that_writes_what_it_refuses_is_found() {
    is_caught(Bug::RefuseWhatIsWritten, &case(Workload::Producing), &[(K5, "G1a")]);
}

/// What was aborted is no committed record, either.
#[test]
fn k5_k14_a_broker_that_shows_what_is_not_committed_is_found() {
    let expected = [(K5, "G1a"), (K5, "precommitted-read"), (K14, "position")];
    is_caught(Bug::ForgetIsolation, &case(Workload::Copying), &expected);
}

#[test]
fn k6_a_replica_that_lacks_records_is_found() {
    is_caught(Bug::SkipBatches, &case(Workload::Grouping), &[(K6, "poll-skip")]);
}

/// What a transaction passes over none consumes.
#[test]
fn k6_k9_an_answer_that_lacks_records_between_others_is_found_inside_a_transaction() {
    let behind = Fault::Link(Links::of_host("copier-0"), Trouble::Stalled, secs(5));
    let case = case(Workload::Copying).every(secs(10), behind.clone()).at(secs(15), behind);
    is_caught(Bug::HollowAnswers, &case, &[(K6, "int-poll-skip"), (K9, "not-consumed")]);
}

/// What comes again is at no greater position.
#[test]
fn k6_k14_a_consumer_that_hands_out_twice_is_found_inside_a_transaction() {
    let expected = [(K6, "int-nonmonotonic-poll"), (K14, "position")];
    is_caught(Bug::HandOutTwice, &case(Workload::Copying), &expected);
}

/// A position that went back did not grow.
#[test]
fn k6_k14_a_reader_that_is_sent_back_is_found() {
    let expected = [(K6, "nonmonotonic-poll"), (K14, "position")];
    is_caught(Bug::DenyOffsets, &case(Workload::Producing), &expected);
}

/// Followers lag and lead then, and readers wait until the new log is longer than what they have read of the old one: before that their position
/// is out of range, and they look again anyway.
#[test]
fn k6_a_reader_that_does_not_look_at_epochs_is_found() {
    let case = case(Workload::Producing).lasting(secs(60));
    let case = (1..=3).fold(case, |case, node: i32| case.at(secs(10), Fault::Truncate(node.into(), secs(8))));
    let wait = Fault::Refuse(ApiKey::FETCH, ErrorCode::OFFSET_NOT_AVAILABLE, 160);
    is_caught(Bug::OverlookEpochs, &case.at(Duration::from_millis(17_900), wait), &[(K6, "poll-skip")]);
}

#[test]
fn k7_a_broker_that_lets_batches_overtake_is_found() {
    let refusal = Fault::Refuse(ApiKey::PRODUCE, ErrorCode::NOT_ENOUGH_REPLICAS, 3);
    let case = case(Workload::Producing).every(Duration::from_millis(500), refusal);
    is_caught(Bug::ForgetSequences, &case, &[(K7, "nonmonotonic-send")]);
}

#[test]
fn k7_a_producer_that_lets_records_overtake_is_found_inside_a_transaction() {
    is_caught(Bug::Overtake, &case(Workload::Copying), &[(K7, "int-nonmonotonic-send")]);
}

/// Of two transactions that read each other one has read before the other's commit was asked for; and so has one that reads on behind its own
/// record in the partition that both write to.
#[test]
fn k8_transactions_that_read_each_other_are_found() {
    let expected = [(K5, "precommitted-read"), (K8, "G1c")];
    is_caught(Bug::ForgetIsolation, &case(Workload::Exchanging), &expected);
}

#[test]
fn k8_k9_a_coordinator_that_takes_a_transactions_offsets_back_is_found() {
    let killed = case(Workload::Copying).at(secs(20), Fault::Kill(0, secs(1))).at(secs(25), Fault::Kill(1, secs(1)));
    // Each begins where the other did.
    is_caught(Bug::RewindCommits, &killed, &[(K9, "consumed-twice"), (K8, "G2")]);
}

#[test]
fn k10_producers_that_share_an_id_are_found() {
    is_caught(Bug::ReuseProducerIds, &case(Workload::Producing), &[(K10, "sequence")]);
}

#[test]
fn k11_a_coordinator_that_takes_commits_back_is_found() {
    let killed = case(Workload::Grouping).at(secs(20), Fault::Kill(0, secs(1)));
    is_caught(Bug::RewindCommits, &killed, &[(K11, "commit")]);
}

#[test]
fn k11_a_coordinator_that_takes_commits_of_an_earlier_generation_is_found() {
    let away = Fault::Link(Links::of_host("member-0"), Trouble::RequestsCut, secs(14));
    let case = case(Workload::Grouping).at(secs(5), away.clone()).at(secs(22), away);
    is_caught(Bug::TakeOldCommits, &case, &[(K11, "commit")]);
}

/// Two that have one partition commit each what it has read of it: one of them may take the other's commit back.
#[test]
fn k12_a_coordinator_that_gives_a_partition_twice_is_found() {
    let (case, beside) = (case(Workload::Grouping), [(K11, "commit")]);
    is_caught_beside(Bug::ShareAssignments, &case, &[(K12, "ownership")], &beside);
}

#[test]
fn k13_a_send_that_is_never_resolved_is_found() {
    is_caught(Bug::ForgetDeliveries, &case(Workload::Producing), &[(K13, "resolution")]);
}

#[test]
fn k13_a_send_that_is_resolved_twice_is_found() {
    is_caught(Bug::ResolveTwice, &case(Workload::Producing), &[(K13, "resolution")]);
}

#[test]
fn k14_a_broker_that_shows_its_markers_is_found() {
    is_caught(Bug::ShowMarkers, &case(Workload::Copying), &[(K14, "position")]);
}

#[test]
fn k15_a_producer_that_does_not_wait_before_it_sends_again_is_found() {
    let refusal = Fault::Refuse(ApiKey::PRODUCE, ErrorCode::NOT_ENOUGH_REPLICAS, 10);
    is_caught(Bug::RushClocks, &case(Workload::Producing).every(secs(5), refusal), &[(K15, "hygiene")]);
}

/// A refusal without the name of who leads instead; and what readers ask for goes astray like what producers write.
#[test]
fn k15_a_client_that_stays_with_a_node_that_does_not_lead_is_found() {
    for api in [ApiKey::PRODUCE, ApiKey::FETCH] {
        let case = case(Workload::Producing).at(secs(10), Fault::Refuse(api, ErrorCode::NOT_LEADER_OR_FOLLOWER, 8));
        is_caught(Bug::MistakeRefusals, &case, &[(K15, "hygiene")]);
    }
}

#[test]
fn k15_a_producer_with_too_many_requests_under_way_is_found() {
    is_caught(Bug::CrowdConnections, &case(Workload::Producing).with_short_memory(), &[(K15, "hygiene")]);
}

#[test]
fn k15_a_member_whose_heartbeats_come_late_is_found() {
    is_caught(Bug::DelayHeartbeats, &case(Workload::Grouping), &[(K15, "hygiene")]);
}

#[test]
fn k15_a_client_that_connects_again_at_once_is_found() {
    let case = case(Workload::Producing).at(secs(10), Fault::ApplyThenDisconnect(1.into(), 500));
    is_caught(Bug::ReconnectAtOnce, &case, &[(K15, "hygiene")]);
}

#[test]
fn k16_a_producer_without_a_bound_is_found() {
    for workload in [Workload::Producing, Workload::Exchanging] {
        is_caught(Bug::HoldTooMuch, &case(workload).with_short_memory(), &[(K16, "memory")]);
    }
}

#[test]
fn k16_a_consumer_that_holds_more_than_it_may_is_found() {
    let behind = Fault::Link(Links::of_host("reader"), Trouble::Stalled, secs(40));
    let case = case(Workload::Producing).lasting(secs(60)).with_short_memory().at(secs(5), behind);
    is_caught(Bug::ForgetLimits, &case, &[(K16, "memory")]);
}

#[test]
fn k17_a_partition_that_never_comes_back_is_found() {
    is_caught(Bug::LoseFetches, &case(Workload::Producing), &[(K17, "liveness")]);
}

#[test]
fn k18_a_frame_with_a_length_that_is_too_wide_is_found() {
    is_caught(Bug::WidenLengths, &case(Workload::Grouping), &[(K18, "codec")]);
}

#[test]
fn a_case_is_shrunk_to_the_faults_that_matter() {
    let fails_with = |numbers: &dyn Fn(usize) -> bool| {
        let mut report: Report = run_with(Workload::Producing, 5, numbers);
        // As if one fault, of many, were to blame.
        if report.faults.iter().any(|(number, ..)| *number == 3) {
            report.error = Some(SimulationError::Deadlock(report.simulated));
        }
        report
    };
    let all = fails_with(&|_| true);
    assert!(all.faults.len() > 10);
    let shortest = shrink(all, &fails_with);
    assert_eq!(shortest.faults.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [3]);
}
