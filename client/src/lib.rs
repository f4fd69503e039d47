//! A Kafka client: Producer, Consumer and Admin over one Client, on tokio, in pure Rust.
