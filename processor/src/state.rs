//! What a runtime is doing.

use crate::{StreamsError, StreamsErrorKind};
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::watch;

/// What a runtime is doing. Kafka Streams' states.
///
/// ```text
/// Created ─► Rebalancing ◄─► Running ─► PendingShutdown ─► NotRunning
///                 └─────────────┴─► Error
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Not started.
    Created,
    /// Tasks come, go, or restore.
    Rebalancing,
    /// All tasks run.
    Running,
    /// On its way to `NotRunning`.
    PendingShutdown,
    /// Closed.
    NotRunning,
    /// Stopped by a failure.
    Error,
}

impl State {
    /// Whether no other state follows.
    #[must_use]
    pub const fn is_last(self) -> bool {
        matches!(self, Self::NotRunning | Self::Error)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "CREATED",
            Self::Rebalancing => "REBALANCING",
            Self::Running => "RUNNING",
            Self::PendingShutdown => "PENDING_SHUTDOWN",
            Self::NotRunning => "NOT_RUNNING",
            Self::Error => "ERROR",
        })
    }
}

/// Sees the states change. As a stream, it begins with the state there is, and ends with the runtime; a state that lasts less than
/// the watcher looks away may be missed.
pub struct StateWatch {
    states: watch::Receiver<State>,
    next: Next,
}

/// Where the stream stands.
enum Next {
    Present,
    Changing(Pin<Box<dyn Future<Output = Option<State>> + Send>>),
    Over,
}

impl StateWatch {
    pub(crate) const fn new(states: watch::Receiver<State>) -> Self {
        Self { states, next: Next::Present }
    }

    /// The state now.
    #[must_use]
    pub fn current(&self) -> State {
        *self.states.borrow()
    }

    /// Waits for a state.
    ///
    /// # Errors
    /// When it can come no more: the runtime has stopped in another.
    ///
    /// # Cancel safety
    /// Cancel safe: it only looks.
    pub async fn wait_for(&mut self, state: State) -> Result<(), StreamsError> {
        let reached = self.states.wait_for(|now| *now == state || now.is_last()).await.map(|now| *now);
        match reached {
            Ok(now) if now == state => Ok(()),
            Ok(now) => Err(StreamsError::new(
                format!("wait for state {state}: it stopped as {now}"),
                StreamsErrorKind::Stopped,
            )),
            Err(_) => Err(StreamsError::new(format!("wait for state {state}: it is gone"), StreamsErrorKind::Stopped)),
        }
    }
}

impl Clone for StateWatch {
    fn clone(&self) -> Self {
        Self::new(self.states.clone())
    }
}

impl fmt::Debug for StateWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateWatch").field("current", &self.current()).finish_non_exhaustive()
    }
}

impl Stream for StateWatch {
    type Item = State;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<State>> {
        let state = match &mut self.next {
            Next::Present => Some(*self.states.borrow_and_update()),
            // The future has a receiver of its own: this one is to know what it has seen.
            Next::Changing(change) => ready!(change.as_mut().poll(cx)).map(|_| *self.states.borrow_and_update()),
            Next::Over => None,
        };
        self.next = match state {
            Some(state) if !state.is_last() => Next::Changing(Box::pin(change(self.states.clone()))),
            _ => Next::Over,
        };
        Poll::Ready(state)
    }
}

async fn change(mut states: watch::Receiver<State>) -> Option<State> {
    states.changed().await.ok()?;
    Some(*states.borrow_and_update())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(watch: &mut StateWatch) -> Option<State> {
        std::future::poll_fn(|cx| Pin::new(&mut *watch).poll_next(cx)).await
    }

    #[tokio::test]
    async fn stream_begins_with_the_present_and_ends_with_the_last_state() {
        let (sender, states) = watch::channel(State::Created);
        let mut watch = StateWatch::new(states);
        assert_eq!(next(&mut watch).await, Some(State::Created));
        sender.send_replace(State::Running);
        assert_eq!(next(&mut watch).await, Some(State::Running));
        let again = tokio::time::timeout(std::time::Duration::from_millis(10), next(&mut watch)).await;
        assert!(again.is_err(), "nothing has changed");
        sender.send_replace(State::NotRunning);
        assert_eq!(next(&mut watch).await, Some(State::NotRunning));
        assert_eq!(next(&mut watch).await, None);
    }

    /// The stream once forgot which change it had seen last, and gave the same state again and again: a program that printed each
    /// change kept a core busy with it.
    #[tokio::test]
    async fn each_change_comes_once() {
        let (sender, states) = watch::channel(State::Created);
        let mut watch = StateWatch::new(states);
        assert_eq!(next(&mut watch).await, Some(State::Created));
        sender.send_replace(State::Running);
        assert_eq!(next(&mut watch).await, Some(State::Running));
        let mut again = std::pin::pin!(next(&mut watch));
        let more = std::future::poll_fn(|cx| Poll::Ready(again.as_mut().poll(cx))).await;
        assert!(more.is_pending(), "nothing has changed: {more:?}");
    }

    #[tokio::test]
    async fn waiting_for_a_state_that_can_come_no_more_is_an_error() {
        let (sender, states) = watch::channel(State::Rebalancing);
        let mut watch = StateWatch::new(states);
        sender.send_replace(State::Error);
        let error = watch.wait_for(State::Running).await.expect_err("it stopped");
        assert_eq!(error.to_string(), "wait for state RUNNING: it stopped as ERROR");
        assert!(watch.wait_for(State::Error).await.is_ok());
    }
}
