//! Groups of the consumer protocol (KIP-848): states, epochs, reconciliation, static members, migration.

use crate::client::{Connection, text};
use bytes::Bytes;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::consumer_group_describe_response::DescribedGroup;
use millstream_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use millstream_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    CreatePartitionsRequest, DeleteGroupsRequest, DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, ListGroupsRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
    TopicName, Uuid,
};
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::time::Duration;

const HEARTBEAT: i16 = 1;

/// A member, on a connection of its own.
pub(crate) struct Member {
    connection: Connection,
    id: &'static str,
    instance: Option<&'static str>,
    pub(crate) epoch: i32,
    rebalance_timeout_ms: i32,
    assignment: BTreeMap<Uuid, Vec<i32>>,
}
impl Member {
    pub(crate) fn of(cluster: &TestCluster, id: &'static str) -> Self {
        Self {
            connection: Connection::to(cluster, 0),
            id,
            instance: None,
            epoch: 0,
            rebalance_timeout_ms: 60_000,
            assignment: BTreeMap::new(),
        }
    }
    pub(crate) fn quiet(&self) -> ConsumerGroupHeartbeatRequest {
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text(self.id))
            .with_instance_id(self.instance.map(text))
            .with_member_epoch(self.epoch)
            .with_rebalance_timeout_ms(-1)
            .with_subscribed_topic_names(None)
            .with_topic_partitions(None)
    }
    pub(crate) fn send(&mut self, request: &ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse {
        let response = self.connection.call(HEARTBEAT, request);
        if response.error_code == 0 {
            self.epoch = response.member_epoch;
        }
        if let Some(assignment) = &response.assignment {
            let given = assignment.topic_partitions.iter().map(|each| (each.topic_id, each.partitions.clone()));
            self.assignment = given.collect();
        }
        response
    }
    fn join(&mut self, topics: &[&str]) -> ConsumerGroupHeartbeatResponse {
        self.epoch = 0;
        let request = self
            .quiet()
            .with_rebalance_timeout_ms(self.rebalance_timeout_ms)
            .with_subscribed_topic_names(Some(topics.iter().map(|name| TopicName(text(name))).collect()))
            .with_topic_partitions(Some(Vec::new()));
        self.send(&request)
    }
    /// Joins with an expression.
    pub(crate) fn join_matching(&mut self, expression: &'static str) -> ConsumerGroupHeartbeatResponse {
        let request = self
            .quiet()
            .with_rebalance_timeout_ms(self.rebalance_timeout_ms)
            .with_subscribed_topic_regex(Some(text(expression)))
            .with_topic_partitions(Some(Vec::new()));
        self.send(&request)
    }
    pub(crate) fn beat(&mut self) -> ConsumerGroupHeartbeatResponse {
        let request = self.quiet();
        self.send(&request)
    }
    /// Says that it owns what it was given, and no more.
    pub(crate) fn confirm(&mut self) -> ConsumerGroupHeartbeatResponse {
        let owned = self.assignment.iter().map(|(topic, partitions)| {
            TopicPartitions::default().with_topic_id(*topic).with_partitions(partitions.clone())
        });
        let request = self.quiet().with_topic_partitions(Some(owned.collect()));
        self.send(&request)
    }
    pub(crate) fn leave(&mut self, epoch: i32) -> ErrorCode {
        let request = self.quiet().with_member_epoch(epoch);
        ErrorCode::new(self.connection.call(HEARTBEAT, &request).error_code)
    }
    pub(crate) fn count(&self) -> usize {
        self.assignment.values().map(Vec::len).sum()
    }
    fn partitions(&self) -> Vec<i32> {
        self.assignment.values().flatten().copied().collect()
    }
}
pub(crate) fn code(response: &ConsumerGroupHeartbeatResponse) -> ErrorCode {
    ErrorCode::new(response.error_code)
}
pub(crate) fn describe(cluster: &TestCluster) -> DescribedGroup {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![GroupId(text("g"))]);
    Connection::to(cluster, 0).call(1, &request).groups.remove(0)
}
fn state(cluster: &TestCluster) -> String {
    describe(cluster).group_state.to_string()
}
async fn cluster() -> TestCluster {
    TestCluster::builder().topic("t", 4).topic("u", 3).start().await
}

