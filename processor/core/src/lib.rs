//! Topologies, tasks and assignment of stream processing, without I/O.
//!
//! ```text
//! dsl        streams and tables, on nothing but the Processor API
//! topology   the graph: built, checked, described, divided into sub-topologies
//! operator   a node's instance in a task, and the recipe that builds it
//! task       queues, record choice, punctuation, failures, what a commit freezes
//! assign     which member runs which task          commit, restore   a lane's decisions
//! ```
//!
//! Building never fails midway: what is wrong with a graph comes out of `build`, all of it at once.

pub mod assign;
pub mod commit;
mod context;
pub mod dsl;
pub mod failure;
mod io;
mod operator;
mod processor;
mod punctuation;
mod record;
pub mod restore;
mod store_ref;
pub mod task;
mod task_id;
mod topic;
mod topology;

pub use context::{ProcessorContext, RecordMetadata};
pub use dsl::{KStream, KTable, StreamsBuilder};
pub use io::{
    Consumed, FailOnInvalidTimestamp, OffsetReset, Partitions, Produced, SkipOnInvalidTimestamp, TimestampExtractor,
    UsePartitionTimeOnInvalidTimestamp,
};
pub use processor::{Context, Processor, ProcessorError, ProcessorResult, processor_fn};
pub use punctuation::{Punctuation, PunctuationType, Schedule};
pub use record::{Data, NoOutput, Record, SameKey};
pub use store_ref::{StoreRef, Stores};
pub use task::Task;
pub use task_id::{TaskId, TaskIdError};
pub use topic::{Destination, Topic};
pub use topology::{
    InternalTopic, InternalTopicKind, NodeRef, Parents, SideOutput, StoreInfo, Subtopology, TopicRef, Topology,
    TopologyBuilder, TopologyError,
};
