//! How many files the process may open, and for whom.
//!
//! Every connection is a file. Were all of them the clients' of the brokers, nobody could ask the control port what is the matter: so some
//! are kept for it.

use crate::cluster::ConnectionLimit;
use rustix::process::{Resource, getrlimit};

/// No more connections to the control port than this are served at a time, as each may keep a long answer that its client is slow to read.
const MOST_VISITORS: usize = 100;
/// What is kept for the control port, and for brokers that join, where files are plenty.
const KEPT: usize = 128;

/// How many connections the control port may have.
pub(super) fn most_visitors() -> usize {
    let kept = limit().map_or(KEPT, kept);
    (kept / 2).clamp(1, MOST_VISITORS)
}
/// How many connections the brokers of this process may have, beside the files that are open now; none when there is no limit.
pub(super) fn for_connections() -> Option<ConnectionLimit> {
    let files = limit()?;
    let kept = kept(files);
    let connections = files.saturating_sub(open()).saturating_sub(kept).max(1);
    Some(ConnectionLimit { connections, files, kept })
}
fn limit() -> Option<usize> {
    getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok())
}
fn kept(files: usize) -> usize {
    (files / 4).min(KEPT)
}
/// The files that are open: what the system tells, or what a small cluster has.
fn open() -> usize {
    let entries = ["/proc/self/fd", "/dev/fd"].into_iter().find_map(|folder| std::fs::read_dir(folder).ok());
    entries.map_or(32, Iterator::count)
}
