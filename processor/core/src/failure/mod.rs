//! What happens when a record fails. Each handler has its own answers, so one that makes no sense cannot be given.
//!
//! An answer is itself a handler (always that), and so is a closure that looks at the failure and answers.

mod dead_letter;
mod handlers;

pub use handlers::{Handlers, TaskError};

pub(crate) use dead_letter::dead_letter_headers;

use crate::{ProcessorError, TaskId};
use bytes::Bytes;
use millstream_protocol::{Headers, Offset, Timestamp, TopicPartition};
use millstream_state::SerdeError;
use millstream_state::serde::Part;
use std::time::Duration;

/// Answers a failure.
pub trait Handler<F, A>: Send + Sync + 'static {
    /// The answer.
    fn handle(&self, failure: &F) -> A;
}
impl<F, A, H: Fn(&F) -> A + Send + Sync + 'static> Handler<F, A> for H {
    fn handle(&self, failure: &F) -> A {
        self(failure)
    }
}
macro_rules! answers {
    ($($failure:ident => $answer:ident;)*) => {$(
        impl Handler<$failure, Self> for $answer {
            fn handle(&self, _failure: &$failure) -> Self {
                self.clone()
            }
        }
    )*};
}
answers! {
    DeserializationFailure => OnDeserializationFailure;
    ProcessingFailure => OnProcessingFailure;
    ProductionFailure => OnProductionFailure;
    TaskFailure => OnTaskFailure;
}

/// The input record that a failure goes back to, as its bytes were.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Origin {
    /// The task.
    pub task: TaskId,
    /// Where it lay.
    pub topic_partition: TopicPartition,
    /// Its position.
    pub offset: Offset,
    /// Its time.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
    /// Its headers.
    pub headers: Headers,
}

/// Input bytes that are no key or value.
#[derive(Debug)]
#[non_exhaustive]
pub struct DeserializationFailure {
    /// The record.
    pub origin: Origin,
    /// The source that read it.
    pub node: String,
    /// What of the record it is that cannot be read.
    pub part: Part,
    /// Why.
    pub error: SerdeError,
}
/// What then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnDeserializationFailure {
    /// Stops the task. The default.
    Fail,
    /// Leaves the record out and counts it.
    Continue,
    /// Sends its bytes to this topic, with headers that say why, and goes on.
    DeadLetter(String),
}

/// A processor, or a closure of the DSL, that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProcessingFailure {
    /// The record; none in a punctuation.
    pub origin: Option<Origin>,
    /// The task.
    pub task: TaskId,
    /// The node.
    pub node: String,
    /// The time of what was being processed: the record's, or the punctuation's.
    pub timestamp: Timestamp,
    /// How many times it has been tried.
    pub attempts: u32,
    /// Why.
    pub error: ProcessorError,
}
/// What then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnProcessingFailure {
    /// Stops the task. The default.
    Fail,
    /// Goes on after the failing node, as Kafka Streams does: what was written and forwarded before stays.
    Continue,
    /// Undoes all that the record has written and forwarded, and leaves it out.
    Skip,
    /// Undoes it and tries the record again after this time; the task's other records wait. In a punctuation as `Skip`: there is no
    /// record, and the next tick comes.
    Retry(Duration),
    /// Undoes it, sends the record's bytes to this topic, with headers that say why, and goes on.
    DeadLetter(String),
}

/// A record that could not be serialized or written.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProductionFailure {
    /// The input record that it came of; none in a punctuation.
    pub origin: Option<Origin>,
    /// The task.
    pub task: TaskId,
    /// The node that wrote it.
    pub node: String,
    /// Where it was going.
    pub topic: String,
    /// Which half of it could not be serialized, if that was it.
    pub part: Option<Part>,
    /// Whether the same may succeed later.
    pub is_retriable: bool,
    /// Why.
    pub error: ProcessorError,
}
/// What then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnProductionFailure {
    /// Stops the task. The default.
    Fail,
    /// Leaves the record out and counts it.
    Continue,
    /// Tries again after this time, if that makes sense; else as `Fail`.
    Retry(Duration),
    /// Sends the input record's bytes to this topic, with headers that say why, and goes on.
    DeadLetter(String),
}

/// A task that stopped.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaskFailure {
    /// The task.
    pub task: TaskId,
    /// How many times it has stopped in a row.
    pub attempts: u32,
    /// Why.
    pub error: ProcessorError,
}
impl TaskFailure {
    /// A task that stopped for the `attempts`-th time in a row.
    #[must_use]
    pub fn new(task: TaskId, attempts: u32, error: impl Into<ProcessorError>) -> Self {
        Self { task, attempts, error: error.into() }
    }
}
/// What then. Other tasks go on meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnTaskFailure {
    /// Starts it again from its last commit, after this time.
    Restart(Duration),
    /// Stops this process. The default.
    ShutdownClient,
    /// Stops every process of the application.
    ShutdownApplication,
}
