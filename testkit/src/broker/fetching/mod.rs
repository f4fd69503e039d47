//! Reading: what a fetch wants, sessions that remember it, and waits for data that is not there yet.

pub(crate) mod plan;
mod racks;
pub(crate) mod sessions;
pub(crate) mod waits;
