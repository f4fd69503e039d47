//! Members of whom nothing is heard: short times run out on both sides, and both put the members out.

use crate::Step;
use crate::chance::Chance;
use crate::classic::subscription;
use crate::consumers::describe_group;
use crate::data::text;
use crate::held::{ask_state, tidy_left};
use crate::ids::{Ids, Joined};
use crate::pair::{Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, HeartbeatRequest, IncrementalAlterConfigsRequest, JoinGroupRequest,
    LeaveGroupRequest, TopicName,
};
use std::time::Duration;

/// A group of the consumer protocol whose sessions are as short as they may be.
const BRIEF: &str = "brief";
pub(crate) const CLASSIC: &str = "brief-classic";
const SESSION_MS: i32 = 600;
const GROUP_RESOURCE: i8 = 32;

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![(ApiKey::HEARTBEAT, fall_silent)]
}

/// Makes the sessions short.
pub(crate) fn prepare(pair: &mut Pair) {
    let option = AlterableConfig::default()
        .with_name(text("consumer.session.timeout.ms"))
        .with_value(Some(text(&SESSION_MS.to_string())));
    let resource = AlterConfigsResource::default()
        .with_resource_type(GROUP_RESOURCE)
        .with_resource_name(text(BRIEF))
        .with_configs(vec![option]);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    pair.ask(Kind::Writes, 1, |_| request.clone(), |_, _| {});
}

fn fall_silent(pair: &mut Pair, chance: &mut Chance) {
    // Every wait is one of real time.
    if !matches!(chance.versions, crate::chance::Versions::Newest) && !chance.once_in(6) {
        return;
    }
    let is_told_to_revoke = chance.once_in(2);
    beat(pair, "s1", 0, None);
    beat(pair, "s2", 0, None);
    if is_told_to_revoke {
        // It is to give up what it has, and says for ever that it has it.
        beat(pair, "s1", 1, Some(vec![0, 1, 2]));
    }
    join(pair);
    join(pair);
    std::thread::sleep(Duration::from_millis(u64::from(SESSION_MS.unsigned_abs()) + 200));
    describe_group(pair, BRIEF);
    ask_state(pair, CLASSIC);
    beat(pair, "s1", 1, Some(vec![]));
    heartbeat(pair);
    leave(pair);
}
fn beat(pair: &mut Pair, name: &str, epoch: i32, owned: Option<Vec<i32>>) {
    let is_joining = epoch == 0;
    let make = |ids: &Ids| {
        let owned = owned.clone().unwrap_or_default();
        let given = TopicPartitions::default().with_topic_id(ids.topic("plain")).with_partitions(owned.clone());
        let owned = if owned.is_empty() { Vec::new() } else { vec![given] };
        let topics = is_joining.then(|| vec![TopicName(text("plain"))]);
        let epoch = if is_joining { 0 } else { ids.beating.get("s1").map_or(1, |beating| beating.epoch) };
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text(BRIEF)))
            .with_member_id(text(name))
            .with_member_epoch(epoch)
            .with_rebalance_timeout_ms(if is_joining { 300 } else { -1 })
            .with_subscribed_topic_names(topics)
            .with_topic_partitions(Some(owned))
    };
    let is_first = name == "s1";
    pair.ask(Kind::Writes, 1, make, |response, ids| {
        if is_first && response.error_code == 0 {
            ids.beating.entry("s1").or_default().epoch = response.member_epoch;
        }
        for topic in response.assignment.iter_mut().flat_map(|given| &mut given.topic_partitions) {
            topic.topic_id = ids.tidy(topic.topic_id);
            topic.partitions.sort_unstable();
        }
    });
}
/// Joins; the second time with the id that the first has brought.
fn join(pair: &mut Pair) {
    let make = |ids: &Ids| {
        let protocol =
            JoinGroupRequestProtocol::default().with_name(text("range")).with_metadata(subscription(&["plain"]));
        JoinGroupRequest::default()
            .with_group_id(GroupId(text(CLASSIC)))
            .with_member_id(ids.joined.get("k2").map(|joined| joined.id.clone()).unwrap_or_default())
            .with_session_timeout_ms(300)
            .with_rebalance_timeout_ms(300)
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol])
    };
    pair.ask(Kind::Writes, 9, make, |response, ids| {
        if response.member_id.is_empty() {
            return;
        }
        ids.learn_member(&response.member_id);
        let joined = Joined { id: response.member_id.clone(), generation: response.generation_id, leads: true };
        ids.joined.insert("k2", joined);
        response.member_id = ids.tidy_member(&response.member_id);
        response.leader = ids.tidy_member(&response.leader);
        response.members.iter_mut().for_each(|member| member.member_id = ids.tidy_member(&member.member_id));
    });
}
fn heartbeat(pair: &mut Pair) {
    let make = |ids: &Ids| {
        let joined = ids.joined.get("k2").cloned();
        HeartbeatRequest::default()
            .with_group_id(GroupId(text(CLASSIC)))
            .with_member_id(joined.as_ref().map(|joined| joined.id.clone()).unwrap_or_default())
            .with_generation_id(joined.map_or(-1, |joined| joined.generation))
    };
    pair.ask(Kind::Writes, 4, make, |_, _| {});
}
/// Whoever is put out cannot leave; the id is forgotten.
fn leave(pair: &mut Pair) {
    let make = |ids: &Ids| {
        let id = ids.joined.get("k2").map(|joined| joined.id.clone()).unwrap_or_default();
        let leaving = MemberIdentity::default().with_member_id(id);
        LeaveGroupRequest::default().with_group_id(GroupId(text(CLASSIC))).with_members(vec![leaving])
    };
    pair.ask(Kind::Writes, 5, make, |response, ids| {
        tidy_left(response, ids);
        ids.joined.remove("k2");
    });
}
