//! A Kafka client: Producer, Consumer and Admin over one Client, on tokio, in pure Rust.

pub mod admin;
mod client;
pub mod config;
mod consumer;
mod error;
mod field;
mod net;
mod offset_spec;
mod offsets;
mod producer;
mod producer_record;
pub mod runtime;
mod transaction;

pub use admin::Admin;
pub use client::{Client, ClientBuilder, ClientSource};
pub use config::{ConfigError, Properties};
pub use consumer::IsolationLevel;
pub use error::{Error, ErrorKind};
pub use field::IntoField;
pub use millstream_client_core::group::GroupMetadata;
pub use offset_spec::OffsetSpec;
pub use offsets::{OffsetAndMetadata, Offsets};
pub use producer::{Acks, Compression, Deliveries, Delivery, Partitioner, Producer, ProducerBuilder, RecordMetadata};
pub use producer_record::ProducerRecord;
pub use transaction::{CommitFailure, RawTransactions, Transaction, TransactionalProducer};
