//! Conversations with a coordinator, by direct calls and a clock that jumps.

use super::*;
use crate::group::assignor::{ClusterLayout, CooperativeSticky, Range};
use crate::group::{Assignment, CommitRefused, LeavePolicy, Subscription};
use millstream_protocol::messages::join_group_response::JoinGroupResponseMember;
use millstream_protocol::messages::{
    HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupResponse, StrBytes, SyncGroupResponse,
};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A member, its clock, and what it has told the application so far.
struct Bench {
    member: Member,
    now: Instant,
    events: Vec<GroupEvent>,
    /// The last request, which is the one that is answered.
    call: Call,
}

impl Bench {
    fn new(assignors: Vec<Box<dyn PartitionAssignor>>) -> Self {
        Self::with(MemberConfig::new("g"), assignors)
    }
    fn with(config: MemberConfig, assignors: Vec<Box<dyn PartitionAssignor>>) -> Self {
        let now = start();
        let mut bench = Self { member: Member::new(config, assignors), now, events: Vec::new(), call: Call(0) };
        bench.member.set_polling(now, true);
        bench.member.subscribe(now, ["t".into()]);
        bench
    }
    fn eager() -> Self {
        Self::new(vec![Box::new(Range::new())])
    }
    fn cooperative() -> Self {
        Self::new(vec![Box::new(CooperativeSticky::new())])
    }

    /// The next request; events on the way are kept.
    fn request(&mut self) -> Option<Action> {
        while let Some(action) = self.member.poll_action(self.now) {
            match action {
                Action::Event(event) => self.events.push(event),
                Action::ForgetCoordinator => {}
                other => {
                    self.call = call_of(&other).unwrap_or(self.call);
                    return Some(other);
                }
            }
        }
        None
    }
    fn joins(&mut self) -> JoinGroupRequest {
        match self.request() {
            Some(Action::Join(_, request, _)) => *request,
            other => panic!("no join but {other:?}"),
        }
    }
    fn syncs(&mut self) -> SyncGroupRequest {
        match self.request() {
            Some(Action::Sync(_, request, _)) => *request,
            other => panic!("no sync but {other:?}"),
        }
    }
    fn join_answer(&mut self, protocol: &str, generation: i32) {
        let mut answer = JoinGroupResponse::default();
        answer.generation_id = generation;
        answer.protocol_name = Some(text(protocol));
        answer.member_id = text("me");
        answer.leader = text("other");
        self.member.handle_join(self.now, self.call, Ok(answer));
    }
    fn join_error(&mut self, code: ErrorCode) {
        let mut answer = JoinGroupResponse::default();
        answer.error_code = code.get();
        answer.member_id = text("me");
        self.member.handle_join(self.now, self.call, Ok(answer));
    }
    fn assign(&mut self, partitions: &[i32]) {
        let mut answer = SyncGroupResponse::default();
        answer.assignment =
            Assignment::of(partitions.iter().map(|partition| ("t", *partition).into()).collect()).encode();
        self.member.handle_sync(self.now, self.call, Ok(answer));
    }
    /// From JoinGroup to the assignment, as a follower.
    fn rebalance(&mut self, protocol: &str, generation: i32, partitions: &[i32]) {
        self.joins();
        self.join_answer(protocol, generation);
        self.syncs();
        self.assign(partitions);
        assert!(self.request().is_none());
    }
    fn heartbeat(&mut self, code: ErrorCode) {
        self.now += Duration::from_secs(3);
        let beat = self.request();
        assert!(matches!(beat, Some(Action::Heartbeat(..))), "{beat:?}");
        self.heartbeat_answer(self.call, code);
    }
    fn heartbeat_answer(&mut self, call: Call, code: ErrorCode) {
        let mut answer = HeartbeatResponse::default();
        answer.error_code = code.get();
        self.member.handle_heartbeat(self.now, call, Ok(answer));
    }
    fn told(&mut self) -> Vec<String> {
        self.events.drain(..).map(|event| tell(&event)).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "an Instant can be had from nowhere else; tests only add to it")]
