//! Routes about what was asked.

use super::answer::{Answer, Refusal};
use super::bodies::{Count, RequestView};
use super::route::{Asked, Route};
use super::topology::known;
use crate::LoggedRequest;
use crate::faults::{api_named, no_api};
use hyper::Method;
use millstream_protocol::{ApiKey, NodeId};

/// How many exchanges are told of at once, unless it is said.
const EXCHANGES: usize = 1_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/requests", list).with(&["api", "node", "client_id", "after", "limit"]),
        Route::new(Method::GET, "/requests/count", count).with(&["api", "node"]),
        Route::new(Method::GET, "/requests/{number}", look),
        Route::new(Method::GET, "/requests/{number}/picture", picture),
        Route::new(Method::GET, "/coverage", coverage),
        Route::new(Method::GET, "/coverage.txt", coverage_text),
    ]
}

fn api(asked: &Asked<'_>) -> Result<Option<ApiKey>, Refusal> {
    let Some(name) = asked.query::<String>("api")? else { return Ok(None) };
    api_named(&name).map(Some).ok_or_else(|| Refusal::bad(no_api(&name)))
}
fn node(asked: &Asked<'_>) -> Result<Option<NodeId>, Refusal> {
    asked.query("node")?.map(|id| known(asked, id)).transpose()
}
/// The newest of those that are meant, in the order in which they came.
fn meant(asked: &Asked<'_>) -> Result<Vec<LoggedRequest>, Refusal> {
    let (api, node) = (api(asked)?, node(asked)?);
    let (client, after) = (asked.query::<String>("client_id")?, asked.query::<u64>("after")?);
    let is_meant = |logged: &LoggedRequest| {
        api.is_none_or(|only| only == logged.api())
            && node.is_none_or(|only| only == logged.node())
            && client.as_deref().is_none_or(|only| only == logged.client_id())
            && after.is_none_or(|after| logged.number() > after)
    };
    Ok(asked.cluster.requests().all().into_iter().filter(is_meant).collect())
}
fn list(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let meant = meant(asked)?;
    let limit = asked.query("limit")?.unwrap_or(EXCHANGES);
    let newest = meant.iter().skip(meant.len().saturating_sub(limit));
    Answer::json(&newest.map(|logged| view(logged, false)).collect::<Vec<_>>())
}
fn count(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let api = api(asked)?.ok_or_else(|| Refusal::bad("name the API: ?api=Produce"))?;
    let requests = asked.cluster.requests();
    let count = match node(asked)? {
        Some(node) => requests.count_at(node, api),
        None => requests.count(api),
    };
    Answer::json(&Count { count })
}
fn find(asked: &Asked<'_>) -> Result<LoggedRequest, Refusal> {
    let number: u64 = asked.number("number")?;
    let all = asked.cluster.requests().all();
    let reason = || {
        Refusal::missing(format!(
            "there is no request {number}, or it is no more kept; GET /requests tells of those that are"
        ))
    };
    all.into_iter().find(|logged| logged.number() == number).ok_or_else(reason)
}
fn look(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Answer::json(&view(&find(asked)?, true))
}
fn picture(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Text("text/plain; charset=utf-8", find(asked)?.picture()))
}
fn coverage(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Answer::json(&asked.cluster.requests().coverage())
}
fn coverage_text(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Text("text/plain; charset=utf-8", asked.cluster.requests().coverage().to_string()))
}
fn view(logged: &LoggedRequest, is_whole: bool) -> RequestView {
    let read = |json: Option<String>| json.filter(|_| is_whole).and_then(|json| serde_json::from_str(&json).ok());
    RequestView {
        number: logged.number(),
        at_ms: logged.at().as_millis(),
        answered_at_ms: logged.answered_at().map(|at| at.as_millis()),
        node: logged.node().get(),
        connection: logged.connection(),
        client_id: logged.client_id().to_owned(),
        api: logged.api().name(),
        version: logged.version(),
        correlation_id: logged.correlation_id(),
        outcome: logged.outcome().to_string(),
        reason: logged.closed_because().map(str::to_owned),
        fault: logged.fault().map(str::to_owned),
        request: read(logged.request_json()),
        response: read(logged.response_json()),
    }
}