/// Walks the picture at the head of the group's module: every state, every way.
#[tokio::test]
async fn a_group_goes_only_where_the_picture_lets_it() {
    // With an interval between targets, a group can be seen while it has none for its epoch.
    const INTERVAL: Duration = Duration::from_secs(30);
    let builder = TestCluster::builder().topic("t", 4).config("group.consumer.max.assignment.interval.ms", "30000");
    let cluster = builder.config("group.consumer.assignment.interval.ms", "30000").start().await;
    let (mut one, mut two) = (Member::of(&cluster, "one"), Member::of(&cluster, "two"));
    assert_eq!(describe(&cluster).error_code, ErrorCode::GROUP_ID_NOT_FOUND.get());
    one.join(&["t"]);
    assert_eq!(
        (one.epoch, one.count(), state(&cluster).as_str()),
        (2, 4, "Stable"),
        "Empty, Assigning, Stable at once"
    );
    // Stable -> Assigning, on a new member within the interval.
    two.join(&["t"]);
    assert_eq!((two.count(), state(&cluster).as_str()), (0, "Assigning"));
    // Assigning -> Reconciling: the target is there, a member has not given up.
    cluster.advance_brokers(INTERVAL);
    while state(&cluster) == "Assigning" {
        two.beat();
    }
    assert_eq!((state(&cluster).as_str(), two.epoch, one.epoch), ("Reconciling", 3, 2));
    one.beat();
    assert_eq!((one.epoch, one.count()), (2, 2), "who has to give up stays in its epoch");
    // Reconciling -> Stable.
    one.confirm();
    two.beat();
    assert_eq!((one.epoch, two.epoch, two.count(), state(&cluster).as_str()), (3, 3, 2, "Stable"));
    // Reconciling -> Assigning: somebody goes while another waits.
    let mut three = Member::of(&cluster, "three");
    three.join(&["t"]);
    cluster.advance_brokers(INTERVAL);
    while state(&cluster) == "Assigning" {
        three.beat();
    }
    assert_eq!(state(&cluster), "Reconciling");
    assert_eq!(three.leave(-1), ErrorCode::NONE);
    assert_eq!(state(&cluster), "Assigning");
    // And to Empty.
    assert_eq!((one.leave(-1), two.leave(-1)), (ErrorCode::NONE, ErrorCode::NONE));
    assert_eq!(state(&cluster), "Empty");
}

#[tokio::test]
async fn nobody_gets_what_another_has_not_given_up() {
    let cluster = cluster().await;
    let (mut one, mut two) = (Member::of(&cluster, "one"), Member::of(&cluster, "two"));
    one.join(&["t"]);
    two.join(&["t"]);
    assert_eq!((one.count(), two.count(), two.epoch), (4, 0, 3));
    assert!(one.beat().assignment.is_some_and(|kept| kept.topic_partitions[0].partitions.len() == 2));
    assert_eq!((two.beat().assignment, one.epoch), (None, 2), "it has been told, but has not said that it did");
    one.confirm();
    two.beat();
    assert_eq!((one.epoch, two.count()), (3, 2));
    let mut all = [one.partitions(), two.partitions()].concat();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
}

#[tokio::test]
async fn an_epoch_that_is_not_the_members_own_fences_it() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    let epoch = one.epoch;
    one.epoch = epoch + 3;
    let refused = one.beat();
    assert_eq!(code(&refused), ErrorCode::FENCED_MEMBER_EPOCH);
    assert_eq!(
        refused.error_message.as_deref(),
        Some(
            "The consumer group member has a greater member epoch (5) than the one known by the group coordinator (2). The member must abandon all its partitions and rejoin."
        )
    );
    one.epoch = epoch - 1;
    assert_eq!(code(&one.beat()), ErrorCode::FENCED_MEMBER_EPOCH);
    // It may begin anew, and is told what it has.
    assert_eq!((code(&one.join(&["t"])), one.epoch, one.count()), (ErrorCode::NONE, epoch, 4));
    let mut stranger = Member { epoch: 1, ..Member::of(&cluster, "stranger") };
    assert_eq!(code(&stranger.beat()), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn the_epoch_before_is_taken_from_who_lost_the_answer() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    let before = one.epoch;
    let request = one.quiet().with_subscribed_topic_names(Some(vec![TopicName(text("t")), TopicName(text("u"))]));
    one.send(&request);
    assert_eq!((one.epoch, one.count()), (before + 1, 7));
    one.epoch = before;
    assert_eq!(code(&one.confirm()), ErrorCode::NONE);
    assert_eq!(one.epoch, before + 1);
}