fn start() -> Instant {
    Instant::now()
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn tell(event: &GroupEvent) -> String {
    let numbers = |partitions: &[TopicPartition]| {
        partitions.iter().map(|partition| partition.partition.to_string()).collect::<Vec<_>>().join(",")
    };
    match event {
        GroupEvent::Revoking { partitions, .. } => format!("revoking {}", numbers(partitions)),
        GroupEvent::Lost { partitions, .. } => format!("lost {}", numbers(partitions)),
        GroupEvent::Assigned { added, all, .. } => format!("assigned {} of {}", numbers(added), all.len()),
        GroupEvent::Failed(error) => format!("failed: {error}"),
    }
}

fn call_of(action: &Action) -> Option<Call> {
    match action {
        Action::Join(call, ..)
        | Action::Sync(call, ..)
        | Action::Heartbeat(call, _)
        | Action::Leave(call, _)
        | Action::FetchLayout(call, _) => Some(*call),
        _ => None,
    }
}

fn subscription_in(request: &JoinGroupRequest) -> Subscription {
    Subscription::decode(&request.protocols[0].metadata).expect("own bytes")
}

// G-1
#[test]
fn a_new_member_joins_again_at_once_with_the_id_it_is_given() {
    let mut bench = Bench::eager();
    assert_eq!(bench.joins().member_id.as_str(), "");
    bench.join_error(ErrorCode::MEMBER_ID_REQUIRED);
    assert_eq!(bench.joins().member_id.as_str(), "me");
}

// G-2
#[test]
fn an_eager_member_joins_only_when_everything_is_let_go() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0, 1]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    assert!(bench.request().is_none(), "it waits for the revocation");
    assert_eq!(bench.told(), ["assigned 0,1 of 2", "revoking 0,1"]);
    let ack = Ack(1);
    bench.member.acknowledge(bench.now, ack);
    let join = bench.joins();
    assert!(subscription_in(&join).owned.is_empty());
}

// G-2
#[test]
fn a_cooperative_member_keeps_what_the_leader_leaves_it_and_joins_again_after_letting_go() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0, 1]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    let join = bench.joins();
    assert_eq!((subscription_in(&join).owned.len(), subscription_in(&join).generation), (2, Some(1)));
    bench.join_answer("cooperative-sticky", 2);
    bench.syncs();
    bench.assign(&[0]);
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0,1 of 2", "revoking 1"]);
    bench.member.acknowledge(bench.now, Ack(1));
    assert_eq!(subscription_in(&bench.joins()).owned, [("t", 0).into()]);
    assert_eq!(bench.told(), ["assigned  of 1"]);
}

// G-12: the group went back from cooperative to range, so the others hold nothing any more and what is kept here may be given away.
#[test]
fn what_the_coordinator_picked_decides_whether_partitions_are_kept() {
    let mut bench = Bench::new(vec![Box::new(CooperativeSticky::new()), Box::new(Range::new())]);
    bench.rebalance("cooperative-sticky", 1, &[0]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    bench.joins();
    bench.join_answer("range", 2);
    assert!(bench.request().is_none(), "sync waits until the loss is acknowledged");
    assert_eq!(bench.told(), ["assigned 0 of 1", "lost 0"]);
    bench.member.acknowledge(bench.now, Ack(1));
    bench.syncs();
    bench.assign(&[0, 1]);
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0,1 of 2"]);
}

// G-3
#[test]
fn a_join_waits_for_commits_and_commits_wait_for_the_assignment() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0]);
    let stamp = bench.member.begin_commit().expect("a member commits");
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    assert!(bench.request().is_none(), "the commit is on its way");
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::NONE));
    bench.joins();
    bench.join_answer("cooperative-sticky", 2);
    assert_eq!(bench.member.begin_commit(), Err(CommitRefused::Rebalancing));
    bench.syncs();
    bench.assign(&[0]);
    assert_eq!(bench.member.begin_commit().map(|stamp| stamp.generation), Ok(2));
}

// A commit before a revocation had half of the rebalance's time whatever had been spent before, and the group went on without the member.
#[test]
fn a_commit_in_a_rebalance_has_half_of_what_is_left_of_it() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    assert_eq!(bench.member.commit_patience(bench.now), SECOND * 150, "a rebalance may begin right after it");
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    let told = bench.now;
    // One heartbeat interval of the 300 s may have passed already.
    assert_eq!(bench.member.rebalance_left(told), SECOND * 297);
    assert_eq!(bench.member.rebalance_left(told + SECOND * 200), SECOND * 97);
    assert_eq!(bench.member.commit_patience(told + SECOND * 197), SECOND * 50);
    assert_eq!(bench.member.rebalance_left(told + SECOND * 400), SECOND * 300 / 8, "whoever is late still tries");
    assert!(bench.request().is_none(), "it waits for the revocation");
    bench.member.acknowledge(bench.now, Ack(1));
    bench.joins();
    assert_eq!(bench.member.rebalance_left(bench.now), SECOND * 300, "the join is out");
}

