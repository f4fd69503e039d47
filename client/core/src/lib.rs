//! Every decision of a Kafka client, without I/O: facts and the time go in, requests and deadlines come out.

pub mod group;
