//! Streams and tables.
//!
//! How the operators read:
//! - A closure that turns a value into another takes it; one that only looks, or may see it twice, borrows it.
//! - `try_*` closures return `Result`; their error goes to the processing handler.
//! - An operator that writes bytes needs serdes. The plain form takes those that the stream was read with, else the types' own
//!   ([`DefaultSerde`](millstream_state::DefaultSerde)), and does not compile where there may be none; the `_with` form takes options.
//! - `.named("…")` after an operator names it, and what it makes: node, repartition topic, store.
//!
//! What has no name gets one of its kind and of the last thing before it that has a name, a topic at least: adding an operator of
//! another kind changes no other name. [`TopologyOptions::kafka_names`] numbers instead, exactly as Kafka Streams does.
//!
//! ```
//! use millstream_processor_core::StreamsBuilder;
//!
//! let builder = StreamsBuilder::new();
//! builder
//!     .stream::<String, String>("lines")
//!     .flat_map_values(|line| line.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
//!     .group_by(|_, word| word.clone())
//!     .count_with("counts")
//!     .to("word-counts");
//! let topology = builder.build().unwrap();
//! assert_eq!(topology.subtopologies().len(), 2, "words go through a topic that is partitioned by word");
//! ```

#![expect(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "adding an operator is an effect; a stream or table may be left unused"
)]

mod aggregate;
mod builder;
mod graph;
mod grouped;
mod names;
mod options;
mod processors;
mod repartition;
mod serdes;
mod stateless;
mod stream;
mod table;

pub use builder::{StreamsBuilder, TopologyOptions};
pub use grouped::KGroupedStream;
pub use options::{Grouped, Materialized, Repartitioned};
pub use stream::KStream;
pub use table::KTable;
