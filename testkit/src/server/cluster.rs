//! Routes about the cluster as a whole: a look, its time, its markers, a new beginning, and what this port is.

use super::answer::{Answer, Refusal};
use super::bodies::{Advance, BrokerView, ClusterView, Time, Versions};
use super::route::{Asked, Route};
use crate::broker::{NodeState, served};
use crate::faults::{api_named, no_api};
use hyper::Method;
use std::time::Duration;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/", look),
        Route::new(Method::POST, "/reset", reset),
        Route::new(Method::POST, "/time/advance", advance).reading(),
        Route::new(Method::POST, "/markers/hold", hold_markers),
        Route::new(Method::POST, "/markers/release", release_markers),
        Route::new(Method::POST, "/retention", apply_retention),
        Route::new(Method::PUT, "/apis/{api}", set_versions).reading(),
        Route::new(Method::GET, "/openapi.yaml", describe),
    ]
}

fn look(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let cluster = asked.cluster;
    let view = cluster.look(|broker| ClusterView {
        bootstrap: cluster.bootstrap_servers(),
        cluster_id: broker.cluster_id().to_owned(),
        time_ms: cluster.time().as_millis(),
        controller: broker.controller().map(millstream_protocol::NodeId::get),
        brokers: broker
            .node_states()
            .map(|(id, state, is_hidden)| BrokerView {
                id: id.get(),
                state: state.name(),
                is_up: state.is_up(),
                is_hidden,
                is_paused: matches!(state, NodeState::Paused | NodeState::Fenced),
            })
            .collect(),
    });
    Answer::json(&view)
}
fn reset(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    asked.cluster.reset().map_err(Refusal::conflict)?;
    Ok(Answer::Nothing)
}
fn advance(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let Advance { ms } = asked.body()?;
    asked.cluster.try_advance_brokers(Duration::from_millis(ms)).map_err(Refusal::bad)?;
    Answer::json(&Time { time_ms: asked.cluster.time().as_millis() })
}
fn hold_markers(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    asked.cluster.hold_transaction_markers();
    Ok(Answer::Nothing)
}
fn release_markers(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    asked.cluster.release_transaction_markers();
    Ok(Answer::Nothing)
}
fn apply_retention(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    asked.cluster.apply_retention();
    Ok(Answer::Nothing)
}
fn set_versions(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let Versions { min, max } = asked.body()?;
    let name = asked.place("api");
    let api = api_named(name).ok_or_else(|| Refusal::missing(no_api(name)))?;
    let served = served(api).ok_or_else(|| Refusal::bad(format!("these brokers do not serve {api}")))?;
    if max < min || min < served.min() || max > served.max() {
        let (lowest, highest) = (served.min(), served.max());
        let reason = format!("{api} cannot have the versions {min} to {max}: choose some of {lowest} to {highest}");
        return Err(Refusal::bad(reason));
    }
    asked.cluster.set_api_versions(api, min, max);
    Ok(Answer::Nothing)
}
fn describe(_: &Asked<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Text("application/yaml", include_str!("../../openapi.yaml").to_owned()))
}
