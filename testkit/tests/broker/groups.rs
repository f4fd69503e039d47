//! Classic groups: every state, every way in and out.

use crate::client::{Connection, PATIENCE, text};
use bytes::Bytes;
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use millstream_protocol::messages::{
    DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    ListGroupsRequest, StrBytes, SyncGroupRequest, SyncGroupResponse,
};
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::TestCluster;
use std::time::{Duration, Instant};

const JOIN: i16 = 9;
const SYNC: i16 = 5;

/// One member, on a connection of its own.
struct Member {
    connection: Connection,
    id: StrBytes,
    instance: Option<StrBytes>,
    protocols: Vec<&'static str>,
    session_timeout_ms: i32,
    rebalance_timeout_ms: i32,
    generation: i32,
}
impl Member {
    fn of(cluster: &TestCluster) -> Self {
        Self {
            connection: Connection::to(cluster, 0),
            id: StrBytes::new(),
            instance: None,
            protocols: vec!["range"],
            session_timeout_ms: 30_000,
            rebalance_timeout_ms: 30_000,
            generation: -1,
        }
    }
    fn statically(cluster: &TestCluster, instance: &str) -> Self {
        Self { instance: Some(text(instance)), ..Self::of(cluster) }
    }
    fn request(&self) -> JoinGroupRequest {
        let protocol = |name: &&'static str| {
            JoinGroupRequestProtocol::default()
                .with_name(StrBytes::from_static_str(name))
                .with_metadata(Bytes::from_static(name.as_bytes()))
        };
        JoinGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone())
            .with_session_timeout_ms(self.session_timeout_ms)
            .with_rebalance_timeout_ms(self.rebalance_timeout_ms)
            .with_protocol_type(text("consumer"))
            .with_protocols(self.protocols.iter().map(protocol).collect())
    }
    /// Asks to join, with an id that it is given first if it needs one.
    fn ask(&mut self) {
        if self.id.is_empty() && self.instance.is_none() {
            let refused = self.connection.call(JOIN, &self.request());
            assert_eq!(ErrorCode::new(refused.error_code), ErrorCode::MEMBER_ID_REQUIRED);
            self.id = refused.member_id;
        }
        let request = self.request();
        self.connection.send(JOIN, &request);
    }
    fn joined(&mut self) -> JoinGroupResponse {
        let response = self.connection.receive::<JoinGroupRequest>(JOIN);
        self.generation = response.generation_id;
        self.id = response.member_id.clone();
        response
    }
    fn join(&mut self) -> JoinGroupResponse {
        self.ask();
        self.joined()
    }
    fn ask_sync(&mut self, assignments: &[(&StrBytes, &'static str)]) {
        let assignments = assignments.iter().map(|(id, bytes)| {
            SyncGroupRequestAssignment::default()
                .with_member_id((*id).clone())
                .with_assignment(Bytes::from_static(bytes.as_bytes()))
        });
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_generation_id(self.generation)
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone())
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text("range")))
            .with_assignments(assignments.collect());
        self.connection.send(SYNC, &request);
    }
    fn synced(&mut self) -> SyncGroupResponse {
        self.connection.receive::<SyncGroupRequest>(SYNC)
    }
    fn heartbeat(&mut self) -> ErrorCode {
        let request = HeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_generation_id(self.generation)
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone());
        ErrorCode::new(self.connection.call(4, &request).error_code)
    }
    fn leave(&mut self) -> ErrorCode {
        let member =
            MemberIdentity::default().with_member_id(self.id.clone()).with_group_instance_id(self.instance.clone());
        let request = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(vec![member]);
        let response = self.connection.call(5, &request);
        assert_eq!(response.error_code, 0);
        ErrorCode::new(response.members[0].error_code)
    }
}

fn state(cluster: &TestCluster) -> String {
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]);
    Connection::to(cluster, 0).call(5, &request).groups[0].group_state.to_string()
}
/// Waits until the group is in a state: what was sent on one connection may be read after what is sent later on another.
fn until(cluster: &TestCluster, wanted: &str) {
    let begun = Instant::now();
    while state(cluster) != wanted {
        assert!(begun.elapsed() < PATIENCE, "the group is {}, not {wanted}", state(cluster));
        std::thread::sleep(Duration::from_millis(1));
    }
}
/// Ends the wait for first members when so many requests to join have come: whoever comes during the wait makes it longer, once.
async fn end_first_wait(cluster: &TestCluster, requests: u64) {
    cluster.requests().wait_for_count(ApiKey::JOIN_GROUP, requests).await;
    (0..2).for_each(|_| cluster.advance_brokers(Duration::from_secs(10)));
}
/// A group of one that has its assignment.
fn stable(cluster: &TestCluster, mut member: Member) -> Member {
    assert_eq!(member.join().error_code, 0);
    let id = member.id.clone();
    member.ask_sync(&[(&id, "all")]);
    assert_eq!(member.synced().assignment, Bytes::from_static(b"all"));
    assert_eq!(state(cluster), "Stable");
    member
}

