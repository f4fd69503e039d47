//! Groups of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, and rebalances that all members go through.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::held::{tidy_described, tidy_left};
use crate::ids::Ids;
use crate::members::{ACTORS, Actor, CLASSIC_GROUPS, Claim};
use crate::pair::{Kind, Pair};
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::embedded::consumer_protocol_assignment::TopicPartition;
use millstream_protocol::embedded::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, Embedded};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use millstream_protocol::messages::{
    DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::JOIN_GROUP, join),
        (ApiKey::JOIN_GROUP, join),
        (ApiKey::JOIN_GROUP, rebalance),
        (ApiKey::SYNC_GROUP, sync),
        (ApiKey::SYNC_GROUP, rebalance),
        (ApiKey::HEARTBEAT, heartbeat),
        (ApiKey::HEARTBEAT, heartbeat),
        (ApiKey::LEAVE_GROUP, leave),
        (ApiKey::DESCRIBE_GROUPS, describe),
    ]
}

/// Longer than any run.
const LONG_MS: i32 = 600_000;
/// From these versions on requests name static members.
pub(crate) const JOINS_STATICALLY: i16 = 5;
const SYNCS_STATICALLY: i16 = 3;
const LEAVES_STATICALLY: i16 = 3;

/// What a JoinGroup offers.
#[derive(Debug, Clone)]
struct Offer {
    group: &'static str,
    kind: &'static str,
    session_timeout_ms: i32,
    protocols: Vec<(&'static str, Bytes)>,
}
impl Offer {
    // Never the same name twice: Kafka then counts one member as two, and the group agrees on nothing any more.
    fn usual(actor: &Actor) -> Self {
        let topics: &[&str] = if actor.name.ends_with('1') { &["plain", "compacted"] } else { &["plain"] };
        let protocols = vec![("range", subscription(topics)), ("sticky", subscription(topics))];
        Self { group: actor.group, kind: "consumer", session_timeout_ms: LONG_MS, protocols }
    }
    fn choose(chance: &mut Chance, actor: &Actor) -> Self {
        let mut offer = Self::usual(actor);
        match chance.below(16) {
            0 => offer.kind = *chance.pick(&["connect", ""]),
            1 => offer.session_timeout_ms = *chance.pick(&[0, 99, -1, i32::MAX]),
            2 => offer.group = "",
            3 => offer.protocols = Vec::new(),
            4 => offer.protocols = vec![("other", Bytes::from_static(b"?"))],
            5 | 6 => offer.protocols.reverse(),
            7 => offer.protocols.truncate(1),
            8 => offer.protocols = vec![("range", Bytes::from_static(b"no subscription"))],
            9 => offer.protocols = vec![("range", subscription(&["append-time"]))],
            _ => {}
        }
        offer
    }
    fn request(&self, claim: Claim, version: i16, ids: &Ids) -> JoinGroupRequest {
        let protocol = |(name, metadata): &(&str, Bytes)| {
            JoinGroupRequestProtocol::default().with_name(text(name)).with_metadata(metadata.clone())
        };
        JoinGroupRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_member_id(claim.member_id(ids))
            .with_group_instance_id(claim.instance(version >= JOINS_STATICALLY))
            .with_session_timeout_ms(self.session_timeout_ms)
            .with_rebalance_timeout_ms(if version >= 1 { LONG_MS } else { -1 })
            .with_protocol_type(text(self.kind))
            .with_protocols(self.protocols.iter().map(protocol).collect())
    }
}
pub(crate) fn subscription(topics: &[&str]) -> Bytes {
    let topics = topics.iter().map(|topic| text(topic)).collect();
    let subscription = ConsumerProtocolSubscription { topics, ..ConsumerProtocolSubscription::default() };
    subscription.encode(1).expect("a version that there is")
}
fn assignment(actor: &Actor) -> Bytes {
    let at = ACTORS.iter().position(|each| each == actor).and_then(|at| i32::try_from(at).ok());
    let partitions = vec![at.expect("few actors")];
    let given = TopicPartition { topic: text("plain"), partitions, ..TopicPartition::default() };
    let assigned_partitions = vec![given];
    let assignment = ConsumerProtocolAssignment { assigned_partitions, ..ConsumerProtocolAssignment::default() };
    assignment.encode(1).expect("a version that there is")
}

fn join(pair: &mut Pair, chance: &mut Chance) {
    let claim = Claim::choose(chance);
    // Nobody joins twice: who forgets its id would stand in the way of its own group.
    let is_another = claim.member_id(&pair.ours.ids).is_empty() && !claim.is_true() && !claim.is_named();
    let claim = if is_another { Claim::true_of(claim.actor) } else { claim };
    let offer = Offer::choose(chance, claim.actor);
    join_as(pair, chance, claim, &offer);
}
fn join_as(pair: &mut Pair, chance: &mut Chance, claim: Claim, offer: &Offer) {
    if pair.is_held(claim.actor) {
        return;
    }
    let (min, max) = pair.versions(ApiKey::JOIN_GROUP);
    let version = chance.version(if claim.actor.instance.is_some() { min.max(JOINS_STATICALLY) } else { min }, max);
    pair.send_join(claim, version, |ids| offer.request(claim, version, ids));
    pair.settle();
}

fn sync(pair: &mut Pair, chance: &mut Chance) {
    let claim = Claim::choose(chance);
    let leads = |ids: &Ids| ids.joined.get(claim.actor.name).map(|joined| joined.leads);
    if pair.is_held(claim.actor) || leads(&pair.ours.ids) != leads(&pair.real.ids) {
        return;
    }
    send_sync(pair, chance, claim);
    pair.settle();
}
fn send_sync(pair: &mut Pair, chance: &mut Chance, claim: Claim) {
    let (min, max) = pair.versions(ApiKey::SYNC_GROUP);
    let version = chance.version(if claim.actor.instance.is_some() { min.max(SYNCS_STATICALLY) } else { min }, max);
    let (kind, protocol) = if version < 5 {
        (None, None)
    } else if claim.is_true() {
        (Some("consumer"), *chance.pick(&[None, None]))
    } else {
        (*chance.pick(&[None, Some("consumer"), Some("connect")]), *chance.pick(&[None, Some("range"), Some("odd")]))
    };
    pair.send_sync(claim, version, |ids| {
        let leads = ids.joined.get(claim.actor.name).is_some_and(|joined| joined.leads);
        SyncGroupRequest::default()
            .with_group_id(GroupId(text(claim.actor.group)))
            .with_member_id(claim.member_id(ids))
            .with_group_instance_id(claim.instance(version >= SYNCS_STATICALLY))
            .with_generation_id(claim.generation(ids))
            .with_protocol_type(kind.map(text))
            .with_protocol_name(protocol.map(text))
            .with_assignments(if leads { assignments(claim.actor.group, ids) } else { Vec::new() })
    });
}
fn assignments(group: &str, ids: &Ids) -> Vec<SyncGroupRequestAssignment> {
    let known = ACTORS.iter().filter(|actor| actor.group == group);
    let each = known.filter_map(|actor| {
        let joined = ids.joined.get(actor.name)?;
        let given = SyncGroupRequestAssignment::default().with_member_id(joined.id.clone());
        Some(given.with_assignment(assignment(actor)))
    });
    each.collect()
}

/// Brings a group's members together: all join, and all ask for what they are given.
fn rebalance(pair: &mut Pair, chance: &mut Chance) {
    let group = chance.word(CLASSIC_GROUPS);
    for actor in ACTORS.iter().filter(|actor| actor.group == group) {
        let takes_part = pair.ours.ids.joined.contains_key(actor.name) || chance.once_in(3);
        // The second time with the id that the first has brought.
        for _ in 0..2 {
            if takes_part && pair.ours.ids.joined.get(actor.name).is_none_or(|joined| joined.generation < 0) {
                join_as(pair, chance, Claim::true_of(actor), &Offer::usual(actor));
            }
        }
        if takes_part && !chance.once_in(4) {
            join_as(pair, chance, Claim::true_of(actor), &Offer::usual(actor));
        }
    }
    for actor in ACTORS.iter().filter(|actor| actor.group == group) {
        if pair.ours.ids.joined.contains_key(actor.name) && !pair.is_held(actor) {
            send_sync(pair, chance, Claim::true_of(actor));
        }
    }
    pair.settle();
}

fn heartbeat(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::HEARTBEAT);
    let (version, claim) = (chance.version(min, max), Claim::choose(chance));
    let group = if chance.once_in(12) { *chance.pick(&["", "nothing", "g1"]) } else { claim.actor.group };
    let make = |ids: &Ids| {
        HeartbeatRequest::default()
            .with_group_id(GroupId(text(group)))
            .with_member_id(claim.member_id(ids))
            .with_group_instance_id(claim.instance(version >= 3))
            .with_generation_id(claim.generation(ids))
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}

fn leave(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LEAVE_GROUP);
    let (version, claim) = (chance.version(min, max), Claim::choose(chance));
    let also = Claim::choose(chance);
    let claims = if chance.once_in(4) { vec![claim, also] } else { vec![claim] };
    let group = if chance.once_in(12) { *chance.pick(&["", "nothing", "g1"]) } else { claim.actor.group };
    let make = |ids: &Ids| {
        let request = LeaveGroupRequest::default().with_group_id(GroupId(text(group)));
        if version < LEAVES_STATICALLY {
            return request.with_member_id(claim.member_id(ids));
        }
        let members = claims.iter().map(|claim| {
            MemberIdentity::default().with_member_id(claim.member_id(ids)).with_group_instance_id(claim.instance(true))
        });
        request.with_members(members.collect())
    };
    pair.ask(Kind::Writes, version, make, tidy_left);
    pair.settle();
    claims.iter().for_each(|claim| pair.forget_held_sync(claim.actor));
}

fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_GROUPS);
    let version = chance.version(min, max);
    let groups: Vec<GroupId> = (0..1 + chance.below(2))
        .map(|_| GroupId(text(chance.word(&["classic-a", "classic-b", "g1", "nothing", "", "new-a", "new-b"]))))
        .collect();
    let request = DescribeGroupsRequest::default()
        .with_groups(groups)
        .with_include_authorized_operations(version >= 3 && chance.once_in(2));
    pair.ask(Kind::Reads, version, |_| request.clone(), tidy_described);
}