#[tokio::test]
async fn what_a_request_lacks_is_named() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    let whole = one.quiet().with_rebalance_timeout_ms(1000).with_topic_partitions(Some(Vec::new()));
    let whole = whole.with_subscribed_topic_names(Some(vec![TopicName(text("t"))]));
    let cases = [
        (whole.clone().with_member_id(text("")), ErrorCode::INVALID_REQUEST, "MemberId can't be empty."),
        (whole.clone().with_group_id(GroupId(text(""))), ErrorCode::INVALID_REQUEST, "GroupId can't be empty."),
        (whole.clone().with_instance_id(Some(text(""))), ErrorCode::INVALID_REQUEST, "InstanceId can't be empty."),
        (whole.clone().with_rack_id(Some(text(""))), ErrorCode::INVALID_REQUEST, "RackId can't be empty."),
        (
            whole.clone().with_rebalance_timeout_ms(-1),
            ErrorCode::INVALID_REQUEST,
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        (
            whole.clone().with_topic_partitions(None),
            ErrorCode::INVALID_REQUEST,
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            whole.clone().with_subscribed_topic_names(None),
            ErrorCode::INVALID_REQUEST,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (
            whole.clone().with_server_assignor(Some(text("foo"))),
            ErrorCode::UNSUPPORTED_ASSIGNOR,
            "ServerAssignor foo is not supported. Supported assignors: uniform, range.",
        ),
        (whole.clone().with_member_epoch(-2), ErrorCode::INVALID_REQUEST, "InstanceId can't be null."),
        (whole.clone().with_member_epoch(-3), ErrorCode::INVALID_REQUEST, "MemberEpoch is invalid."),
        (whole.clone().with_member_epoch(4), ErrorCode::GROUP_ID_NOT_FOUND, "Consumer group g not found."),
        (
            whole.with_subscribed_topic_regex(Some(text("["))),
            ErrorCode::INVALID_REGULAR_EXPRESSION,
            "SubscribedTopicRegex `[` is not a valid regular expression: missing closing ].",
        ),
    ];
    for (request, wanted, sentence) in cases {
        let response = one.send(&request);
        assert_eq!((code(&response), response.error_message.as_deref()), (wanted, Some(sentence)));
    }
}

#[tokio::test]
async fn a_static_member_that_is_away_keeps_its_target_for_its_next_self() {
    let cluster = cluster().await;
    let fixed = |id| Member { instance: Some("i"), ..Member::of(&cluster, id) };
    let mut old = fixed("old");
    old.join(&["t"]);
    let mut new = fixed("new");
    let refused = new.join(&["t"]);
    assert_eq!(code(&refused), ErrorCode::UNRELEASED_INSTANCE_ID);
    // The holder does not say that it is the one, either.
    assert_eq!(code(&fixed("old").join(&["t"])), ErrorCode::UNRELEASED_INSTANCE_ID);
    assert_eq!(old.leave(-2), ErrorCode::NONE);
    let group = describe(&cluster);
    assert_eq!((group.members.len(), group.members[0].member_epoch, group.group_epoch), (1, -2, 2));
    new.join(&["t"]);
    assert_eq!((new.epoch, new.count()), (2, 4), "no new epoch");
    assert_eq!(code(&old.beat()), ErrorCode::FENCED_INSTANCE_ID);
    let mut stranger = Member { instance: Some("j"), epoch: 2, ..Member::of(&cluster, "new") };
    assert_eq!(code(&stranger.beat()), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(new.leave(-1), ErrorCode::NONE);
    assert_eq!(state(&cluster), "Empty");
}

#[tokio::test]
async fn who_does_not_give_up_in_time_is_out() {
    let cluster = cluster().await;
    let mut slow = Member { rebalance_timeout_ms: 50, ..Member::of(&cluster, "slow") };
    slow.join(&["t"]);
    let mut two = Member::of(&cluster, "two");
    two.join(&["t"]);
    slow.beat();
    while two.count() < 4 {
        two.beat();
        tokio::task::yield_now().await;
    }
    assert_eq!(code(&slow.beat()), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn a_session_without_heartbeats_ends() {
    let cluster = TestCluster::builder().topic("t", 4).config("group.consumer.session.timeout.ms", "50").start().await;
    let mut silent = Member::of(&cluster, "silent");
    silent.join(&["t"]);
    while state(&cluster) != "Empty" {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(&silent.beat()), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn a_topic_that_comes_or_grows_is_shared_out() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t", "later"]);
    assert_eq!(one.count(), 4);
    let more = CreatePartitionsTopic::default().with_name(TopicName(text("t"))).with_count(6).with_assignments(None);
    let request = CreatePartitionsRequest::default().with_topics(vec![more]).with_timeout_ms(1000);
    assert_eq!(Connection::to(&cluster, 0).call(3, &request).results[0].error_code, 0);
    one.beat();
    assert_eq!((one.count(), one.epoch), (6, 3));
}

#[tokio::test]
async fn those_that_are_let_go_together_end_one_epoch() {
    use millstream_protocol::messages::leave_group_request::MemberIdentity;
    let cluster = cluster().await;
    let [mut one, mut two, mut three] = ["one", "two", "three"].map(|id| Member::of(&cluster, id));
    for member in [&mut one, &mut two, &mut three] {
        member.join(&["t"]);
    }
    let epoch = describe(&cluster).group_epoch;
    let members = ["two", "three", "two"].map(|id| MemberIdentity::default().with_member_id(text(id)));
    let request = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(members.to_vec());
    assert!(one.connection.call(5, &request).members.iter().all(|member| member.error_code == 0));
    assert_eq!((describe(&cluster).group_epoch, describe(&cluster).members.len()), (epoch + 1, 1));
}

/// It became one of the classic protocol, though nobody had got in.
#[tokio::test]
async fn an_empty_group_keeps_its_protocol_when_it_does_not_know_who_joins() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    one.leave(-1);
    let mut old = Classic { id: "stranger".to_owned(), ..Classic::of(&cluster) };
    assert_eq!(ErrorCode::new(old.join(&[]).error_code), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(state(&cluster), "Empty");
}

#[tokio::test]
async fn the_range_assignor_gives_ranges() {
    let cluster = cluster().await;
    let members = ["b", "a"].map(|id| Member::of(&cluster, id));
    let members = members.map(|mut member| {
        let request = member
            .quiet()
            .with_server_assignor(Some(text("range")))
            .with_rebalance_timeout_ms(60_000)
            .with_subscribed_topic_names(Some(vec![TopicName(text("t")), TopicName(text("u"))]))
            .with_topic_partitions(Some(Vec::new()));
        member.send(&request);
        member
    });
    let [mut b, mut a] = members;
    b.beat();
    b.confirm();
    a.beat();
    let sorted = |member: &Member| {
        let mut partitions = member.partitions();
        partitions.sort_unstable();
        partitions
    };
    assert_eq!((sorted(&a), sorted(&b)), (vec![0, 0, 1, 1], vec![2, 2, 3]));
    assert_eq!(describe(&cluster).assignor_name.as_str(), "range");
}

#[tokio::test]
async fn offsets_are_committed_and_fetched_in_the_members_epoch() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    let mut commit = |member: &str, epoch: i32| {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(7);
        let topic =
            OffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text(member))
            .with_generation_id_or_member_epoch(epoch)
            .with_topics(vec![topic]);
        ErrorCode::new(one.connection.call(9, &request).topics[0].partitions[0].error_code)
    };
    assert_eq!(commit("", -1), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(commit("one", 1), ErrorCode::STALE_MEMBER_EPOCH);
    assert_eq!(commit("one", 9), ErrorCode::STALE_MEMBER_EPOCH);
    assert_eq!(commit("two", 2), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(commit("one", 2), ErrorCode::NONE);
    let mut fetch = |member: Option<&str>, epoch: i32| {
        let group = OffsetFetchRequestGroup::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(member.map(text))
            .with_member_epoch(epoch)
            .with_topics(None);
        let group = one.connection.call(9, &OffsetFetchRequest::default().with_groups(vec![group])).groups.remove(0);
        (ErrorCode::new(group.error_code), group.topics.len())
    };
    assert_eq!(fetch(Some("one"), 2), (ErrorCode::NONE, 1));
    assert_eq!(fetch(Some("one"), 1), (ErrorCode::STALE_MEMBER_EPOCH, 0));
    assert_eq!(fetch(Some("two"), 1), (ErrorCode::UNKNOWN_MEMBER_ID, 0));
    assert_eq!(fetch(None, -1), (ErrorCode::NONE, 1));
    // Whoever gives a name is judged by it, even without an epoch; the other way round, too.
    assert_eq!(fetch(Some("two"), -1), (ErrorCode::UNKNOWN_MEMBER_ID, 0));
    assert_eq!(fetch(None, 2), (ErrorCode::UNKNOWN_MEMBER_ID, 0));
}

/// KIP-1251: a member whose epoch moved on while its commit was under way still commits what it had all along.
#[tokio::test]
async fn an_epoch_before_the_members_own_is_taken_for_what_it_had_then() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    let mut two = Member::of(&cluster, "two");
    two.join(&["t"]);
    one.beat();
    one.confirm();
    assert_eq!((one.epoch, one.count()), (3, 2));
    let (kept, lost) = (one.partitions()[0], two.beat().assignment.unwrap().topic_partitions[0].partitions[0]);
    let mut commit = |version: i16, partition: i32, epoch: i32| {
        let partition =
            OffsetCommitRequestPartition::default().with_partition_index(partition).with_committed_offset(7);
        let topic =
            OffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text("one"))
            .with_generation_id_or_member_epoch(epoch)
            .with_topics(vec![topic]);
        ErrorCode::new(one.connection.call(version, &request).topics[0].partitions[0].error_code)
    };
    assert_eq!(commit(9, kept, 2), ErrorCode::NONE);
    assert_eq!(commit(9, kept, 1), ErrorCode::STALE_MEMBER_EPOCH, "before it was given");
    assert_eq!(commit(9, lost, 2), ErrorCode::STALE_MEMBER_EPOCH, "it is another's");
    assert_eq!(commit(9, kept, 4), ErrorCode::STALE_MEMBER_EPOCH, "it is not there yet");
}

#[tokio::test]
async fn another_assignor_begins_an_epoch() {
    let cluster = cluster().await;
    let mut one = Member::of(&cluster, "one");
    one.join(&["t"]);
    let epoch = one.epoch;
    let request = one.quiet().with_server_assignor(Some(text("uniform")));
    assert_eq!(one.send(&request).member_epoch, epoch, "it is what the group has anyway");
    let request = one.quiet().with_server_assignor(Some(text("range")));
    assert_eq!(one.send(&request).member_epoch, epoch + 1);
}

#[tokio::test]
async fn whoever_leaves_converts_no_group() {
    let cluster = cluster().await;
    let mut old = Classic::of(&cluster);
    let mut stranger = Member::of(&cluster, "stranger");
    let mut told = |epoch: i32| {
        let request = stranger.quiet().with_member_epoch(epoch);
        stranger.send(&request).error_message.unwrap_or_default().to_string()
    };
    assert_eq!((told(-1).as_str(), told(1).as_str()), ("Group g not found.", "Consumer group g not found."));
    assert_eq!(old.join(&[]).error_code, 0);
    for epoch in [-1, 1] {
        assert_eq!(told(epoch), "Group g is not a consumer group.");
    }
    assert_eq!(old.sync(Some(assigned(&[0]))).0, ErrorCode::NONE);
}

#[tokio::test]
async fn groups_are_listed_by_type() {
    let cluster = cluster().await;
    Member::of(&cluster, "one").join(&["t"]);
    let list = |kind: &str| {
        let request = ListGroupsRequest::default().with_types_filter(vec![text(kind)]);
        let groups = Connection::to(&cluster, 0).call(5, &request).groups;
        groups.into_iter().map(|group| (group.group_id.0.to_string(), group.group_type.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(list("Consumer"), [("g".to_owned(), "consumer".to_owned())]);
    assert_eq!(list("classic"), []);
    let asked = DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]);
    let described = Connection::to(&cluster, 0).call(6, &asked).groups.remove(0);
    assert_eq!(described.error_message.as_deref(), Some("Group g is not a classic group."));
}

/// A member of the classic protocol.
struct Classic {
    connection: Connection,
    id: String,
    instance: Option<&'static str>,
    generation: i32,
}
impl Classic {
    fn of(cluster: &TestCluster) -> Self {
        Self { connection: Connection::to(cluster, 0), id: String::new(), instance: None, generation: -1 }
    }
    /// A subscription to `t`, version 1, owning these partitions of it.
    fn subscription(owned: &[u8]) -> Bytes {
        let mut bytes = b"\0\x01\0\0\0\x01\0\x01t\xff\xff\xff\xff\0\0\0\x01\0\x01t\0\0\0".to_vec();
        bytes.push(u8::try_from(owned.len()).unwrap());
        owned.iter().for_each(|partition| bytes.extend([0, 0, 0, *partition]));
        Bytes::from(bytes)
    }
    fn join(&mut self, owned: &[u8]) -> JoinGroupResponse {
        let protocol =
            JoinGroupRequestProtocol::default().with_name(text("range")).with_metadata(Self::subscription(owned));
        let request = JoinGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_group_instance_id(self.instance.map(text))
            .with_session_timeout_ms(30_000)
            .with_rebalance_timeout_ms(30_000)
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol]);
        let mut response = self.connection.call(9, &request.clone().with_member_id(text(&self.id)));
        if ErrorCode::new(response.error_code) == ErrorCode::MEMBER_ID_REQUIRED {
            response = self.connection.call(9, &request.with_member_id(response.member_id));
        }
        self.id = response.member_id.to_string();
        self.generation = response.generation_id;
        response
    }
    fn sync(&mut self, assignment: Option<Bytes>) -> (ErrorCode, Bytes) {
        use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
        let given = assignment
            .map(|bytes| SyncGroupRequestAssignment::default().with_member_id(text(&self.id)).with_assignment(bytes));
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id))
            .with_group_instance_id(self.instance.map(text))
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text("range")))
            .with_assignments(given.into_iter().collect());
        let response = self.connection.call(5, &request);
        (ErrorCode::new(response.error_code), response.assignment)
    }
    fn beat(&mut self) -> ErrorCode {
        let request = HeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id));
        ErrorCode::new(self.connection.call(4, &request).error_code)
    }
}
/// An assignment of the classic protocol: these partitions of `t`.
fn assigned(partitions: &[u8]) -> Bytes {
    let mut bytes = b"\0\x01\0\0\0\x01\0\x01t\0\0\0".to_vec();
    bytes.push(u8::try_from(partitions.len()).unwrap());
    partitions.iter().for_each(|partition| bytes.extend([0, 0, 0, *partition]));
    bytes.extend([0xff; 4]);
    Bytes::from(bytes)
}

