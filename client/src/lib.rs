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
mod rebalance;
mod records;
pub mod runtime;
pub mod runtime_consumer;
mod stream;
mod transaction;

pub use admin::Admin;
pub use client::{Client, ClientBuilder, ClientSource};
pub use config::{ConfigError, Properties};
pub use consumer::{
    Assignor, Committer, Consumer, ConsumerBuilder, GroupMetadata, GroupProtocol, IsolationLevel, OffsetReset,
};
pub use error::{Error, ErrorKind};
pub use field::IntoField;
pub use offset_spec::OffsetSpec;
pub use offsets::{OffsetAndMetadata, Offsets};
pub use producer::{Acks, Compression, Deliveries, Delivery, Partitioner, Producer, ProducerBuilder, RecordMetadata};
pub use producer_record::ProducerRecord;
pub use rebalance::{Polled, Revocation};
pub use records::{ConsumerRecord, PartitionRecords, RecordRef, Records, RecordsIter};
pub use stream::RecordStream;
pub use transaction::{CommitFailure, RawTransactions, Transaction, TransactionalProducer};
