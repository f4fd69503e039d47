//! Writes a topic.

use crate::io::{Partitioner, Partitions, Produced, ProducedTo, TopicChooser};
use crate::task::{Call, Child, Frame, Parts, Visit, Written};
use crate::topic::Serdes;
use crate::topology::Recipe;
use crate::{Data, Record};
use millstream_protocol::{PartitionId, TopicName};

pub(crate) struct SinkRecipe<K, V>(Produced<K, V>);
impl<K, V> From<Produced<K, V>> for SinkRecipe<K, V> {
    fn from(produced: Produced<K, V>) -> Self {
        Self(produced)
    }
}
impl<K: Data, V: Data> Recipe for SinkRecipe<K, V> {
    fn build(&self, index: usize, parts: &mut Parts<'_>) {
        let to = match &self.0.to {
            ProducedTo::Topic { .. } => To::Topic(parts.sink_topic(index)),
            ProducedTo::Chosen(choose) => To::Chosen(choose.clone()),
        };
        let (serdes, partitioner) = (self.0.serdes.clone(), self.0.partitioner.clone());
        parts.attach(index, Box::new(SinkNode { index, to, serdes, partitioner }));
    }
}

struct SinkNode<K, V> {
    index: usize,
    to: To<K, V>,
    serdes: Serdes<K, V>,
    partitioner: Option<Partitioner<K, V>>,
}
enum To<K, V> {
    Topic(TopicName),
    Chosen(TopicChooser<K, V>),
}
impl<K: Data, V: Data> SinkNode<K, V> {
    fn write(&self, topic: TopicName, partition: Option<PartitionId>, record: &Record<K, V>, frame: &mut Frame) {
        let written = Written {
            topic,
            partition,
            timestamp: record.timestamp,
            headers: record.headers.clone(),
            key: (&*self.serdes.key, &record.key),
            value: (&*self.serdes.value, &record.value),
        };
        frame.write(self.index, written);
    }
    fn partitions(&self, topic: &TopicName, record: &Record<K, V>, frame: &mut Frame) -> Partitions {
        self.partitioner.as_ref().map_or(Partitions::Default, |choose| choose(record, frame.partition_count(topic)))
    }
}
impl<K: Data, V: Data> Child<K, V> for SinkNode<K, V> {
    fn process(&mut self, record: Record<K, V>, frame: &mut Frame) {
        if frame.is_stopped() {
            return;
        }
        let topic = match &self.to {
            To::Topic(topic) => topic.clone(),
            To::Chosen(choose) => choose(&record, frame.record_metadata()),
        };
        match self.partitions(&topic, &record, frame) {
            Partitions::Default => self.write(topic, None, &record, frame),
            Partitions::One(partition) => self.write(topic, Some(partition), &record, frame),
            Partitions::Many(list) if !list.is_empty() => {
                for partition in list {
                    self.write(topic.clone(), Some(partition), &record, frame);
                }
            }
            Partitions::Many(_) | Partitions::Drop => frame.count_dropped(),
        }
    }
}
impl<K: Data, V: Data> Visit for SinkNode<K, V> {
    fn visit(&mut self, target: usize, _call: &Call, _frame: &mut Frame) -> bool {
        target == self.index
    }
}
