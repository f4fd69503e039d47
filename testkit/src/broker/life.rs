//! A broker's life: the states that it is in, and the moves between them. Where it says crashed, stopped is another way there: a stop leads to
//! it from running alone, and what comes after is the same.
//!
//! ```text
//!              pause               session over
//!   ┌─────────┐ ────► ┌────────┐ ──────────────► ┌────────┐
//!   │ running │       │ paused │                 │ fenced │
//!   └─────────┘ ◄──── └────────┘                 └────────┘
//!     ▲  ▲  ▲  resume                     resume  │  │
//!     │  │  └─────────────────────────────────────┘  │ forget
//!     │  │ restart    crash (from any of the three)  │
//!     │  │          ┌─────────┐      forget      ┌───▼─────┐
//!     │  └────────► │ crashed │ ───────────────► │ removed │
//!     │             └─────────┘                  └─────────┘
//!     └────────────────────────────────── restart ────┘
//! ```

use millstream_protocol::NodeId;
use std::fmt;

/// What state a broker is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeState {
    Running,
    /// It stands still: up for the others, but it neither answers nor fetches.
    Paused,
    /// It stands still, and its session with the controller is over: others lead what it led.
    Fenced,
    /// Its process is gone, with no goodbye.
    Crashed,
    /// Its process ended in order: others led what it led before it went.
    Stopped,
    /// Nobody knows it any more.
    Removed,
}
impl NodeState {
    /// Where a move leads. Who is there already stays.
    pub(crate) fn after(self, happens: Move, node: NodeId) -> Result<Self, ImpossibleMove> {
        use NodeState::{Crashed, Fenced, Paused, Removed, Running, Stopped};
        let impossible = |to| Err(ImpossibleMove { node, from: self, to });
        match (happens, self) {
            (Move::Pause, Running | Paused) => Ok(Paused),
            (Move::Pause, Fenced) => Ok(Fenced),
            (Move::Pause, Crashed | Stopped | Removed) => impossible(Paused),
            (Move::Resume, Running | Paused | Fenced) => Ok(Running),
            (Move::Restart, Running | Crashed | Stopped | Removed) => Ok(Running),
            (Move::Resume, Crashed | Stopped | Removed) | (Move::Restart, Paused | Fenced) => impossible(Running),
            (Move::EndSession, Paused | Fenced) => Ok(Fenced),
            (Move::EndSession, Running | Crashed | Stopped | Removed) => impossible(Fenced),
            (Move::Crash, Running | Paused | Fenced | Crashed) => Ok(Crashed),
            (Move::Crash | Move::Stop, Stopped) | (Move::Stop, Running) => Ok(Stopped),
            (Move::Stop, Paused | Fenced | Crashed | Removed) => impossible(Stopped),
            (Move::Crash | Move::Forget, Removed) | (Move::Forget, Fenced | Crashed | Stopped) => Ok(Removed),
            (Move::Forget, Running | Paused) => impossible(Removed),
        }
    }
    /// One word for it.
    #[cfg(feature = "server")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Fenced => "fenced",
            Self::Crashed => "crashed",
            Self::Stopped => "stopped",
            Self::Removed => "removed",
        }
    }
    /// Whether the controller takes it for alive.
    pub(crate) fn is_up(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
    /// Whether a process of it, if there is one, serves nothing. One that is stopped says what it has still to say.
    pub(crate) fn stands_still(self) -> bool {
        !matches!(self, Self::Running | Self::Stopped)
    }
}
impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Fenced => "paused, with its session over",
            Self::Crashed => "crashed",
            Self::Stopped => "stopped",
            Self::Removed => "removed",
        })
    }
}

/// What happens to a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    Pause,
    Resume,
    /// Its session with the controller runs out.
    EndSession,
    Crash,
    /// It is told to end in order.
    Stop,
    Restart,
    Forget,
}

/// A move that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("broker {node} is {from} and cannot become {to} by this: {}", self.advice())]
pub(crate) struct ImpossibleMove {
    node: NodeId,
    from: NodeState,
    to: NodeState,
}
impl ImpossibleMove {
    fn advice(&self) -> &'static str {
        match self.from {
            NodeState::Running => "crash it first",
            NodeState::Paused | NodeState::Fenced => "resume it, or crash it first",
            NodeState::Crashed | NodeState::Stopped | NodeState::Removed => "restart it first",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId::new(2);

    #[test]
    fn a_crashed_broker_moves_only_by_a_restart() {
        let moved = |happens| NodeState::Crashed.after(happens, NODE).map_err(|error| error.to_string());
        let refused = |to: &str| Err(format!("broker 2 is crashed and cannot become {to} by this: restart it first"));
        assert_eq!(moved(Move::Pause), refused("paused"));
        assert_eq!(moved(Move::Resume), refused("running"));
        assert_eq!(moved(Move::EndSession), refused("paused, with its session over"));
        assert_eq!(moved(Move::Crash), Ok(NodeState::Crashed));
        assert_eq!(moved(Move::Restart), Ok(NodeState::Running));
        assert_eq!(moved(Move::Forget), Ok(NodeState::Removed));
    }
    #[test]
    fn a_paused_broker_is_resumed_or_crashed_and_not_restarted() {
        for state in [NodeState::Paused, NodeState::Fenced] {
            let refused = state.after(Move::Restart, NODE).map_err(|error| error.to_string());
            let words = format!("broker 2 is {state} and cannot become running by this: resume it, or crash it first");
            assert_eq!(refused, Err(words));
            assert_eq!(state.after(Move::Resume, NODE), Ok(NodeState::Running));
            assert_eq!(state.after(Move::Crash, NODE), Ok(NodeState::Crashed));
        }
    }
    /// Who stands still hears no signal to end.
    #[test]
    fn only_a_running_broker_is_stopped() {
        for state in [NodeState::Paused, NodeState::Fenced, NodeState::Crashed, NodeState::Removed] {
            let refused = state.after(Move::Stop, NODE).map_err(|error| error.to_string()).expect_err("it cannot be");
            assert!(
                refused.starts_with(&format!("broker 2 is {state} and cannot become stopped by this: ")),
                "{refused}"
            );
        }
        assert_eq!(NodeState::Running.after(Move::Stop, NODE), Ok(NodeState::Stopped));
        assert_eq!(NodeState::Stopped.after(Move::Crash, NODE), Ok(NodeState::Stopped), "there is no process to kill");
        assert_eq!(NodeState::Stopped.after(Move::Restart, NODE), Ok(NodeState::Running));
    }
}