#[tokio::test]
async fn a_group_goes_to_the_new_protocol_and_back_while_it_works() {
    let cluster = cluster().await;
    let mut old = Classic::of(&cluster);
    assert_eq!((old.join(&[]).error_code, old.generation), (0, 1));
    assert_eq!(old.sync(Some(assigned(&[0, 1, 2, 3]))).0, ErrorCode::NONE);

    // The first member of the new protocol converts the group; the old one keeps what it has until it joins again.
    let mut new = Member::of(&cluster, "new");
    new.join(&["t"]);
    assert_eq!((new.epoch, new.count()), (2, 0));
    let group = describe(&cluster);
    assert_eq!((group.group_state.as_str(), group.members.len()), ("Reconciling", 2));
    assert_eq!(old.beat(), ErrorCode::REBALANCE_IN_PROGRESS);
    // It has to give up two, which it says by joining again.
    assert_eq!((old.join(&[0, 1, 2, 3]).error_code, old.generation), (0, 1));
    let (code, kept) = old.sync(None);
    assert_eq!((code, kept.len()), (ErrorCode::NONE, assigned(&[0, 1]).len()));
    assert_eq!(old.beat(), ErrorCode::REBALANCE_IN_PROGRESS);
    assert_eq!((old.join(&[kept[16], kept[20]]).error_code, old.generation), (0, 2));
    assert_eq!((old.sync(None), old.beat()), ((ErrorCode::NONE, kept), ErrorCode::NONE));
    new.beat();
    assert_eq!((new.count(), state(&cluster).as_str()), (2, "Stable"));

    // The last one of the new protocol goes: the group is classic again, and its members share anew.
    assert_eq!(new.leave(-1), ErrorCode::NONE);
    assert_eq!(old.beat(), ErrorCode::REBALANCE_IN_PROGRESS);
    assert_eq!(old.join(&[0]).leader.as_str(), old.id);
    assert_eq!(old.generation, 3);
    assert_eq!(old.sync(Some(assigned(&[0, 1, 2, 3]))), (ErrorCode::NONE, assigned(&[0, 1, 2, 3])));
    let leave = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_member_id(text(&old.id));
    assert_eq!(old.connection.call(2, &leave).error_code, 0);
}

