//! Topologies, tasks and assignment of stream processing, without I/O.

pub mod assign;
pub mod commit;
pub mod restore;
mod task_id;

pub use task_id::TaskId;
