//! Stream processing on Kafka as a library, in pure Rust: the runtime, with the client and topologies re-exported.
//!
//! `use millstream::prelude::*;` brings what most programs use.
//!
//! ```text
//! engine       the loop: group events, fetched batches, signals, clock       streams    the handle
//! assignor     who runs which task        recovery  what a task does before it runs
//! slot, queue, workers   tasks, whose turn it is, and the threads that run them
//! lane         commits: steps 1 to 6, with a transactional producer each      jobs       what may block
//! ```

mod assignor;
#[cfg(feature = "cli")]
pub mod cli;
mod close;
mod collector;
mod config;
mod engine;
mod error;
mod group;
mod internal_topics;
mod jobs;
mod lane;
mod metrics;
mod queue;
mod recovery;
mod shared;
mod slot;
mod standstill;
mod state;
mod state_dir;
mod stop_point;
mod streams;
mod workers;

pub use close::{CloseOptions, GroupMembership};
pub use config::{ProcessingGuarantee, StreamsConfig, StreamsGroupProtocol};
pub use error::{StreamsError, StreamsErrorKind};
pub use metrics::{Metric, Metrics};
pub use state::{State, StateWatch};
pub use streams::{LocalMetadata, RestoreEvent, Streams, TaskMetadata};

pub use millstream_client as client;
pub use millstream_processor_core::{dsl, failure};
pub use millstream_protocol as protocol;
pub use millstream_state as stores;
pub use millstream_state::serde;

pub use millstream_client::{Admin, Client, Consumer, Producer};
pub use millstream_processor_core::{
    Consumed, Context, Data, Destination, KStream, KTable, NoOutput, NodeRef, OffsetReset, Parents, Partitions,
    Processor, ProcessorContext, ProcessorError, ProcessorResult, Produced, Punctuation, PunctuationType, Record,
    RecordMetadata, SameKey, Schedule, SideOutput, StoreRef, Stores, StreamsBuilder, TaskId, TimestampExtractor, Topic,
    Topology, TopologyBuilder, TopologyError, processor_fn,
};
pub use millstream_protocol::{Headers, Timestamp, TopicName, TopicPartition};

/// What most programs use.
pub mod prelude {
    pub use crate::client::{Acks, Compression, ConsumerRecord, Offsets, Polled, ProducerRecord};
    pub use crate::dsl::Materialized;
    pub use crate::serde::{DefaultSerde, Serde};
    pub use crate::stores::KeyValueStore;
    pub use crate::{
        Admin, Client, Consumed, Consumer, Context, KStream, KTable, NoOutput, Processor, ProcessorContext,
        ProcessorResult, Produced, Producer, Punctuation, PunctuationType, Record, SameKey, Streams, StreamsBuilder,
        StreamsConfig, Timestamp, Topic, Topology, TopologyError,
    };
}

/// The project's README: its programs compile.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../../README.md")]
struct Readme;
