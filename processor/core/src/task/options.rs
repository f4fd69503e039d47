//! What tasks of an application have in common.

use crate::failure::Handlers;
use std::sync::Arc;
use std::time::Duration;

/// What tasks of an application have in common.
#[derive(Debug, Clone)]
#[must_use]
pub struct TaskOptions {
    pub(crate) application_id: Arc<str>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) max_task_idle: Option<Duration>,
}
impl TaskOptions {
    /// For this application: failures stop the task, and nothing is waited for.
    pub fn new(application_id: &str) -> Self {
        Self { application_id: application_id.into(), handlers: Arc::default(), max_task_idle: None }
    }
    /// Who answers failures.
    pub fn handlers(mut self, handlers: impl Into<Arc<Handlers>>) -> Self {
        self.handlers = handlers.into();
        self
    }
    /// How long a partition that has nothing is waited for while others have, to keep to the order of time; zero waits as long as
    /// it is not known to be at its log's end. Kafka's key: `max.task.idle.ms`; there −1 is `None`, which is what a task has that
    /// was told nothing.
    pub fn max_task_idle(mut self, max_task_idle: Option<Duration>) -> Self {
        self.max_task_idle = max_task_idle;
        self
    }
}
