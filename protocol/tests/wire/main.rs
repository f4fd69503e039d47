//! Kafka's messages, as its own classes write and read them, and what was meddled with.

mod corpus;
mod fuzzed;
mod hostile;
mod memory;
mod messages;

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;
