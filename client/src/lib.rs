//! A Kafka client: Producer, Consumer and Admin over one Client, on tokio, in pure Rust.

mod client;
pub mod config;
mod error;
mod field;
mod net;
mod offsets;
mod producer_record;
pub mod runtime;

pub use client::{Client, ClientBuilder, ClientSource};
pub use config::{ConfigError, Properties};
pub use error::{Error, ErrorKind};
pub use field::IntoField;
pub use offsets::{OffsetAndMetadata, Offsets};
pub use producer_record::ProducerRecord;