/// Found beside a real Kafka, which takes an epoch for a reason to join again only when there is a target for it (KIP-1263).
#[tokio::test]
async fn a_classic_member_joins_again_for_a_target_and_not_for_an_epoch() {
    let cluster = cluster().await;
    let mut old = Classic::of(&cluster);
    assert_eq!(old.join(&[]).error_code, 0);
    assert_eq!(old.sync(Some(assigned(&[0]))).0, ErrorCode::NONE);
    let [mut one, mut other] = ["one", "other"].map(|id| Member::of(&cluster, id));
    one.join(&["t"]);
    other.join(&["t"]);
    old.join(&[]);
    let epoch = old.generation;
    assert_eq!(other.leave(-1), ErrorCode::NONE);
    let group = describe(&cluster);
    assert_eq!(
        (group.group_state.as_str(), group.assignment_epoch, group.group_epoch),
        ("Assigning", epoch, epoch + 1)
    );
    assert_eq!((old.beat(), old.sync(None).0), (ErrorCode::NONE, ErrorCode::NONE));
    one.beat();
    assert_eq!((old.beat(), old.sync(None).0), (ErrorCode::REBALANCE_IN_PROGRESS, ErrorCode::REBALANCE_IN_PROGRESS));
}

/// Found beside a real Kafka: the group's target goes over, whether its members have come to it or not.
#[tokio::test]
async fn a_group_that_goes_back_gives_its_members_what_they_were_to_have() {
    let cluster = cluster().await;
    let mut old = Classic::of(&cluster);
    assert_eq!(old.join(&[]).error_code, 0);
    assert_eq!(old.sync(Some(assigned(&[0, 1, 2, 3]))).0, ErrorCode::NONE);
    let mut new = Member::of(&cluster, "new");
    new.join(&["t"]);
    assert_eq!(new.leave(-1), ErrorCode::NONE);
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]);
    let described = Connection::to(&cluster, 0).call(5, &request).groups.remove(0);
    assert_eq!(described.group_state.as_str(), "PreparingRebalance");
    assert_eq!(described.members[0].member_assignment, assigned(&[0, 1]));
}

