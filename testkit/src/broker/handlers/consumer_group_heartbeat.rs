//! ConsumerGroupHeartbeat (KIP-848): joins, stays in, leaves; in version 0 the broker gives the member its id.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call, Refusal};
use crate::broker::groups::consumer::assignor::Assignor;
use crate::broker::groups::consumer::heartbeat::{Beaten, Heartbeat, owned};
use crate::broker::groups::consumer::member::{AWAY, Assignment};
use crate::broker::own;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::consumer_group_heartbeat_response::{Assignment as Given, TopicPartitions};
use millstream_protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, StrBytes};
use std::time::Duration;

/// From this version on the client makes up its id.
const OWN_ID_SINCE: i16 = 1;

pub(super) struct ConsumerGroupHeartbeat;

impl Handler for ConsumerGroupHeartbeat {
    type Request = ConsumerGroupHeartbeatRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: ConsumerGroupHeartbeatRequest,
    ) -> Answer<ConsumerGroupHeartbeatResponse> {
        Answer::Reply(match beat(broker, call, request) {
            Ok((member_id, beaten)) => told(member_id, beaten),
            Err((code, sentence)) => Self::refuse_with(code)
                .with_error_message(Some(StrBytes::from_string(sentence)).filter(|text| !text.is_empty())),
        })
    }
    fn when_full(_: &Broker, request: &ConsumerGroupHeartbeatRequest) -> Option<ErrorCode> {
        let subscribes = request.subscribed_topic_names.is_some() || request.subscribed_topic_regex.is_some();
        (subscribes && request.member_epoch >= 0).then_some(ErrorCode::GROUP_MAX_SIZE_REACHED)
    }
    fn comer(broker: &Broker, request: &ConsumerGroupHeartbeatRequest) -> Comer {
        Comer::who(broker.groups.has_member(&request.group_id.0, &request.member_id, request.instance_id.as_deref()))
    }
    fn refuse(_: &ConsumerGroupHeartbeatRequest, code: ErrorCode) -> ConsumerGroupHeartbeatResponse {
        Self::refuse_with(code)
    }
}
impl ConsumerGroupHeartbeat {
    fn refuse_with(code: ErrorCode) -> ConsumerGroupHeartbeatResponse {
        ConsumerGroupHeartbeatResponse::default()
            .with_error_code(code.get())
            .with_error_message(None)
            .with_member_id(None)
    }
}

fn told(member_id: StrBytes, beaten: Beaten) -> ConsumerGroupHeartbeatResponse {
    let interval = i32::try_from(beaten.heartbeat_interval.as_millis()).unwrap_or(i32::MAX);
    ConsumerGroupHeartbeatResponse::default()
        .with_error_message(None)
        .with_member_id(Some(member_id))
        .with_member_epoch(beaten.epoch)
        .with_heartbeat_interval_ms(interval)
        .with_assignment(beaten.assignment.map(given))
}
fn given(assignment: Assignment) -> Given {
    let topics = assignment.into_iter().map(|(topic, partitions)| {
        TopicPartitions::default().with_topic_id(topic).with_partitions(partitions.into_iter().collect())
    });
    Given::default().with_topic_partitions(topics.collect())
}

fn beat(
    broker: &mut Broker,
    call: &Call,
    request: ConsumerGroupHeartbeatRequest,
) -> Result<(StrBytes, Beaten), Refusal> {
    if !broker.features.has_consumer_groups() {
        return Err((ErrorCode::UNSUPPORTED_VERSION, String::new()));
    }
    check(broker, call, &request)?;
    let group = request.group_id.0.clone();
    if !broker.is_coordinator(call.node, &group) {
        return Err((ErrorCode::NOT_COORDINATOR, String::new()));
    }
    let fresh_id = if request.member_id.is_empty() { Some(broker.unique_id()) } else { None };
    let heartbeat = heartbeat(call, request, fresh_id);
    let member_id = heartbeat.member_id.clone();
    let beaten = match heartbeat.epoch {
        ..0 => broker.handle_last_heartbeat(&group, &heartbeat)?,
        _ => broker.handle_heartbeat(&group, &heartbeat)?,
    };
    broker.resolve_expressions(&group, call);
    Ok((member_id, beaten))
}
fn check(broker: &Broker, call: &Call, request: &ConsumerGroupHeartbeatRequest) -> Result<(), Refusal> {
    let invalid = |sentence: &str| Err((ErrorCode::INVALID_REQUEST, sentence.to_owned()));
    let is_empty = |text: &Option<StrBytes>| text.as_ref().is_some_and(|text| text.is_empty());
    let must_have_id = call.version >= OWN_ID_SINCE || request.member_epoch != 0;
    if must_have_id && request.member_id.is_empty() {
        return invalid("MemberId can't be empty.");
    }
    if request.group_id.0.is_empty() {
        return invalid("GroupId can't be empty.");
    }
    if is_empty(&request.instance_id) {
        return invalid("InstanceId can't be empty.");
    }
    if is_empty(&request.rack_id) {
        return invalid("RackId can't be empty.");
    }
    match request.member_epoch {
        0 => check_joining(request)?,
        AWAY if request.instance_id.is_none() => return invalid("InstanceId can't be null."),
        epoch if epoch < AWAY => return invalid("MemberEpoch is invalid."),
        _ => {}
    }
    check_assignor(broker, request.server_assignor.as_deref())
}
fn check_joining(request: &ConsumerGroupHeartbeatRequest) -> Result<(), Refusal> {
    let invalid = |sentence: &str| Err((ErrorCode::INVALID_REQUEST, sentence.to_owned()));
    if request.rebalance_timeout_ms == -1 {
        return invalid("RebalanceTimeoutMs must be provided in first request.");
    }
    if request.topic_partitions.as_ref().is_none_or(|partitions| !partitions.is_empty()) {
        return invalid("TopicPartitions must be empty when (re-)joining.");
    }
    if request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none() {
        return invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.");
    }
    Ok(())
}
fn check_assignor(broker: &Broker, name: Option<&str>) -> Result<(), Refusal> {
    let settings = &broker.settings.consumer_groups;
    let is_known = |name| Assignor::named(name).is_some_and(|assignor| settings.assignors.contains(&assignor));
    match name {
        Some(name) if !is_known(name) => {
            let known = settings.assignor_names();
            let sentence = format!("ServerAssignor {name} is not supported. Supported assignors: {known}.");
            Err((ErrorCode::UNSUPPORTED_ASSIGNOR, sentence))
        }
        _ => Ok(()),
    }
}
fn heartbeat(call: &Call, request: ConsumerGroupHeartbeatRequest, fresh_id: Option<StrBytes>) -> Heartbeat {
    let listed = |partitions: Vec<millstream_protocol::messages::consumer_group_heartbeat_request::TopicPartitions>| {
        owned(partitions.into_iter().map(|each| (each.topic_id, each.partitions)))
    };
    Heartbeat {
        member_id: fresh_id.unwrap_or_else(|| own::text(&request.member_id)),
        epoch: request.member_epoch,
        instance_id: request.instance_id.as_ref().map(own::text),
        rack_id: request.rack_id.as_ref().map(own::text),
        rebalance_timeout: u64::try_from(request.rebalance_timeout_ms).ok().map(Duration::from_millis),
        topics: request.subscribed_topic_names.map(|names| names.iter().map(|name| own::text(&name.0)).collect()),
        regex: request.subscribed_topic_regex.as_ref().map(own::text),
        assignor: request.server_assignor.as_deref().and_then(Assignor::named),
        owned: request.topic_partitions.map(listed),
        client_id: call.client_id.clone(),
        client_host: call.host.clone(),
    }
}