// A process was killed and came back while its old member's session ran on: JoinGroup of the survivors waited for that session's end, and
// for all that time they committed nothing.
#[test]
fn a_cooperative_member_commits_what_it_keeps_while_others_are_waited_for() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    bench.joins();
    let stamp = bench.member.begin_commit().expect("the old generation still stands");
    assert_eq!(stamp.generation, 1);
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::NONE));
    // The new generation begins while the next commit is on its way: its refusal loses nothing.
    let stamp = bench.member.begin_commit().expect("the answer is not here yet");
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::ILLEGAL_GENERATION));
    let stamp = bench.member.begin_commit().expect("the answer is not here yet");
    bench.join_answer("cooperative-sticky", 2);
    assert!(bench.request().is_none(), "the assignment waits for the commit");
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::ILLEGAL_GENERATION));
    bench.syncs();
    bench.assign(&[0]);
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0 of 1", "assigned  of 1"]);
}

#[test]
fn an_eager_member_has_nothing_to_commit_while_it_joins() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    bench.member.acknowledge(bench.now, Ack(1));
    bench.joins();
    assert_eq!(bench.member.begin_commit(), Err(CommitRefused::Rebalancing));
}

// G-4, G-5
#[test]
fn a_refused_commit_loses_the_partitions_and_keeps_the_id_when_only_the_generation_is_old() {
    let cases = [(ErrorCode::ILLEGAL_GENERATION, "me"), (ErrorCode::UNKNOWN_MEMBER_ID, "")];
    for (code, id) in cases {
        let mut bench = Bench::cooperative();
        bench.rebalance("cooperative-sticky", 1, &[0]);
        let stamp = bench.member.begin_commit().expect("a member commits");
        bench.member.end_commit(bench.now, &stamp, Some(code));
        assert!(bench.request().is_none(), "the loss is not acknowledged");
        assert_eq!(bench.told(), ["assigned 0 of 1", "lost 0"]);
        bench.member.acknowledge(bench.now, Ack(1));
        let join = bench.joins();
        assert_eq!((join.member_id.as_str(), subscription_in(&join).owned.len()), (id, 0), "{code}");
    }
}

#[test]
fn a_commit_of_an_earlier_generation_says_nothing_about_this_one() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0]);
    let mut stamp = bench.member.begin_commit().expect("a member commits");
    stamp.generation = 0;
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::ILLEGAL_GENERATION));
    assert!(bench.member.is_stable());
}

// A revocation that is under way when the coordinator drops the member is void: its acknowledgement must not pass for the loss's.
#[test]
fn a_loss_overtakes_a_revocation() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    assert!(bench.request().is_none());
    bench.heartbeat(ErrorCode::UNKNOWN_MEMBER_ID);
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0 of 1", "revoking 0", "lost 0"]);
    bench.member.acknowledge(bench.now, Ack(1));
    assert!(bench.request().is_none(), "that was the revocation's");
    bench.member.acknowledge(bench.now, Ack(2));
    bench.joins();
}

// G-6
#[test]
fn a_join_may_take_as_long_as_the_rebalance() {
    let mut bench = Bench::eager();
    let Some(Action::Join(_, request, timeout)) = bench.request() else { panic!("no join") };
    assert_eq!(request.rebalance_timeout_ms, 300_000);
    assert!(timeout > 300 * SECOND);
}

// G-7
#[test]
fn a_member_whose_application_does_not_poll_leaves_and_comes_back_with_the_next_poll() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.member.set_polling(bench.now, false);
    bench.now += 301 * SECOND;
    let leave = bench.request();
    assert!(matches!(leave, Some(Action::Leave(..))), "{leave:?}");
    bench.member.handle_left(bench.now, bench.call, Ok(LeaveGroupResponse::default()));
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0 of 1", "lost 0"]);
    bench.member.set_polling(bench.now, true);
    bench.joins();
}

// G-7: one poll that waits for records is progress all the time.
#[test]
fn a_poll_that_waits_is_progress() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.now += 900 * SECOND;
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))));
}

