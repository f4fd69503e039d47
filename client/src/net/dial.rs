//! Opens a socket: all addresses of the host, one after the other, within one limit (W-15).

use super::{Address, ConnectError};
use crate::runtime::{Runtime, Socket, timeout_at};
use std::time::{Duration, Instant};

/// Opens a socket to an address.
pub(crate) async fn dial(
    runtime: &dyn Runtime,
    address: &Address,
    within: Duration,
) -> Result<Box<dyn Socket>, ConnectError> {
    let deadline = runtime.now() + within;
    let timed_out = || ConnectError::TimedOut(address.to_string());
    let resolved =
        timeout_at(runtime, deadline, runtime.resolve(&address.host, address.port)).await.ok_or_else(timed_out)?;
    let candidates = resolved.map_err(|error| ConnectError::Resolve(address.to_string(), error.to_string()))?;
    let mut failures = Vec::new();
    let mut left = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
    for candidate in candidates {
        // What is left of the time is shared, so that one address that swallows packets does not hide the others.
        let until = share(runtime.now(), deadline, left);
        left -= 1;
        match timeout_at(runtime, until, runtime.connect(candidate)).await {
            Some(Ok(socket)) => return Ok(socket),
            Some(Err(error)) => failures.push(format!("{candidate}: {error}")),
            None => failures.push(format!("{candidate}: no answer in time")),
        }
    }
    if failures.is_empty() {
        return Err(ConnectError::Resolve(address.to_string(), "the name has no address".to_owned()));
    }
    // A host that is an address already is not named twice.
    match failures.as_slice() {
        [failure] if failure.starts_with(&format!("{address}: ")) => Err(ConnectError::Refused(failure.clone())),
        failures => Err(ConnectError::Refused(format!("{address} ({})", failures.join("; ")))),
    }
}

fn share(now: Instant, deadline: Instant, among: u32) -> Instant {
    now + deadline.saturating_duration_since(now) / among.max(1)
}