/// Found beside a real Kafka: nobody shares anew, as nothing but the protocol has changed. It was refused the other way round, as if one of the
/// classic protocol had to say that it comes back.
#[tokio::test]
async fn a_static_member_takes_its_group_along_to_the_other_protocol() {
    let cluster = cluster().await;
    let mut new = Member { instance: Some("i"), ..Member::of(&cluster, "new") };
    new.join(&["t"]);
    assert_eq!((new.epoch, new.count()), (2, 4));
    let mut old = Classic { instance: Some("i"), ..Classic::of(&cluster) };
    assert_eq!((old.join(&[]).error_code, old.generation), (0, 2));
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]);
    let described = Connection::to(&cluster, 0).call(5, &request).groups.remove(0);
    assert_eq!((described.group_state.as_str(), described.members.len()), ("Stable", 1));
    assert_eq!(old.sync(None), (ErrorCode::NONE, assigned(&[0, 1, 2, 3])));
    assert_eq!(code(&new.beat()), ErrorCode::GROUP_ID_NOT_FOUND, "it is a classic group");
    assert_eq!((code(&new.join(&["t"])), new.count()), (ErrorCode::NONE, 4));
    assert_eq!((describe(&cluster).members.len(), old.beat()), (1, ErrorCode::UNKNOWN_MEMBER_ID));
}

