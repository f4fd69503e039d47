//! Stream processing on Kafka as a library, in pure Rust: topologies, journaled state, exactly-once state.
