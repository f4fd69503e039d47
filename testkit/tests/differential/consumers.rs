//! Groups of the consumer protocol (KIP-848): ConsumerGroupHeartbeat of members that come, take, give up and go, and
//! ConsumerGroupDescribe.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::ids::{Beating, Ids};
use crate::moved;
use crate::pair::{ADMINISTRATOR, Kind, Pair};
use millstream_protocol::messages::consumer_group_describe_response::{Assignment, Member};
use millstream_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use millstream_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse, GroupId, StrBytes, TopicName, Uuid,
};
use millstream_protocol::{ApiKey, ErrorCode};
use std::time::{Duration, Instant};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, beat),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, beat),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, beat),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, reconcile),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, reconcile),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, refused),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, match_names),
        (ApiKey::CONSUMER_GROUP_HEARTBEAT, match_names),
        (ApiKey::CONSUMER_GROUP_DESCRIBE, describe),
    ]
}

const LONG_MS: i32 = 600_000;

/// Somebody of the consumer protocol, who calls itself by the test's name for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Consumer {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    instance: Option<&'static str>,
    /// Asks for its id, which it then does not share a group for: partitions are given out in the order of ids.
    asks_for_id: bool,
}
const fn consumer(name: &'static str, group: &'static str) -> Consumer {
    Consumer { name, group, instance: None, asks_for_id: false }
}
/// The group whose members ask for topics by expressions.
const MATCHING: &str = "new-r";
/// What there is between two resolutions of a group's expressions, and how exactly that is known of both sides.
const RESOLUTIONS_APART: Duration = Duration::from_secs(10);
const ABOUT: Duration = Duration::from_millis(300);

pub(crate) const CONSUMERS: &[Consumer] = &[
    consumer("n1", "new-a"),
    consumer("n2", "new-a"),
    Consumer { instance: Some("inst-3"), ..consumer("n3", "new-a") },
    consumer("m1", "new-b"),
    consumer("m2", "new-b"),
    Consumer { asks_for_id: true, ..consumer("alone", "new-c") },
    consumer("r1", MATCHING),
    consumer("r2", MATCHING),
    // After whatever ids a broker gives.
    consumer("~1", moved::GROUP),
    consumer("~2", moved::GROUP),
    Consumer { instance: Some(moved::INSTANCE), ..consumer("~3", moved::STATIC_GROUP) },
    consumer("~4", moved::STATIC_GROUP),
];
impl Consumer {
    pub(crate) fn known(&self, ids: &Ids) -> Beating {
        ids.beating.get(self.name).cloned().unwrap_or_else(|| Beating { id: text(self.name), ..Beating::default() })
    }
    fn is_member(&self, ids: &Ids) -> bool {
        ids.beating.get(self.name).is_some_and(|beating| beating.epoch > 0)
    }
}

