//! The task engine by direct calls: batches in, output and freezes out.

mod commits;
mod failures;
mod fixture;
mod flow;