/// Walks the picture at the head of the classic group's module: every state, every way.
#[tokio::test]
async fn a_classic_group_goes_only_where_the_picture_lets_it() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "10000").start().await;
    let until = |wanted| until(&cluster, wanted);
    assert_eq!(state(&cluster), "Dead", "there is none");
    // Empty -> PreparingRebalance, which waits for more, -> CompletingRebalance -> Stable.
    let mut one = Member { rebalance_timeout_ms: 20_000, ..Member::of(&cluster) };
    one.ask();
    until("PreparingRebalance");
    cluster.advance_brokers(Duration::from_secs(10));
    assert_eq!((one.joined().generation_id, state(&cluster).as_str()), (1, "CompletingRebalance"));
    let one_id = one.id.clone();
    one.ask_sync(&[(&one_id, "all")]);
    assert_eq!((one.synced().error_code, state(&cluster).as_str()), (0, "Stable"));
    // Stable -> PreparingRebalance on a join; CompletingRebalance -> PreparingRebalance on a leave.
    let mut two = Member { rebalance_timeout_ms: 20_000, ..Member::of(&cluster) };
    two.ask();
    until("PreparingRebalance");
    one.ask();
    assert_eq!((one.joined().generation_id, two.joined().generation_id), (2, 2));
    assert_eq!(state(&cluster), "CompletingRebalance");
    assert_eq!((two.leave(), state(&cluster).as_str()), (ErrorCode::NONE, "PreparingRebalance"));
    // A member that joins again ends the wait; without SyncGroup the generation ends, and nobody is left.
    one.ask();
    assert_eq!((one.joined().generation_id, state(&cluster).as_str()), (3, "CompletingRebalance"));
    cluster.advance_brokers(Duration::from_secs(20));
    assert_eq!(state(&cluster), "Empty");
    assert_eq!(one.heartbeat(), ErrorCode::UNKNOWN_MEMBER_ID);
    // PreparingRebalance -> Empty: the only member goes before its generation began.
    let mut three = Member::of(&cluster);
    three.ask();
    until("PreparingRebalance");
    let mut same = Member { id: three.id.clone(), ..Member::of(&cluster) };
    assert_eq!(same.leave(), ErrorCode::NONE);
    cluster.advance_brokers(Duration::from_secs(10));
    assert_eq!(state(&cluster), "Empty");
}

#[tokio::test]
async fn two_members_share_a_generation_and_the_leader_assigns() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "10000").start().await;
    let (mut one, mut two) = (Member::of(&cluster), Member::of(&cluster));
    one.ask();
    two.ask();
    end_first_wait(&cluster, 4).await;
    let (first, second) = (one.joined(), two.joined());
    assert_eq!((first.generation_id, second.generation_id, &first.leader), (1, 1, &second.leader));
    assert_eq!(state(&cluster), "CompletingRebalance");
    let (leader, follower) = if first.leader == one.id { (&mut one, &mut two) } else { (&mut two, &mut one) };
    let members = if first.members.is_empty() { second.members } else { first.members };
    assert_eq!(members.len(), 2, "the leader sees everybody, the other nobody");

    follower.ask_sync(&[]);
    let (leader_id, follower_id) = (leader.id.clone(), follower.id.clone());
    leader.ask_sync(&[(&leader_id, "first half"), (&follower_id, "second half")]);
    assert_eq!(leader.synced().assignment, Bytes::from_static(b"first half"));
    assert_eq!(follower.synced().assignment, Bytes::from_static(b"second half"));
    assert_eq!(
        (state(&cluster).as_str(), leader.heartbeat(), follower.heartbeat()),
        ("Stable", ErrorCode::NONE, ErrorCode::NONE)
    );
}

#[tokio::test]
async fn a_new_member_makes_the_others_join_again() {
    let cluster = TestCluster::start().await;
    let mut one = stable(&cluster, Member::of(&cluster));
    let mut two = Member::of(&cluster);
    two.ask();
    until(&cluster, "PreparingRebalance");
    assert_eq!(one.heartbeat(), ErrorCode::REBALANCE_IN_PROGRESS);
    one.ask();
    assert_eq!((one.joined().generation_id, two.joined().generation_id), (2, 2));
}

