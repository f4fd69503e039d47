//! The body of a request, as it comes: neither too long nor too slow.

use super::answer::Refusal;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use std::time::Duration;
use tokio::time::timeout;

/// No body that the control port takes is larger.
const MAX_BODY: usize = 1 << 20;
/// So much of one that is too long is read before that is said.
const MOST_DROPPED: usize = 64 << 20;
/// How long the next part of one that is too long may take to come: a client that a busy machine holds up is not hung up on in the middle.
const NEXT_WITHIN: Duration = Duration::from_secs(3);
/// For how long it is read on in all, though more of it may come.
const DROPPED_WITHIN: Duration = Duration::from_secs(5);
/// How long a body may take to come.
pub(super) const BODY_WITHIN: Duration = Duration::from_secs(10);

/// Reads a body. One that is too long is read and dropped while it comes, unless it is enormous, or its client waits for a word before it sends
/// it: who is hung up on while it writes sees that its pipe is broken, and not why.
pub(super) async fn read(head: &Parts, mut body: Incoming) -> Result<Bytes, Refusal> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let is_too_long = announced > MAX_BODY;
    if is_too_long && (head.headers.contains_key(EXPECT) || announced > MOST_DROPPED) {
        return Err(too_long(&announced.to_string()));
    }
    if is_too_long {
        drop_rest(&mut body).await;
        return Err(too_long(&announced.to_string()));
    }
    match timeout(BODY_WITHIN, collect(&mut body)).await {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => {
            drop_rest(&mut body).await;
            Err(too_long(&format!("more than {MAX_BODY}")))
        }
        Ok(Err(error)) => Err(Refusal::bad(format!("the body cannot be read: {error}"))),
        Err(_) => {
            let reason = format!("the body did not come within {} s", BODY_WITHIN.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, reason))
        }
    }
}
fn too_long(size: &str) -> Refusal {
    let reason = format!("the body has {size} bytes; this port takes {MAX_BODY} at most");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}
/// All of a body; none as soon as it is too long.
async fn collect(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    let mut kept = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if kept.len() + data.len() > MAX_BODY {
            return Ok(None);
        }
        kept.extend_from_slice(&data);
    }
    Ok(Some(kept.freeze()))
}
/// Reads on over what is too long, until it ends, pauses, or has taken long enough.
async fn drop_rest(body: &mut Incoming) {
    let dropping = async {
        let mut seen = 0;
        while let Ok(Some(Ok(frame))) = timeout(NEXT_WITHIN, body.frame()).await {
            seen += frame.data_ref().map_or(0, Bytes::len);
            if seen > MOST_DROPPED {
                break;
            }
        }
    };
    // Whoever sends it little by little is told all the same.
    let _is_over = timeout(DROPPED_WITHIN, dropping).await;
}
