//! Groups whose protocol changes while they have members (KIP-848's online migration): in each, one member of the classic protocol, which therefore
//! waits for nobody, and members of the consumer protocol come and go. In one of them the classic member and one of the others are the same
//! static member, now in this protocol, now in that.

use crate::Step;
use crate::chance::Chance;
use crate::classic::subscription;
use crate::consumers::{CONSUMERS, describe_group, join_or_beat, leave};
use crate::data::text;
use crate::held::{ask_state, tidy_left};
use crate::ids::{Ids, Joined};
use crate::pair::{Kind, Pair};
use bytes::Bytes;
use millstream_protocol::embedded::consumer_protocol_assignment::TopicPartition;
use millstream_protocol::embedded::{ConsumerProtocolAssignment, Embedded};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use millstream_protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, OffsetCommitRequest, StrBytes,
    SyncGroupRequest, TopicName,
};
use millstream_protocol::{ApiKey, ErrorCode};

/// Such a group.
#[derive(Debug)]
struct Moved {
    group: &'static str,
    /// Its member of the classic protocol.
    classic: &'static str,
    instance: Option<&'static str>,
    /// Its members of the consumer protocol, which are among [`CONSUMERS`].
    consumers: &'static [&'static str],
}
pub(crate) const GROUP: &str = "moved";
pub(crate) const STATIC_GROUP: &str = "moved-static";
/// What the static member calls itself in both protocols.
pub(crate) const INSTANCE: &str = "inst-m";
const GROUPS: &[Moved] = &[
    Moved { group: GROUP, classic: "k1", instance: None, consumers: &["~1", "~2"] },
    Moved { group: STATIC_GROUP, classic: "k2", instance: Some(INSTANCE), consumers: &["~3", "~4", "~3"] },
];
/// Whether it is one of these groups, whose members of the consumer protocol are all subscribed alike.
pub(crate) fn is_moved(group: &str) -> bool {
    GROUPS.iter().any(|moved| moved.group == group)
}
/// Longer than any run.
const LONG_MS: i32 = 600_000;

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![(ApiKey::CONSUMER_GROUP_HEARTBEAT, change), (ApiKey::JOIN_GROUP, change), (ApiKey::SYNC_GROUP, change)]
}

fn change(pair: &mut Pair, chance: &mut Chance) {
    let moved = chance.pick(GROUPS);
    for _ in 0..6 {
        let consumer = chance.pick(moved.consumers);
        let consumer = CONSUMERS.iter().find(|each| each.name == *consumer).expect("they are among all");
        match chance.below(12) {
            0..=2 => join(pair, chance, moved),
            3 | 4 => sync(pair, chance, moved),
            5 => heartbeat(pair, chance, moved),
            6..=8 => join_or_beat(pair, chance, consumer),
            9 => leave(pair, chance, consumer),
            10 => commit(pair, chance, moved),
            _ => leave_classic(pair, chance, moved),
        }
        ask_state(pair, moved.group);
        describe_group(pair, moved.group);
    }
}

impl Moved {
    fn member_id(&self, ids: &Ids) -> StrBytes {
        ids.joined.get(self.classic).map(|joined| joined.id.clone()).unwrap_or_default()
    }
    fn generation(&self, ids: &Ids) -> i32 {
        ids.joined.get(self.classic).map_or(-1, |joined| joined.generation)
    }
    fn instance(&self) -> Option<StrBytes> {
        self.instance.map(text)
    }
}