// K-15
#[test]
fn a_heartbeat_that_is_answered_late_does_not_delay_the_next() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.now += 3 * SECOND;
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))));
    bench.now += 4 * SECOND;
    assert!(bench.request().is_none(), "one at a time");
    bench.member.handle_heartbeat(bench.now, bench.call, Ok(HeartbeatResponse::default()));
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))), "it is seven seconds since the broker heard of it");
}

// G-4. The coordinator moved while a heartbeat was on its way; the old one, which had stood still, answered when the next generation's first
// heartbeat was out. Its answer was taken for that one's, and the member lost all its partitions.
#[test]
fn a_late_answer_to_an_earlier_generations_heartbeat_says_nothing_about_this_one() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0]);
    bench.now += 3 * SECOND;
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))));
    let late = bench.call;
    let stamp = bench.member.begin_commit().expect("a member commits");
    bench.member.end_commit(bench.now, &stamp, Some(ErrorCode::REBALANCE_IN_PROGRESS));
    bench.rebalance("cooperative-sticky", 2, &[0]);
    bench.now += 3 * SECOND;
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))));
    bench.heartbeat_answer(late, ErrorCode::ILLEGAL_GENERATION);
    assert!(bench.member.is_stable());
    bench.member.handle_heartbeat(bench.now, late, Err(Failure::Unavailable));
    assert!(bench.member.poll_action(bench.now).is_none(), "nor about the coordinator");
    bench.heartbeat_answer(bench.call, ErrorCode::REBALANCE_IN_PROGRESS);
    bench.joins();
}

// G-7. The member left while its JoinGroup waited for the others, and came back with the next poll: what the coordinator said to the first
// JoinGroup, which the departure ended, was taken for the answer to the second, whose own answer then met a third.
#[test]
fn a_late_answer_to_the_join_of_an_earlier_life_is_of_no_effect() {
    let mut bench = Bench::cooperative();
    bench.rebalance("cooperative-sticky", 1, &[0]);
    bench.heartbeat(ErrorCode::REBALANCE_IN_PROGRESS);
    bench.joins();
    let late = bench.call;
    bench.member.set_polling(bench.now, false);
    bench.now += 301 * SECOND;
    assert!(matches!(bench.request(), Some(Action::Leave(..))));
    bench.member.handle_left(bench.now, bench.call, Ok(LeaveGroupResponse::default()));
    bench.member.set_polling(bench.now, true);
    bench.joins();
    let mut answer = JoinGroupResponse::default();
    answer.error_code = ErrorCode::UNKNOWN_MEMBER_ID.get();
    bench.member.handle_join(bench.now, late, Ok(answer));
    assert!(bench.request().is_none(), "the second is still waited for");
    bench.join_answer("cooperative-sticky", 3);
    assert_eq!(bench.syncs().generation_id, 3);
}

// G-8
#[test]
fn heartbeats_go_on_after_one_that_failed() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[0]);
    bench.heartbeat(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    let soon = bench.member.deadline().expect("a next heartbeat");
    assert!(soon - bench.now <= Duration::from_millis(200));
    bench.now = soon;
    assert!(matches!(bench.request(), Some(Action::Heartbeat(..))));
    bench.member.handle_heartbeat(bench.now, bench.call, Err(Failure::Unavailable));
    assert!(bench.member.deadline().is_some());
}

// G-9
#[test]
fn a_static_member_stays_when_it_closes_unless_asked_to_leave() {
    let mut config = MemberConfig::new("g");
    config.instance_id = Some("one".to_owned());
    for (policy, leaves) in [(LeavePolicy::Dynamic, false), (LeavePolicy::Leave, true)] {
        let mut bench = Bench::with(config.clone(), vec![Box::new(Range::new())]);
        bench.rebalance("range", 1, &[0]);
        bench.member.close(bench.now, policy);
        assert_eq!(matches!(bench.request(), Some(Action::Leave(..))), leaves, "{policy:?}");
    }
}

// G-9
#[test]
fn a_second_process_with_the_same_instance_id_ends_the_first() {
    let mut config = MemberConfig::new("g");
    config.instance_id = Some("one".to_owned());
    let mut bench = Bench::with(config, vec![Box::new(Range::new())]);
    bench.rebalance("range", 1, &[0]);
    bench.heartbeat(ErrorCode::FENCED_INSTANCE_ID);
    assert!(bench.request().is_none());
    let told = bench.told();
    assert_eq!(told[1], "lost 0");
    assert!(told[2].contains("another member with group.instance.id `one` took over"), "{told:?}");
    assert!(bench.member.is_out());
}

