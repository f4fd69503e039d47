//! A Kafka cluster inside the test process, and a driver for topologies.
