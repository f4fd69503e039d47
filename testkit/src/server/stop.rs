//! When a process that serves is to end.

use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

/// Waits for SIGINT or SIGTERM.
///
/// # Errors
///
/// When the system lets nobody listen for signals.
///
/// # Cancel safety
///
/// A signal that comes between two calls is lost.
pub async fn signalled() -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Waits until whoever started this process has closed its standard input: it does so by ending, too.
async fn parent_gone() {
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 256];
    while matches!(input.read(&mut ignored).await, Ok(count) if count > 0) {}
}

/// Waits for a signal or, if asked to, for the parent's end.
///
/// # Errors
///
/// When the system lets nobody listen for signals.
///
/// # Cancel safety
///
/// A signal that comes between two calls is lost.
pub async fn signalled_or_parent_gone(with_parent: bool) -> std::io::Result<()> {
    if !with_parent {
        return signalled().await;
    }
    tokio::select! {
        signal = signalled() => signal,
        () = parent_gone() => Ok(()),
    }
}
