//! Routes about faults of requests and of links.

use super::answer::{Answer, Refusal};
use super::bodies::Id;
use super::route::{Asked, Route};
use crate::faults::FaultPlan;
use crate::{LinkConditions, LinkControl};
use hyper::Method;

/// Links treat clients differently, if asked to.
const OF_CLIENT: &[&str] = &["client_id"];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/faults", list),
        Route::new(Method::POST, "/faults", add).reading(),
        Route::new(Method::DELETE, "/faults", clear),
        Route::new(Method::GET, "/faults/{id}", look),
        Route::new(Method::DELETE, "/faults/{id}", remove),
        Route::new(Method::GET, "/brokers/{id}/link", look_at_link).with(OF_CLIENT),
        Route::new(Method::PUT, "/brokers/{id}/link", set_link).reading().with(OF_CLIENT),
        Route::new(Method::DELETE, "/brokers/{id}/link", heal_link).with(OF_CLIENT),
        Route::new(Method::POST, "/brokers/{id}/link/reset", reset_link),
        Route::new(Method::POST, "/brokers/{id}/link/half-open", half_open_link),
    ]
}

fn list(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Answer::json(&asked.cluster.faults())
}
fn add(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let plan: FaultPlan = asked.body()?;
    let id = asked.cluster.add_faults(plan).map_err(Refusal::bad)?;
    Answer::created(&Id { id })
}
fn clear(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    asked.cluster.clear_faults();
    Ok(Answer::Nothing)
}
fn look(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let id = asked.number("id")?;
    let state = asked.cluster.fault(id);
    Answer::json(&state.ok_or_else(|| {
        Refusal::missing(format!("there is no fault {id}; GET /faults tells of those that there are"))
    })?)
}
fn remove(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let id = asked.number("id")?;
    match asked.cluster.remove_fault(id) {
        true => Ok(Answer::Nothing),
        false => Err(Refusal::missing(format!(
            "there is no fault {id}, or it is used up; GET /faults tells of those that there are"
        ))),
    }
}

fn link(asked: &Asked<'_>) -> Result<LinkControl, Refusal> {
    let link = asked.cluster.link(super::topology::node_in_path(asked)?);
    Ok(match asked.query::<String>("client_id")? {
        Some(client) => link.client(&client),
        None => link,
    })
}
fn look_at_link(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Answer::json(&link(asked)?.conditions())
}
fn set_link(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let conditions: LinkConditions = asked.body()?;
    conditions.check().map_err(Refusal::bad)?;
    link(asked)?.set(conditions);
    Answer::json(&conditions)
}
fn heal_link(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    link(asked)?.heal();
    Ok(Answer::Nothing)
}
fn reset_link(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    link(asked)?.reset();
    Ok(Answer::Nothing)
}
fn half_open_link(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    link(asked)?.half_open();
    Ok(Answer::Nothing)
}