/// What a heartbeat says besides that its member is there.
#[derive(Debug, Clone)]
enum Says {
    Joins {
        topics: Vec<&'static str>,
        assignor: Option<&'static str>,
    },
    Nothing,
    WhatItHas,
    Subscribes(Vec<&'static str>),
    Prefers(&'static str),
    /// Joins or stays with an expression for names, none of which is one that other steps make and delete.
    Matches(&'static str),
    Leaves,
    LeavesForAWhile,
}

const SUBSCRIPTIONS: &[&[&str]] = &[&["plain"], &["plain", "compacted"], &["plain", "compacted"], &["missing"], &[]];

fn beat(pair: &mut Pair, chance: &mut Chance) {
    let consumer = chance.pick(CONSUMERS);
    let topics = chance.pick(SUBSCRIPTIONS).to_vec();
    let says = if consumer.is_member(&pair.ours.ids) {
        match chance.below(12) {
            0 => Says::Leaves,
            1 if consumer.instance.is_some() => Says::LeavesForAWhile,
            2 | 3 if !moved::is_moved(consumer.group) => Says::Subscribes(topics),
            4 => joins(chance, consumer),
            5 if consumer.group == "new-b" => Says::Prefers(chance.word(&["range", "uniform"])),
            5..=7 => Says::Nothing,
            _ => Says::WhatItHas,
        }
    } else {
        joins(chance, consumer)
    };
    send(pair, chance, consumer, &says);
}
fn joins(chance: &mut Chance, consumer: &Consumer) -> Says {
    let assignor =
        (["new-a", MATCHING].contains(&consumer.group) || moved::is_moved(consumer.group)).then_some("range");
    // Members with the same subscription are treated alike, so that it does not matter whom Kafka's map names first.
    let has_usual = consumer.group == "new-b" || moved::is_moved(consumer.group);
    let topics = if has_usual { vec!["plain"] } else { chance.pick(SUBSCRIPTIONS).to_vec() };
    Says::Joins { topics, assignor }
}
/// All members of a group say what they have until nobody is told anything else.
fn reconcile(pair: &mut Pair, chance: &mut Chance) {
    let group = chance.word(&["new-a", "new-a", "new-b"]);
    for _ in 0..2 {
        for consumer in CONSUMERS.iter().filter(|consumer| consumer.group == group) {
            if consumer.is_member(&pair.ours.ids) {
                send(pair, chance, consumer, &Says::WhatItHas);
            }
        }
    }
}
/// Comes, or says what it has.
pub(crate) fn join_or_beat(pair: &mut Pair, chance: &mut Chance, consumer: &'static Consumer) {
    let says = if consumer.is_member(&pair.ours.ids) { Says::WhatItHas } else { joins(chance, consumer) };
    send(pair, chance, consumer, &says);
}
/// Goes, whether it is there or not.
pub(crate) fn leave(pair: &mut Pair, chance: &mut Chance, consumer: &'static Consumer) {
    send(pair, chance, consumer, &Says::Leaves);
}
/// A member asks for topics by an expression, and then takes what it gets.
fn match_names(pair: &mut Pair, chance: &mut Chance) {
    let expressions = ["pl.*|comp.*", "pl.*|comp.*", "pl...", "comp.*", "nothing.*", "", "(", "[a"];
    let members: Vec<&Consumer> = CONSUMERS.iter().filter(|each| each.group == MATCHING).collect();
    let consumer = chance.pick(&members);
    for says in [Says::Matches(chance.word(&expressions)), Says::WhatItHas] {
        send(pair, chance, consumer, &says);
    }
}
/// Sends a heartbeat when it is certain whether expressions are resolved again by it, as Kafka does no more often than every ten seconds, and
/// says nothing else before they are, as Kafka does it aside.
fn heed_resolution(pair: &mut Pair, consumer: &Consumer, send: impl FnOnce(&mut Pair)) {
    if consumer.group != MATCHING {
        return send(pair);
    }
    let is_uncertain = |heard: &Instant| heard.elapsed().abs_diff(RESOLUTIONS_APART) < ABOUT;
    while pair.heard.iter().any(is_uncertain) {
        std::thread::sleep(ABOUT);
    }
    pair.heard.push(Instant::now());
    send(pair);
    describe_group(pair, MATCHING);
}
fn send(pair: &mut Pair, chance: &mut Chance, consumer: &'static Consumer, says: &Says) {
    let (min, max) = pair.versions(ApiKey::CONSUMER_GROUP_HEARTBEAT);
    let version = match says {
        _ if consumer.asks_for_id => 0,
        // Before that there are no expressions.
        Says::Matches(_) => max,
        _ => chance.version(min, max),
    };
    heed_resolution(pair, consumer, |pair| {
        pair.ask(
            Kind::Writes,
            version,
            |ids| request(consumer, says, ids),
            |response, ids| {
                learn(consumer, response, ids);
                tidy(response, ids);
            },
        );
    });
}
fn request(consumer: &Consumer, says: &Says, ids: &Ids) -> ConsumerGroupHeartbeatRequest {
    let known = consumer.known(ids);
    let has = || known.owned.iter().map(|(id, partitions)| topic_partitions(*id, partitions)).collect();
    let request = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text(consumer.group)))
        .with_member_id(known.id.clone())
        .with_instance_id(consumer.instance.map(text))
        .with_member_epoch(known.epoch)
        .with_rebalance_timeout_ms(-1)
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None);
    match says {
        Says::Joins { topics, assignor } => {
            let is_new = known.epoch == 0 && consumer.asks_for_id;
            request
                .with_member_id(if is_new { StrBytes::new() } else { known.id.clone() })
                .with_member_epoch(0)
                .with_rebalance_timeout_ms(LONG_MS)
                .with_server_assignor(assignor.map(text))
                .with_subscribed_topic_names(Some(names(topics)))
                .with_topic_partitions(Some(Vec::new()))
        }
        Says::Nothing => request,
        Says::WhatItHas => request.with_topic_partitions(Some(has())).with_rebalance_timeout_ms(LONG_MS),
        Says::Subscribes(topics) => request.with_subscribed_topic_names(Some(names(topics))),
        Says::Prefers(assignor) => request.with_server_assignor(Some(text(assignor))),
        Says::Matches(expression) => {
            let expression = Some(text(expression));
            if known.epoch > 0 {
                return request.with_subscribed_topic_regex(expression);
            }
            request
                .with_rebalance_timeout_ms(LONG_MS)
                .with_server_assignor(Some(text("range")))
                .with_subscribed_topic_regex(expression)
                .with_topic_partitions(Some(Vec::new()))
        }
        Says::Leaves => request.with_member_epoch(-1),
        Says::LeavesForAWhile => request.with_member_epoch(-2),
    }
}
fn names(topics: &[&str]) -> Vec<TopicName> {
    topics.iter().map(|topic| TopicName(text(topic))).collect()
}
fn topic_partitions(id: Uuid, partitions: &[i32]) -> TopicPartitions {
    TopicPartitions::default().with_topic_id(id).with_partitions(partitions.to_vec())
}
fn learn(consumer: &Consumer, response: &ConsumerGroupHeartbeatResponse, ids: &mut Ids) {
    let mut known = consumer.known(ids);
    match ErrorCode::new(response.error_code) {
        ErrorCode::NONE => {
            if let Some(id) = &response.member_id {
                known.id = id.clone();
            }
            if consumer.asks_for_id {
                ids.learn_member(&known.id);
            }
            known.epoch = response.member_epoch.max(0);
            if let Some(given) = &response.assignment {
                known.owned =
                    given.topic_partitions.iter().map(|each| (each.topic_id, each.partitions.clone())).collect();
            }
            if known.epoch == 0 {
                known.owned.clear();
            }
        }
        ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::FENCED_MEMBER_EPOCH | ErrorCode::FENCED_INSTANCE_ID => {
            known.epoch = 0;
            known.owned.clear();
        }
        _ => {}
    }
    ids.beating.insert(consumer.name, known);
}
fn tidy(response: &mut ConsumerGroupHeartbeatResponse, ids: &mut Ids) {
    response.member_id = response.member_id.as_ref().map(|id| ids.tidy_member(id));
    response.error_message = response.error_message.as_ref().map(|sentence| ids.tidy_sentence(sentence));
    for topic in response.assignment.iter_mut().flat_map(|given| &mut given.topic_partitions) {
        topic.topic_id = ids.tidy(topic.topic_id);
        topic.partitions.sort_unstable();
    }
    if let Some(given) = &mut response.assignment {
        given.topic_partitions.sort_by_key(|topic| topic.topic_id);
    }
}

