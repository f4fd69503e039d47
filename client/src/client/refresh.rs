//! The one task that asks for metadata (M-7).

use super::hub::Hub;
use crate::net::{Place, Purpose, RequestError};
use crate::{Error, ErrorKind};
use millstream_client_core::cluster::{Creation, Wanted};
use millstream_client_core::connection::Outgoing;
use millstream_protocol::ApiKey;
use millstream_protocol::messages::metadata_request::{MetadataRequest, MetadataRequestTopic};
use millstream_protocol::messages::{MetadataResponse, StrBytes};
use std::fmt::Write;
use std::sync::Arc;

/// Refreshes until its owner ends it.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut timer = hub.runtime.timer();
    loop {
        let wanted = {
            let mut cluster = hub.cluster();
            let wanted = cluster.poll_request(hub.runtime.now());
            timer.as_mut().set(cluster.poll_deadline());
            wanted
        };
        match wanted {
            Some(wanted) => round(&hub, &wanted).await,
            None => tokio::select! {
                biased;
                () = timer.as_mut() => {}
                () = hub.wake_refresh.notified() => {}
            },
        }
    }
}

async fn round(hub: &Hub, wanted: &Wanted) {
    match ask(hub, wanted).await {
        Ok(answer) => {
            let image = hub.cluster().handle_answer(hub.runtime.now(), &answer);
            hub.pool.retain(&image);
            hub.publish(image);
            hub.finish_round(None);
        }
        Err(error) => {
            tracing::warn!(%error, "no metadata");
            hub.cluster().handle_failure(hub.runtime.now());
            hub.finish_round(Some(error));
        }
    }
}

/// Asks one place after the other; one that is dead or stuck delays the answer and does not prevent it.
async fn ask(hub: &Hub, wanted: &Wanted) -> Result<MetadataResponse, Error> {
    let (mut tried, mut are_too_old) = (String::new(), true);
    let places = hub.places();
    let share = u32::try_from(places.len()).unwrap_or(u32::MAX).max(1);
    let timeout = (hub.options.request_timeout / share).max(hub.options.request_timeout.min(MIN_TIMEOUT));
    for place in places {
        let wanted = wanted.clone();
        let outgoing = Outgoing::new(ApiKey::METADATA, timeout);
        let link = hub.pool.link(place, Purpose::Other);
        match link.send(outgoing, move |version| request(&wanted, version)).await {
            // A broker that has just started may not know anybody yet.
            Ok(reply) if reply.body.brokers.is_empty() => {
                are_too_old = false;
                note(hub, &mut tried, place, &"it knows no brokers yet");
            }
            Ok(reply) => return Ok(reply.body),
            // It names the address itself.
            Err(error @ RequestError::Connect(_)) if place.node().is_none() => {
                are_too_old = false;
                append(&mut tried, &error);
            }
            Err(error) => {
                are_too_old &= matches!(error, RequestError::Unsupported(_));
                note(hub, &mut tried, place, &error);
            }
        }
    }
    if are_too_old {
        let reason = format!("no broker speaks a version of Kafka's protocol that this client speaks. Tried: {tried}");
        return Err(Error::new(ErrorKind::Unsupported, "connect to the cluster").reason(reason));
    }
    let reason = format!(
        "no broker answered. Tried: {tried}. Check that the brokers run, that bootstrap.servers names their listeners, and \
         that nothing on the way blocks the ports"
    );
    Err(Error::new(ErrorKind::Unreachable, "connect to the cluster").reason(reason))
}

/// The least time that one place is given, whatever their number.
const MIN_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Who was tried, and why that was in vain.
fn note(hub: &Hub, tried: &mut String, place: Place, why: &dyn std::fmt::Display) {
    match place {
        Place::Node(id) => append(tried, &format_args!("node {id} ({why})")),
        Place::Bootstrap(index) => match hub.world.bootstrap.get(index) {
            Some(address) => append(tried, &format_args!("{address}: {why}")),
            None => append(tried, why),
        },
    }
}
fn append(tried: &mut String, what: &dyn std::fmt::Display) {
    let separator = if tried.is_empty() { "" } else { "; " };
    // Writing to a string does not fail.
    let _ = write!(tried, "{separator}{what}");
}

fn request(wanted: &Wanted, version: i16) -> MetadataRequest {
    let names = wanted.topics.iter().map(|name| StrBytes::from_string(name.as_str().to_owned()));
    // In version 0 an empty list asks for all topics: more than is wanted, and no harm.
    let topics = names.map(|name| MetadataRequestTopic::default().with_name(Some(name.into()))).collect();
    let allowed = wanted.creation == Creation::Allowed || version < 4;
    MetadataRequest::default().with_topics(Some(topics)).with_allow_auto_topic_creation(allowed)
}
