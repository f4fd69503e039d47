//! Routes about brokers, and about what moves between them.

use super::answer::{Answer, Refusal};
use super::bodies::{
    BrokerId, ControllerMove, CoordinatorMove, Follower, FollowerAt, LeaderAnswer, LeaderMove, NewTerm,
};
use super::route::{Asked, Route};
use crate::TestCluster;
use crate::broker::{PushedLeader, ReplicaState};
use hyper::Method;
use millstream_protocol::NodeId;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::POST, "/brokers", add_broker),
        Route::new(Method::DELETE, "/brokers/{id}", |asked| act(asked, TestCluster::remove_broker)),
        Route::new(Method::POST, "/brokers/{id}/crash", |asked| act(asked, TestCluster::crash)),
        Route::new(Method::POST, "/brokers/{id}/stop", |asked| try_act(asked, TestCluster::try_stop)),
        Route::new(Method::POST, "/brokers/{id}/restart", |asked| try_act(asked, TestCluster::try_restart)),
        Route::new(Method::POST, "/brokers/{id}/pause", |asked| try_act(asked, TestCluster::try_pause)),
        Route::new(Method::POST, "/brokers/{id}/resume", |asked| try_act(asked, TestCluster::try_resume)),
        Route::new(Method::POST, "/brokers/{id}/hide", |asked| act(asked, TestCluster::hide)),
        Route::new(Method::POST, "/brokers/{id}/show", |asked| act(asked, TestCluster::show)),
        Route::new(Method::POST, "/topology/leader", move_leader).reading(),
        Route::new(Method::POST, "/topology/leader-epoch", bump_leader_epoch).reading(),
        Route::new(Method::POST, "/topology/leader-answer", push_leader_answer).reading(),
        Route::new(Method::POST, "/topology/unclean-election", elect_unclean).reading(),
        Route::new(Method::POST, "/topology/follower/hold", |asked| hold_follower(asked, true)).reading(),
        Route::new(Method::POST, "/topology/follower/release", |asked| hold_follower(asked, false)).reading(),
        Route::new(Method::POST, "/topology/follower/advance", advance_follower).reading(),
        Route::new(Method::POST, "/topology/follower/start", start_follower).reading(),
        Route::new(Method::POST, "/topology/coordinator", move_coordinator).reading(),
        Route::new(Method::POST, "/topology/controller", move_controller).reading(),
    ]
}