/// Found beside a real Kafka, which makes room for a classic group before it looks whether there is such a member, and writes nothing down.
#[tokio::test]
async fn who_joins_an_empty_group_with_an_id_has_it_forgotten() {
    let builder = TestCluster::builder().topic("t", 4).config("offsets.topic.num.partitions", "1");
    let cluster = builder.start().await;
    let mut member = Member::of(&cluster, "m");
    member.join(&["t"]);
    assert_eq!(member.leave(-1), ErrorCode::NONE);
    let epoch = describe(&cluster).group_epoch;
    let mut stale = Classic { id: "stale".to_owned(), ..Classic::of(&cluster) };
    assert_eq!(ErrorCode::new(stale.join(&[]).error_code), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!((describe(&cluster).group_state.as_str(), describe(&cluster).group_epoch), ("Empty", epoch));
    let request = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("g"))]);
    let deleted = Connection::to(&cluster, 0).call(2, &request).results.remove(0);
    assert_eq!(ErrorCode::new(deleted.error_code), ErrorCode::GROUP_ID_NOT_FOUND, "though it is shown");
    // Whatever is written next, here of another group.
    let request = member.quiet().with_group_id(GroupId(text("other"))).with_member_epoch(0);
    let request = request.with_rebalance_timeout_ms(1000).with_topic_partitions(Some(Vec::new()));
    assert_eq!(code(&member.send(&request.with_subscribed_topic_names(Some(Vec::new())))), ErrorCode::NONE);
    assert_eq!(ErrorCode::new(describe(&cluster).error_code), ErrorCode::GROUP_ID_NOT_FOUND);
    member.join(&["t"]);
    assert_eq!((member.epoch, member.count()), (2, 4), "a new one");
}