/// Heartbeats in which one thing is wrong.
fn refused(pair: &mut Pair, chance: &mut Chance) {
    let consumer = chance.pick(CONSUMERS);
    let (min, max) = pair.versions(ApiKey::CONSUMER_GROUP_HEARTBEAT);
    let version = chance.version(min, max);
    let wrong = chance.below(16);
    let joining = joins(chance, consumer);
    let make = |ids: &Ids| {
        let known = consumer.known(ids);
        let staying = request(consumer, &Says::WhatItHas, ids);
        let joining = request(consumer, &joining, ids);
        match wrong {
            0 => staying.with_member_epoch(known.epoch + 1),
            1 => staying.with_member_epoch(known.epoch + 7),
            2 => staying.with_member_epoch(-3),
            3 => staying.with_member_id(text("nobody")).with_member_epoch(known.epoch.max(1)),
            4 => staying.with_member_id(StrBytes::new()).with_member_epoch(known.epoch.max(1)),
            5 => staying.with_group_id(GroupId(StrBytes::new())),
            6 => staying.with_group_id(GroupId(text("nothing"))).with_member_epoch(1),
            7 => staying.with_instance_id(Some(text("inst-9"))).with_member_epoch(known.epoch.max(1)),
            8 => staying.with_instance_id(Some(StrBytes::new())),
            9 => joining.with_rebalance_timeout_ms(-1),
            10 => joining.with_topic_partitions(None),
            11 => joining.with_subscribed_topic_names(None),
            12 => joining.with_server_assignor(Some(text("foo"))),
            13 => joining.with_rack_id(Some(StrBytes::new())),
            14 => joining.with_member_id(text("other")).with_instance_id(Some(text("inst-3"))).with_member_epoch(-2),
            _ => staying.with_instance_id(None).with_member_epoch(-2),
        }
    };
    heed_resolution(pair, consumer, |pair| pair.ask(Kind::Writes, version, make, tidy));
}

