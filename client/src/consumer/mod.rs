//! Reads records.

mod isolation_level;

pub use isolation_level::IsolationLevel;