/// Found beside a real Kafka: a group that was founded by who got but an id, or was refused, was not shown.
#[tokio::test]
async fn who_wants_to_join_founds_a_group_that_is_shown() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let join = |group: &str, kind: &str| {
        let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
        JoinGroupRequest::default()
            .with_group_id(GroupId(text(group)))
            .with_session_timeout_ms(30_000)
            .with_protocol_type(text(kind))
            .with_protocols(vec![protocol])
    };
    let mut code = |request: JoinGroupRequest| ErrorCode::new(connection.call(9, &request).error_code);
    assert_eq!(code(join("given", "consumer")), ErrorCode::MEMBER_ID_REQUIRED);
    assert_eq!(code(join("refused", "")), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let listed = connection.call(5, &ListGroupsRequest::default()).groups;
    let told = listed.iter().map(|group| format!("{} {}", group.group_id.as_str(), group.group_state));
    assert_eq!(told.collect::<Vec<_>>(), ["given Empty", "refused Empty"]);
}

/// The first of a member's own protocols counts, as long as it offers one that all support; what it offered last counts as well.
#[tokio::test]
async fn a_classic_member_of_a_consumer_group_still_supports_what_it_did() {
    let cluster = cluster().await;
    let mut new = Member::of(&cluster, "new");
    new.join(&["t"]);
    let mut old = Classic::of(&cluster);
    assert_eq!(old.join(&[]).protocol_name.as_deref(), Some("range"));
    let mut offer = |names: &[&str]| {
        let protocol = |name: &&str| {
            JoinGroupRequestProtocol::default().with_name(text(name)).with_metadata(Classic::subscription(&[]))
        };
        let request = JoinGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text(&old.id))
            .with_session_timeout_ms(30_000)
            .with_rebalance_timeout_ms(30_000)
            .with_protocol_type(text("consumer"))
            .with_protocols(names.iter().map(protocol).collect());
        let response = old.connection.call(9, &request);
        (ErrorCode::new(response.error_code), response.protocol_name.unwrap_or_default().to_string())
    };
    assert_eq!(offer(&["odd"]), (ErrorCode::INCONSISTENT_GROUP_PROTOCOL, String::new()));
    assert_eq!(offer(&["odd", "range"]), (ErrorCode::NONE, "odd".to_owned()));
}

#[tokio::test]
async fn a_policy_may_forbid_the_new_protocol() {
    let cluster =
        TestCluster::builder().topic("t", 1).config("group.consumer.migration.policy", "disabled").start().await;
    let mut old = Classic::of(&cluster);
    old.join(&[]);
    let refused = Member::of(&cluster, "new").join(&["t"]);
    assert_eq!(code(&refused), ErrorCode::GROUP_ID_NOT_FOUND);
    let sentence = "Cannot upgrade classic group g to consumer group because online upgrade is disabled.";
    assert_eq!(refused.error_message.as_deref(), Some(sentence));
    // An empty group has nobody to disturb.
    let leave = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_member_id(text(&old.id));
    assert_eq!(old.connection.call(2, &leave).error_code, 0);
    assert_eq!(code(&Member::of(&cluster, "new").join(&["t"])), ErrorCode::NONE);
}

#[tokio::test]
async fn without_the_feature_there_are_no_consumer_groups() {
    let cluster = TestCluster::builder().topic("t", 1).config("group.version", "0").start().await;
    assert_eq!(code(&Member::of(&cluster, "one").join(&["t"])), ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(describe(&cluster).error_code, ErrorCode::UNSUPPORTED_VERSION.get());
}