/// Asks for a group's state until both say the same.
pub(crate) fn describe_group(pair: &mut Pair, group: &str) {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![GroupId(text(group))]);
    pair.ask_as(ADMINISTRATOR, Kind::Reads, 1, |_| request.clone(), tidy_groups);
}
fn tidy_groups(response: &mut ConsumerGroupDescribeResponse, ids: &mut Ids) {
    response.groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    for group in &mut response.groups {
        group.members.iter_mut().for_each(|member| tidy_described(member, ids));
        group.members.sort_by(|one, other| one.member_id.cmp(&other.member_id));
        share_among_given(&mut group.members);
    }
}
/// Partitions are given out in the order of ids. Several members whose ids a broker made up stand in any order, so that only what they have among
/// them can be told.
fn share_among_given(members: &mut [Member]) {
    let mut given: Vec<&mut Member> = members.iter_mut().filter(|member| Ids::is_given(&member.member_id)).collect();
    let mut shares: Vec<_> =
        given.iter().map(|member| (member.assignment.clone(), member.target_assignment.clone())).collect();
    shares.sort_by_key(|share| format!("{share:?}"));
    for (member, (assignment, target)) in given.iter_mut().zip(shares) {
        member.assignment = assignment;
        member.target_assignment = target;
    }
}

fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::CONSUMER_GROUP_DESCRIBE);
    let version = chance.version(min, max);
    let groups: Vec<GroupId> = (0..1 + chance.below(2))
        .map(|_| {
            GroupId(text(chance.word(&["new-a", "new-a", "new-b", "new-c", MATCHING, "classic-a", "nothing", ""])))
        })
        .collect();
    let request = ConsumerGroupDescribeRequest::default()
        .with_group_ids(groups)
        .with_include_authorized_operations(chance.once_in(2));
    pair.ask(Kind::Reads, version, |_| request.clone(), tidy_groups);
}
fn tidy_described(member: &mut Member, ids: &mut Ids) {
    member.member_id = ids.tidy_member(&member.member_id);
    member.subscribed_topic_names.sort();
    [&mut member.assignment, &mut member.target_assignment].into_iter().for_each(|given| tidy_given(given, ids));
}
fn tidy_given(given: &mut Assignment, ids: &mut Ids) {
    for topic in &mut given.topic_partitions {
        topic.topic_id = ids.tidy(topic.topic_id);
        topic.partitions.sort_unstable();
    }
    given.topic_partitions.sort_by_key(|topic| topic.topic_id);
}