#[tokio::test]
async fn who_does_not_join_again_in_time_is_out() {
    let cluster = TestCluster::start().await;
    let mut one = Member::of(&cluster);
    one.rebalance_timeout_ms = 10_000;
    let mut one = stable(&cluster, one);
    let mut two = Member::of(&cluster);
    two.rebalance_timeout_ms = 10_000;
    two.ask();
    until(&cluster, "PreparingRebalance");
    cluster.advance_brokers(Duration::from_secs(10));
    let joined = two.joined();
    assert_eq!((joined.generation_id, joined.members.len()), (2, 1));
    assert_eq!(one.heartbeat(), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn a_session_without_heartbeats_ends() {
    let cluster = TestCluster::start().await;
    let mut silent = stable(&cluster, Member::of(&cluster));
    cluster.advance_brokers(Duration::from_secs(30));
    assert_eq!(state(&cluster), "Empty");
    assert_eq!(silent.heartbeat(), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn a_generation_without_the_leaders_assignment_ends() {
    let cluster = TestCluster::start().await;
    let mut lazy = Member::of(&cluster);
    lazy.rebalance_timeout_ms = 10_000;
    lazy.join();
    cluster.advance_brokers(Duration::from_secs(10));
    assert_eq!(state(&cluster), "Empty");
    assert_eq!(lazy.heartbeat(), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn leaving_empties_the_group_and_strangers_are_told() {
    let cluster = TestCluster::start().await;
    let mut member = stable(&cluster, Member::of(&cluster));
    assert_eq!(member.leave(), ErrorCode::NONE);
    assert_eq!(state(&cluster), "Empty");
    assert_eq!(member.leave(), ErrorCode::UNKNOWN_MEMBER_ID);
    let mut stranger = Member::of(&cluster);
    stranger.id = text("nobody");
    assert_eq!(ErrorCode::new(stranger.join().error_code), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn an_old_generation_is_illegal() {
    let cluster = TestCluster::start().await;
    let mut member = stable(&cluster, Member::of(&cluster));
    member.generation -= 1;
    assert_eq!(member.heartbeat(), ErrorCode::ILLEGAL_GENERATION);
    member.ask_sync(&[]);
    assert_eq!(ErrorCode::new(member.synced().error_code), ErrorCode::ILLEGAL_GENERATION);
}

#[tokio::test]
async fn the_assignor_that_most_prefer_is_taken_and_strange_ones_are_refused() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "10000").start().await;
    let mut members = [vec!["range", "sticky"], vec!["sticky", "range"], vec!["sticky", "range"]]
        .map(|protocols| Member { protocols, ..Member::of(&cluster) });
    members.iter_mut().for_each(Member::ask);
    end_first_wait(&cluster, 6).await;
    for member in &mut members {
        assert_eq!(member.joined().protocol_name, Some(text("sticky")));
    }
    let mut stranger = Member { protocols: vec!["other"], ..Member::of(&cluster) };
    let request = stranger.request();
    let refused = stranger.connection.call(JOIN, &request);
    assert_eq!(ErrorCode::new(refused.error_code), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

#[tokio::test]
async fn a_static_member_comes_back_without_a_rebalance_and_fences_its_old_self() {
    let cluster = TestCluster::start().await;
    let mut old = stable(&cluster, Member::statically(&cluster, "i"));
    let mut new = Member::statically(&cluster, "i");
    let joined = new.join();
    assert_eq!((joined.error_code, joined.generation_id, joined.skip_assignment), (0, old.generation, true));
    assert_ne!(new.id, old.id);
    new.ask_sync(&[]);
    assert_eq!(new.synced().assignment, Bytes::from_static(b"all"));
    assert_eq!(old.heartbeat(), ErrorCode::FENCED_INSTANCE_ID);
    assert_eq!(new.heartbeat(), ErrorCode::NONE);
}

#[tokio::test]
async fn a_full_group_takes_nobody() {
    let cluster = TestCluster::builder().config("group.max.size", "1").start().await;
    let _member = stable(&cluster, Member::of(&cluster));
    let mut second = Member::of(&cluster);
    let request = second.request();
    assert_eq!(ErrorCode::new(second.connection.call(JOIN, &request).error_code), ErrorCode::GROUP_MAX_SIZE_REACHED);
}

#[tokio::test]
async fn groups_are_listed_by_state() {
    let cluster = TestCluster::start().await;
    let _member = stable(&cluster, Member::of(&cluster));
    let list = |state: &str| {
        let request = ListGroupsRequest::default().with_states_filter(vec![text(state)]);
        Connection::to(&cluster, 0)
            .call(5, &request)
            .groups
            .into_iter()
            .map(|group| group.group_id.0.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!((list("stable"), list("Empty")), (vec!["g".to_owned()], Vec::new()));
}

/// An id that was given out (KIP-394) is no member.
#[tokio::test]
async fn ids_that_were_given_out_are_no_members_and_hold_no_first_generation_back() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "0").start().await;
    let (mut waiting, mut first) = (Member::of(&cluster), Member::of(&cluster));
    let request = waiting.request();
    waiting.id = waiting.connection.call(JOIN, &request).member_id;
    assert_eq!(state(&cluster), "Empty");
    assert_eq!((first.join().generation_id, state(&cluster).as_str()), (1, "CompletingRebalance"));
    // Who was given the id may still come.
    waiting.ask();
    until(&cluster, "PreparingRebalance");
    first.ask();
    assert_eq!((waiting.joined().generation_id, first.joined().generation_id), (2, 2));
}

/// Found beside a real Kafka: whoever gives back an id that it was given has the others share anew, though it had nothing.
#[tokio::test]
async fn who_leaves_with_an_id_alone_makes_the_others_join_again() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut member = stable(&cluster, Member::of(&cluster));
    let mut waiting = Member::of(&cluster);
    let request = waiting.request();
    waiting.id = waiting.connection.call(JOIN, &request).member_id;
    assert_eq!(member.heartbeat(), ErrorCode::NONE);
    assert_eq!(waiting.leave(), ErrorCode::NONE);
    assert_eq!(member.heartbeat(), ErrorCode::REBALANCE_IN_PROGRESS);
    assert_eq!(member.join().generation_id, 2);
}

/// Kafka takes it for a mistake of its own.
#[tokio::test]
async fn an_id_that_was_given_out_is_no_static_members() {
    let cluster = TestCluster::builder().start().await;
    let mut waiting = Member::of(&cluster);
    let request = waiting.request();
    let id = waiting.connection.call(JOIN, &request).member_id;
    let request = request.with_member_id(id).with_group_instance_id(Some(text("static")));
    let refused = waiting.connection.call(JOIN, &request);
    assert_eq!(ErrorCode::new(refused.error_code), ErrorCode::UNKNOWN_SERVER_ERROR);
    assert!(refused.member_id.is_empty(), "{refused:?}");
}

#[tokio::test]
async fn a_member_agrees_with_what_it_said_itself() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut member = stable(&cluster, Member::of(&cluster));
    member.protocols = vec!["other"];
    assert_eq!(ErrorCode::new(member.join().error_code), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let mut member = Member { protocols: vec!["other", "range"], ..Member::of(&cluster) };
    member.ask();
    until(&cluster, "PreparingRebalance");
}

#[tokio::test]
async fn a_group_that_is_not_there_has_none_of_the_members_that_leave_it() {
    let cluster = TestCluster::builder().start().await;
    let leaving = |version: i16| {
        let member = MemberIdentity::default().with_member_id(text("m"));
        let request = LeaveGroupRequest::default().with_group_id(GroupId(text("g")));
        let request = if version < 3 { request.with_member_id(text("m")) } else { request.with_members(vec![member]) };
        let response = Connection::to(&cluster, 0).call(version, &request);
        (response.error_code, response.members.iter().map(|member| member.error_code).collect::<Vec<_>>())
    };
    let unknown = ErrorCode::UNKNOWN_MEMBER_ID.get();
    assert_eq!((leaving(2), leaving(5)), ((unknown, vec![]), (0, vec![unknown])));
}

/// Found beside a real Kafka: the first to go left the second as the only one to wait for, who was then given a generation and let go.
#[tokio::test]
async fn who_is_let_go_with_others_is_in_no_generation_without_them() {
    let cluster = TestCluster::start().await;
    let mut one = stable(&cluster, Member::of(&cluster));
    let mut two = Member::statically(&cluster, "two");
    two.ask();
    until(&cluster, "PreparingRebalance");
    let members = vec![
        MemberIdentity::default().with_member_id(one.id.clone()),
        MemberIdentity::default().with_group_instance_id(Some(text("two"))),
    ];
    let request = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(members);
    assert!(one.connection.call(5, &request).members.iter().all(|member| member.error_code == 0));
    assert_eq!(ErrorCode::new(two.joined().error_code), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(state(&cluster), "Empty");
}