pub(super) fn known(asked: &Asked<'_>, id: i32) -> Result<NodeId, Refusal> {
    let node = NodeId::new(id);
    let is_there = asked.cluster.look(|broker| broker.has_node(node));
    if is_there {
        return Ok(node);
    }
    let ids = asked.cluster.look(|broker| broker.node_states().map(|(id, ..)| id.to_string()).collect::<Vec<_>>());
    Err(Refusal::missing(format!("there is no broker {id}; there are {}", ids.join(", "))))
}
/// A broker that is there and up.
fn up(asked: &Asked<'_>, id: i32) -> Result<NodeId, Refusal> {
    let node = known(asked, id)?;
    let is_up =
        asked.cluster.look(|broker| broker.node_states().any(|(known, state, _)| known == node && state.is_up()));
    let down = || Refusal::conflict(format!("broker {id} is down; POST /brokers/{id}/restart brings it back"));
    if is_up { Ok(node) } else { Err(down()) }
}
/// Refuses a partition that there is not.
pub(super) fn check_partition(asked: &Asked<'_>, topic: &str, partition: i32) -> Result<(), Refusal> {
    let state = asked.cluster.look(|broker| broker.topic_state(topic));
    let partitions = state.ok_or_else(|| super::topics::missing(topic))?.partitions;
    if partitions.iter().any(|state| state.index == partition) {
        return Ok(());
    }
    let last = partitions.len().saturating_sub(1);
    Err(Refusal::missing(format!("topic `{topic}` has no partition {partition}; it has 0 to {last}")))
}
/// The broker that the path names.
pub(super) fn node_in_path(asked: &Asked<'_>) -> Result<NodeId, Refusal> {
    known(asked, asked.number("id")?)
}
fn act(asked: &Asked<'_>, act: fn(&TestCluster, NodeId)) -> Result<Answer, Refusal> {
    act(asked.cluster, node_in_path(asked)?);
    Ok(Answer::Nothing)
}
/// The same, where the broker's state may forbid it.
fn try_act<E: ToString>(asked: &Asked<'_>, act: fn(&TestCluster, NodeId) -> Result<(), E>) -> Result<Answer, Refusal> {
    act(asked.cluster, node_in_path(asked)?).map_err(Refusal::conflict)?;
    Ok(Answer::Nothing)
}
fn move_leader(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let LeaderMove { topic, partition, node, keeps_epoch } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let to = node.map(|id| up(asked, id)).transpose()?;
    let moved = asked.cluster.with_broker(|broker| match to {
        Some(to) if keeps_epoch => broker.move_leader_within_epoch(&topic, partition, to),
        Some(to) => broker.move_leader(&topic, partition, to),
        None => broker.depose(&topic, partition),
    });
    done(moved, || format!("{topic}-{partition} is gone, or the broker is down"))
}
fn bump_leader_epoch(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let NewTerm { topic, partition } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let bumped = asked.cluster.with_broker(|broker| broker.bump_leader_epoch(&topic, partition));
    done(bumped, || format!("{topic}-{partition} is gone"))
}
fn push_leader_answer(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let LeaderAnswer { topic, partition, node, leader_epoch } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let told = PushedLeader { leader: NodeId::new(node), leader_epoch };
    told.check().map_err(Refusal::bad)?;
    let pushed = asked.cluster.with_broker(|broker| broker.push_leader_answer(&topic, partition, told));
    done(pushed, || format!("{topic}-{partition} is gone"))
}
fn elect_unclean(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let NewTerm { topic, partition } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let elected = asked.cluster.with_broker(|broker| broker.elect_unclean(&topic, partition));
    let none = || format!("no replica of {topic}-{partition} is up; POST /brokers/{{id}}/restart brings a broker back");
    if elected { Ok(Answer::Nothing) } else { Err(Refusal::conflict(none())) }
}
fn hold_follower(asked: &Asked<'_>, holds: bool) -> Result<Answer, Refusal> {
    let Follower { topic, partition, node } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let id = known(asked, node)?;
    if holds {
        follower(asked, &topic, partition, id)?;
    }
    let held = asked.cluster.with_broker(|broker| broker.hold_replica(&topic, partition, id, holds));
    done(held, || no_replica(&topic, partition, node))
}
fn advance_follower(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let FollowerAt { topic, partition, node, offset } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let id = known(asked, node)?;
    if !follower(asked, &topic, partition, id)?.is_held {
        let why = format!("broker {node} is not held at {topic}-{partition}, so that it has all there is");
        return Err(Refusal::conflict(format!("{why}; POST /topology/follower/hold first")));
    }
    check_offset(asked, &topic, partition, offset)?;
    asked.cluster.with_broker(|broker| broker.advance_replica(&topic, partition, id, offset));
    Ok(Answer::Nothing)
}
fn start_follower(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let FollowerAt { topic, partition, node, offset } = asked.body()?;
    check_partition(asked, &topic, partition)?;
    let id = known(asked, node)?;
    follower(asked, &topic, partition, id)?;
    check_offset(asked, &topic, partition, offset)?;
    asked.cluster.with_broker(|broker| broker.set_replica_start(&topic, partition, id, offset));
    Ok(Answer::Nothing)
}
/// Refuses an offset that no replica can have, since the leader's log ends below it.
fn check_offset(asked: &Asked<'_>, topic: &str, partition: i32, offset: i64) -> Result<(), Refusal> {
    asked.cluster.look(|broker| broker.check_offset(topic, partition, offset)).map_err(Refusal::bad)
}
/// A replica that follows.
fn follower(asked: &Asked<'_>, topic: &str, partition: i32, node: NodeId) -> Result<ReplicaState, Refusal> {
    let state = asked.cluster.look(|broker| broker.replica_state(topic, partition, node));
    match state {
        None => Err(Refusal::missing(no_replica(topic, partition, node.get()))),
        Some(state) if state.is_leader => {
            let why = format!("broker {node} leads {topic}-{partition}, and follows nobody there");
            Err(Refusal::conflict(format!("{why}; name a follower, or move the leader first (POST /topology/leader)")))
        }
        Some(state) => Ok(state),
    }
}
fn no_replica(topic: &str, partition: i32, node: i32) -> String {
    format!("broker {node} has no replica of {topic}-{partition}; GET /topics/{topic} says who has")
}
fn add_broker(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let added = asked.cluster.try_add_broker();
    let id = added.map_err(|error| Refusal::conflict(format!("no broker can be added: {error}")))?;
    Answer::created(&BrokerId { id: id.get() })
}
fn move_coordinator(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let CoordinatorMove { id, node } = asked.body()?;
    asked.cluster.move_coordinator(&id, up(asked, node)?);
    Ok(Answer::Nothing)
}
fn move_controller(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let ControllerMove { node } = asked.body()?;
    asked.cluster.move_controller(up(asked, node)?);
    Ok(Answer::Nothing)
}
fn done(is_done: bool, reason: impl FnOnce() -> String) -> Result<Answer, Refusal> {
    if is_done { Ok(Answer::Nothing) } else { Err(Refusal::missing(reason())) }
}
