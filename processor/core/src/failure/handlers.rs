//! The handlers of a task, and the error of one that was told to stop.

use super::{
    DeserializationFailure, Handler, OnDeserializationFailure, OnProcessingFailure, OnProductionFailure,
    ProcessingFailure, ProductionFailure,
};
use crate::{ProcessorError, TaskId};
use millstream_protocol::TopicName;
use std::fmt;

/// Who answers the failures of a task's records. The default is to stop the task.
#[must_use]
pub struct Handlers {
    pub(crate) deserialization: Box<dyn Handler<DeserializationFailure, OnDeserializationFailure>>,
    pub(crate) processing: Box<dyn Handler<ProcessingFailure, OnProcessingFailure>>,
    pub(crate) production: Box<dyn Handler<ProductionFailure, OnProductionFailure>>,
    pub(crate) dead_letter_queue: Option<TopicName>,
}
impl Handlers {
    /// Who answers bytes that are no key or value. Kafka's key: `deserialization.exception.handler`.
    pub fn on_deserialization_failure(
        mut self,
        handler: impl Handler<DeserializationFailure, OnDeserializationFailure>,
    ) -> Self {
        self.deserialization = Box::new(handler);
        self
    }
    /// Who answers a processor that failed. Kafka's key: `processing.exception.handler`.
    pub fn on_processing_failure(mut self, handler: impl Handler<ProcessingFailure, OnProcessingFailure>) -> Self {
        self.processing = Box::new(handler);
        self
    }
    /// Who answers a record that could not be serialized or written. Kafka's key: `production.exception.handler`.
    pub fn on_production_failure(mut self, handler: impl Handler<ProductionFailure, OnProductionFailure>) -> Self {
        self.production = Box::new(handler);
        self
    }
    /// A topic that is sent the bytes of each input record whose failure is answered by `Fail` or `Continue`.
    /// Kafka's key: `errors.dead.letter.queue.topic.name` (KIP-1034).
    pub fn dead_letter_queue(mut self, topic: impl Into<TopicName>) -> Self {
        self.dead_letter_queue = Some(topic.into());
        self
    }
}
impl Default for Handlers {
    fn default() -> Self {
        Self {
            deserialization: Box::new(OnDeserializationFailure::Fail),
            processing: Box::new(OnProcessingFailure::Fail),
            production: Box::new(OnProductionFailure::Fail),
            dead_letter_queue: None,
        }
    }
}
impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("dead_letter_queue", &self.dead_letter_queue).finish_non_exhaustive()
    }
}

/// A task that stopped, and at what. It stands at a boundary: what finished before can be committed.
#[derive(Debug, thiserror::Error)]
#[error("task {task}: {doing}")]
#[non_exhaustive]
pub struct TaskError {
    /// The task.
    pub task: TaskId,
    /// The node, where one was at work.
    pub node: Option<String>,
    doing: String,
    #[source]
    source: ProcessorError,
}
impl TaskError {
    /// Of a task whose user code panicked.
    #[must_use]
    pub fn panicked(task: TaskId, source: impl Into<ProcessorError>) -> Self {
        Self::new(task, None, "user code panicked".to_owned(), source.into())
    }
    pub(crate) fn new(task: TaskId, node: Option<&str>, doing: String, source: ProcessorError) -> Self {
        Self { task, node: node.map(str::to_owned), doing, source }
    }
}