fn join(pair: &mut Pair, chance: &mut Chance, moved: &'static Moved) {
    let topic = chance.word(&["plain", "plain", "compacted"]);
    let names: &[&str] = chance.pick::<&[&str]>(&[&["range", "sticky"], &["range", "sticky"], &["sticky"], &["odd"]]);
    let version = chance.version(5, 9);
    let make = |ids: &Ids| {
        let protocol = |name: &&str| {
            JoinGroupRequestProtocol::default().with_name(text(name)).with_metadata(subscription(&[topic]))
        };
        JoinGroupRequest::default()
            .with_group_id(GroupId(text(moved.group)))
            .with_member_id(moved.member_id(ids))
            .with_group_instance_id(moved.instance())
            .with_session_timeout_ms(LONG_MS)
            .with_rebalance_timeout_ms(LONG_MS)
            .with_protocol_type(text("consumer"))
            .with_protocols(names.iter().map(protocol).collect())
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        learn(moved, response, ids);
        for id in [&mut response.member_id, &mut response.leader] {
            *id = ids.tidy_member(id);
        }
        response.members.iter_mut().for_each(|member| member.member_id = ids.tidy_member(&member.member_id));
    });
}
fn learn(moved: &Moved, response: &JoinGroupResponse, ids: &mut Ids) {
    match ErrorCode::new(response.error_code) {
        ErrorCode::NONE | ErrorCode::MEMBER_ID_REQUIRED => {
            ids.learn_member(&response.member_id);
            let leads = response.leader == response.member_id;
            let generation = if response.error_code == 0 { response.generation_id } else { -1 };
            ids.joined.insert(moved.classic, Joined { id: response.member_id.clone(), generation, leads });
        }
        ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::FENCED_INSTANCE_ID => drop(ids.joined.remove(moved.classic)),
        _ => {}
    }
}
fn sync(pair: &mut Pair, chance: &mut Chance, moved: &'static Moved) {
    let version = chance.version(3, 5);
    let partitions = chance.pick(&[vec![0, 1, 2], vec![1]]).clone();
    let make = |ids: &Ids| {
        let given = SyncGroupRequestAssignment::default()
            .with_member_id(moved.member_id(ids))
            .with_assignment(assignment(&partitions));
        SyncGroupRequest::default()
            .with_group_id(GroupId(text(moved.group)))
            .with_member_id(moved.member_id(ids))
            .with_group_instance_id(moved.instance())
            .with_generation_id(moved.generation(ids))
            .with_protocol_type((version >= 5).then(|| text("consumer")))
            .with_protocol_name(None)
            .with_assignments(vec![given])
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}
fn assignment(partitions: &[i32]) -> Bytes {
    let given = TopicPartition { topic: text("plain"), partitions: partitions.to_vec(), ..TopicPartition::default() };
    let assignment =
        ConsumerProtocolAssignment { assigned_partitions: vec![given], ..ConsumerProtocolAssignment::default() };
    assignment.encode(1).expect("a version that there is")
}
fn heartbeat(pair: &mut Pair, chance: &mut Chance, moved: &'static Moved) {
    let version = chance.version(if moved.instance.is_some() { 3 } else { 0 }, 4);
    let make = |ids: &Ids| {
        HeartbeatRequest::default()
            .with_group_id(GroupId(text(moved.group)))
            .with_member_id(moved.member_id(ids))
            .with_group_instance_id(moved.instance())
            .with_generation_id(moved.generation(ids))
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}
fn leave_classic(pair: &mut Pair, chance: &mut Chance, moved: &'static Moved) {
    let version = chance.version(3, 5);
    let make = |ids: &Ids| {
        let leaving =
            MemberIdentity::default().with_member_id(moved.member_id(ids)).with_group_instance_id(moved.instance());
        LeaveGroupRequest::default().with_group_id(GroupId(text(moved.group))).with_members(vec![leaving])
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        tidy_left(response, ids);
        ids.joined.remove(moved.classic);
    });
}
fn commit(pair: &mut Pair, chance: &mut Chance, moved: &'static Moved) {
    let version = chance.version(if moved.instance.is_some() { 7 } else { 2 }, 9);
    let make = |ids: &Ids| {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(1);
        let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text("plain")));
        OffsetCommitRequest::default()
            .with_group_id(GroupId(text(moved.group)))
            .with_member_id(moved.member_id(ids))
            .with_group_instance_id(moved.instance())
            .with_generation_id_or_member_epoch(moved.generation(ids))
            .with_topics(vec![topic.with_partitions(vec![partition])])
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}