// G-10
#[test]
fn a_leader_assigns_all_members_topics_and_joins_again_when_partitions_are_added() {
    let mut bench = Bench::eager();
    bench.joins();
    let member = |id: &str, topic: &str| {
        let mut member = JoinGroupResponseMember::default();
        member.member_id = text(id);
        member.metadata = Subscription::to(vec![topic.into()]).encode();
        member
    };
    let mut answer = JoinGroupResponse::default();
    answer.generation_id = 1;
    answer.protocol_name = Some(text("range"));
    (answer.member_id, answer.leader) = (text("me"), text("me"));
    answer.members = vec![member("me", "t"), member("you", "u")];
    bench.member.handle_join(bench.now, bench.call, Ok(answer));
    let Some(Action::FetchLayout(_, topics)) = bench.request() else { panic!("no layout asked for") };
    assert_eq!(topics.iter().map(TopicName::as_str).collect::<Vec<_>>(), ["t", "u"]);
    let mut layout = ClusterLayout::new();
    layout.insert("t", 1);
    layout.insert("u", 2);
    bench.member.handle_layout(bench.now, bench.call, Some(&layout));
    let shares = bench.syncs().assignments;
    let share = |index: usize| Assignment::decode(&shares[index].assignment).expect("own bytes").partitions.len();
    assert_eq!((shares.len(), share(0), share(1)), (2, 1, 2));
    bench.assign(&[0]);
    bench.member.handle_watched(bench.now, &layout);
    assert!(bench.member.is_stable());
    layout.insert("u", 3);
    bench.member.handle_watched(bench.now, &layout);
    assert!(bench.request().is_none());
    assert_eq!(bench.told(), ["assigned 0 of 1", "revoking 0"]);
}

// G-13
#[test]
fn a_member_without_partitions_stays() {
    let mut bench = Bench::eager();
    bench.rebalance("range", 1, &[]);
    assert_eq!(bench.told(), ["assigned  of 0"]);
    assert!(bench.member.is_stable());
    bench.heartbeat(ErrorCode::NONE);
}

//
#[test]
fn an_assignor_that_panics_makes_the_group_join_again() {
    #[derive(Debug)]
    struct Broken;
    impl PartitionAssignor for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn rebalance_mode(&self) -> RebalanceMode {
            RebalanceMode::Eager
        }
        fn assign(
            &mut self,
            members: &[GroupMember],
            _: &ClusterLayout,
        ) -> Result<Vec<Assignment>, crate::group::assignor::AssignorError> {
            panic!("{} members", members.len())
        }
    }
    let mut bench = Bench::new(vec![Box::new(Broken)]);
    bench.joins();
    let mut answer = JoinGroupResponse::default();
    answer.protocol_name = Some(text("broken"));
    (answer.member_id, answer.leader) = (text("me"), text("me"));
    bench.member.handle_join(bench.now, bench.call, Ok(answer));
    assert!(matches!(bench.request(), Some(Action::FetchLayout(..))));
    bench.member.handle_layout(bench.now, bench.call, Some(&ClusterLayout::new()));
    assert!(bench.request().is_none());
    bench.now += SECOND;
    bench.joins();
}

#[test]
fn a_new_subscription_during_a_rebalance_is_told_in_the_next_one() {
    let mut bench = Bench::cooperative();
    bench.joins();
    bench.member.subscribe(bench.now, ["t".into(), "u".into()]);
    bench.join_answer("cooperative-sticky", 1);
    bench.syncs();
    bench.assign(&[0]);
    assert_eq!(subscription_in(&bench.joins()).topics.len(), 2);
}

#[test]
fn a_coordinator_that_moved_is_looked_up_and_asked_again_after_a_pause() {
    let mut bench = Bench::eager();
    bench.joins();
    bench.join_error(ErrorCode::NOT_COORDINATOR);
    assert!(matches!(bench.member.poll_action(bench.now), Some(Action::ForgetCoordinator)));
    assert!(bench.request().is_none());
    bench.now = bench.member.deadline().expect("a pause");
    bench.joins();
}
