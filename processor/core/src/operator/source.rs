//! Reads topics: bytes become a record here, when it is the first of its partition.

use crate::io::{Consumed, TimestampExtractor};
use crate::task::{Call, Children, Frame, Parts, RawRecord, Visit};
use crate::topic::{Serdes, Topic};
use crate::topology::Recipe;
use crate::{Data, ProcessorError, Record};
use bytes::Bytes;
use millstream_protocol::{Timestamp, TopicName};
use millstream_state::serde::Part;
use millstream_state::{Serde, SerdeContext, SerdeError};
use std::sync::Arc;

pub(crate) struct SourceRecipe<K, V> {
    topics: Vec<Topic<K, V>>,
    extractor: Arc<dyn TimestampExtractor<K, V>>,
}
impl<K, V> From<Consumed<K, V>> for SourceRecipe<K, V> {
    fn from(consumed: Consumed<K, V>) -> Self {
        Self { topics: consumed.topics, extractor: consumed.extractor }
    }
}
impl<K: Data, V: Data> Recipe for SourceRecipe<K, V> {
    fn build(&self, index: usize, parts: &mut Parts<'_>) {
        let (children, _) = parts.outputs::<K, V>(index);
        let inputs = self.topics.iter().map(|topic| Input { serdes: topic.serdes().clone(), head: None }).collect();
        let extractor = Arc::clone(&self.extractor);
        parts.add_source(Box::new(SourceNode { index, inputs, extractor, children }));
    }
}

/// A source of a task. Its inputs are its topics, in order; a task reads one partition of each.
pub(crate) trait SourceInstance: Visit {
    fn node(&self) -> usize;
    /// Makes a record of bytes, and keeps it.
    fn load(&mut self, input: usize, topic: &TopicName, raw: &RawRecord, partition_time: Option<Timestamp>) -> Loaded;
    /// Sends the record on that `load` kept.
    fn process(&mut self, input: usize, frame: &mut Frame);
}
/// What became of bytes.
pub(crate) enum Loaded {
    /// A record of this time.
    Ready(Timestamp),
    /// The record is to be left out: it has no time.
    Dropped,
    /// The bytes are no key or value.
    Undecodable(Part, SerdeError),
    /// There is no time, and no going on without.
    Untimed(ProcessorError),
}

struct SourceNode<K, V> {
    index: usize,
    inputs: Vec<Input<K, V>>,
    extractor: Arc<dyn TimestampExtractor<K, V>>,
    children: Children<K, V>,
}
struct Input<K, V> {
    serdes: Serdes<K, V>,
    head: Option<Record<K, V>>,
}
impl<K: 'static, V: 'static> Input<K, V> {
    fn decode(&self, topic: &TopicName, raw: &RawRecord) -> Result<Record<K, V>, (Part, SerdeError)> {
        let key = read(&*self.serdes.key, topic, Part::Key, raw.key.as_ref(), raw)?;
        let value = read(&*self.serdes.value, topic, Part::Value, raw.value.as_ref(), raw)?;
        Ok(Record::new(key, value, raw.timestamp).with_headers(raw.headers.clone()))
    }
}
fn read<T: 'static>(
    serde: &dyn Serde<T>,
    topic: &TopicName,
    part: Part,
    bytes: Option<&Bytes>,
    raw: &RawRecord,
) -> Result<T, (Part, SerdeError)> {
    let ctx = SerdeContext::new(topic, part).reading(&raw.headers);
    let read = match bytes {
        Some(bytes) => serde.deserialize(bytes, &ctx),
        None => serde.deserialize_null(&ctx),
    };
    read.map_err(|error| (part, error))
}
impl<K: Data, V: Data> SourceInstance for SourceNode<K, V> {
    fn node(&self) -> usize {
        self.index
    }
    fn load(&mut self, input: usize, topic: &TopicName, raw: &RawRecord, partition_time: Option<Timestamp>) -> Loaded {
        let input = &mut self.inputs[input];
        let mut record = match input.decode(topic, raw) {
            Ok(record) => record,
            Err((part, error)) => return Loaded::Undecodable(part, error),
        };
        match self.extractor.extract(&record, partition_time) {
            Ok(Some(time)) if time >= Timestamp::EPOCH => {
                record.timestamp = time;
                input.head = Some(record);
                Loaded::Ready(time)
            }
            Ok(_) => Loaded::Dropped,
            Err(error) => Loaded::Untimed(error),
        }
    }
    fn process(&mut self, input: usize, frame: &mut Frame) {
        if let Some(record) = self.inputs[input].head.take() {
            self.children.forward(record, frame);
        }
    }
}
impl<K: Data, V: Data> Visit for SourceNode<K, V> {
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool {
        target == self.index || self.children.visit(target, call, frame)
    }
}
