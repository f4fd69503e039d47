//! When a process that serves is to end.

use std::io;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for SIGINT or SIGTERM, and listens for them from the call on: one that comes before the future is first polled counts.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Errors
///
/// When the system lets nobody listen for signals.
///
/// # Cancel safety
///
/// A signal that comes between two calls is lost.
pub fn signalled() -> impl Future<Output = io::Result<()>> + Send {
    let listeners = listen();
    async move {
        let (mut interrupt, mut terminate) = listeners?;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    }
}
fn listen() -> io::Result<(Signal, Signal)> {
    Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
}

/// Waits until whoever started this process has closed its standard input: it does so by ending, too.
async fn parent_gone() {
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 256];
    while matches!(input.read(&mut ignored).await, Ok(count) if count > 0) {}
}

/// Waits for a signal, listening from the call on, or, if asked to, for the parent's end.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Errors
///
/// When the system lets nobody listen for signals.
///
/// # Cancel safety
///
/// A signal that comes between two calls is lost.
pub fn signalled_or_parent_gone(with_parent: bool) -> impl Future<Output = io::Result<()>> + Send {
    let signalled = signalled();
    async move {
        tokio::select! {
            signal = signalled => signal,
            () = parent_gone(), if with_parent => Ok(()),
        }
    }
}
