//! The body of a request, as it comes: neither too long nor too slow.

use super::answer::Refusal;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Frame, Incoming};
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
/// How long a body may take to come.
pub(super) const BODY_WITHIN: Duration = Duration::from_secs(10);

/// Reads a body. One that is too long is read and dropped while it comes, unless it is enormous, or its client waits for a word before it sends
/// it: who is hung up on while it writes sees that its pipe is broken, and not why.
pub(super) async fn read(head: &Parts, body: Incoming) -> Result<Bytes, Refusal> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let is_too_long = announced > MAX_BODY;
    if is_too_long && (head.headers.contains_key(EXPECT) || announced > MOST_DROPPED) {
        return Err(too_long(&announced.to_string()));
    }
    match timeout(BODY_WITHIN, collect(body, is_too_long)).await {
        Ok(Ok(Some(body))) => Ok(body),
        _ if is_too_long => Err(too_long(&announced.to_string())),
        Ok(Ok(None)) => Err(too_long(&format!("more than {MAX_BODY}"))),
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
/// All of a body; none when it is too long.
async fn collect(mut body: Incoming, mut is_too_long: bool) -> Result<Option<Bytes>, hyper::Error> {
    let (mut kept, mut seen) = (BytesMut::new(), 0);
    while let Some(frame) = next(&mut body, is_too_long).await {
        let Ok(data) = frame?.into_data() else { continue };
        seen += data.len();
        is_too_long |= seen > MAX_BODY;
        match is_too_long {
            false => kept.extend_from_slice(&data),
            true if seen > MOST_DROPPED => break,
            true => kept.clear(),
        }
    }
    Ok((!is_too_long).then(|| kept.freeze()))
}
/// The next part; none at its end, or when nobody waits for it any more.
async fn next(body: &mut Incoming, is_too_long: bool) -> Option<Result<Frame<Bytes>, hyper::Error>> {
    if is_too_long { timeout(NEXT_WITHIN, body.frame()).await.ok().flatten() } else { body.frame().await }
}
