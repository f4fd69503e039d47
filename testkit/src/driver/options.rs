//! What a driver may be told.

use millstream_processor_core::failure::Handlers;
use std::sync::Arc;

/// Options of a [`TopologyTestDriver`](super::TopologyTestDriver).
#[derive(Debug, Clone)]
#[must_use]
pub struct DriverOptions {
    pub(super) application_id: String,
    pub(super) handlers: Arc<Handlers>,
}
impl DriverOptions {
    /// Application `test`, and failures stop the task.
    pub fn new() -> Self {
        Self { application_id: "test".to_owned(), handlers: Arc::default() }
    }
    /// The application's id, which internal topics' names begin with.
    pub fn application_id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.application_id);
        self
    }
    /// Who answers failures.
    pub fn handlers(mut self, handlers: impl Into<Arc<Handlers>>) -> Self {
        self.handlers = handlers.into();
        self
    }
}
impl Default for DriverOptions {
    fn default() -> Self {
        Self::new()
    }
}
