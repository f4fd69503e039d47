//! A task over memory stores, and a collector that keeps what it is given.

use bytes::Bytes;
use millstream_processor_core::failure::Handlers;
use millstream_processor_core::task::{Collector, OutputRecord, TaskOptions, TaskPosition};
use millstream_processor_core::{ProcessorError, StoreInfo, Task, TaskId, Topology};
use millstream_protocol::record::{Batch, BatchBuilder, Stamp, batches};
use millstream_protocol::{
    Compression, Compressor, Headers, Offset, PartitionId, Timestamp, TopicName, TopicPartition,
};
use millstream_state::{MemoryStore, OrderedStore};
use std::sync::{Arc, Mutex};

/// What was sent: `topic key=value@time`, and whether there is room.
#[derive(Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<State>>);
#[derive(Default)]
struct State {
    records: Vec<(String, Headers)>,
    is_full: bool,
    refuses: Option<&'static str>,
}
impl Sent {
    pub(crate) fn take(&self) -> Vec<String> {
        let records = std::mem::take(&mut self.0.lock().unwrap().records);
        records.into_iter().map(|(record, _)| record).collect()
    }
    pub(crate) fn headers(&self, place: usize) -> Headers {
        self.0.lock().unwrap().records[place].1.clone()
    }
    pub(crate) fn set_full(&self, is_full: bool) {
        self.0.lock().unwrap().is_full = is_full;
    }
    /// Refuses records for this topic.
    pub(crate) fn refuse(&self, topic: &'static str) {
        self.0.lock().unwrap().refuses = Some(topic);
    }
}
impl Collector for Sent {
    fn is_ready(&mut self) -> bool {
        !self.0.lock().unwrap().is_full
    }
    fn partition_count(&mut self, _topic: &TopicName) -> Option<usize> {
        Some(1)
    }
    fn send(&mut self, record: OutputRecord<'_>) -> Result<(), ProcessorError> {
        let mut state = self.0.lock().unwrap();
        if state.refuses.is_some_and(|topic| *record.topic == *topic) {
            return Err("the topic is full".into());
        }
        let text = |bytes: Option<&[u8]>| bytes.map_or("null".to_owned(), |bytes| bytes.escape_ascii().to_string());
        let (key, value, time) = (text(record.key), text(record.value), record.timestamp.as_millis());
        state.records.push((format!("{} {key}={value}@{time}", record.topic), record.headers.clone()));
        Ok(())
    }
}

/// Task `0_0` of a topology, started, each of its topics read from its beginning.
pub(crate) struct Fixture {
    pub(crate) task: Task,
    pub(crate) sent: Sent,
    next: i64,
}
impl Fixture {
    pub(crate) fn new(topology: &Topology, handlers: Handlers) -> Self {
        let sent = Sent::default();
        let topics = topology.subtopologies()[0].source_topics();
        let position = |topic: TopicName| TaskPosition::new(TopicPartition::new(topic, 0), None, None);
        let positions = topics.iter().map(|topic| position(topic.full_name("app"))).collect();
        let base = |store: &StoreInfo| Arc::new(MemoryStore::new(store.name())) as Arc<dyn OrderedStore>;
        let options = TaskOptions::new("app").handlers(handlers);
        let id = TaskId::new(0, PartitionId::new(0));
        let mut task = Task::new(topology, id, positions, base, Box::new(sent.clone()), &options).unwrap();
        task.start(Timestamp::EPOCH).unwrap();
        Self { task, sent, next: 0 }
    }
    /// Feeds records `key=value@time` to a topic.
    pub(crate) fn feed(&mut self, topic: &str, records: &[&str]) {
        let batch = batch(self.next, records);
        self.next += i64::try_from(records.len()).unwrap();
        self.task.feed(&TopicPartition::new(topic, 0), [batch], Offset::new(self.next));
    }
    /// Feeds an end of the log that holds no records.
    pub(crate) fn feed_end(&mut self, topic: &str, next: i64) {
        self.task.feed(&TopicPartition::new(topic, 0), [], Offset::new(next));
    }
    pub(crate) fn next_offset(&self) -> Option<i64> {
        self.task.commits().positions()[0].next.map(Offset::get)
    }
}
pub(crate) fn batch(base: i64, records: &[&str]) -> Batch {
    let mut builder = BatchBuilder::new();
    for record in records {
        let (key, rest) = record.split_once('=').unwrap();
        let (value, time) = rest.split_once('@').unwrap();
        let time = Timestamp::from_millis(time.parse().unwrap());
        builder.append(time, Some(key.as_bytes()), Some(value.as_bytes()), &Headers::new()).unwrap();
    }
    let sealed = builder.seal(&mut Compressor::new(Compression::None, None).unwrap()).unwrap();
    let bytes: Bytes = sealed.into_bytes(&Stamp::plain().at(base, 0));
    batches(bytes).next().unwrap().unwrap()
}
