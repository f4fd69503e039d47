//! State never drifts: a process is killed, or paused past its session, at each named point of a commit, a recovery and a
//! revocation; after each, what is committed and what is in the stores equals the sums of the input.
//!
//! The points are those of the commit protocol: `docs/architecture.md` has its steps. `cases.rs` has the table.

#![cfg(unix)]

mod cases;
mod kafka;
mod kills;
mod local;
mod pauses;
mod program;
mod real;
mod scene;
mod transactions;
