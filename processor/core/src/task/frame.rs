//! What nodes of a task share while a record goes through them.

use super::collector::{Collector, OutputRecord};
use super::options::TaskOptions;
use super::output::{Outputs, Written};
use super::punctuation::{Schedules, Start};
use super::queue::RawRecord;
use crate::failure::{Handlers, Origin};
use crate::topology::Graph;
use crate::{ProcessorError, PunctuationType, Record, RecordMetadata, Schedule, TaskId};
use millstream_protocol::hash::HashSet;
use millstream_protocol::{Headers, PartitionId, Timestamp, TopicName, TopicPartition};
use millstream_state::RecordScope;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes one record's output may have before it is sent on while the record goes on: then it cannot be undone any more.
const RECORD_BUDGET: usize = 1 << 20;

pub(crate) struct Frame {
    pub(super) task: TaskId,
    pub(super) application_id: Arc<str>,
    pub(super) graph: Arc<Graph>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) collector: Box<dyn Collector>,
    pub(super) scope: RecordScope,
    pub(super) schedules: Schedules,
    pub(super) outputs: Outputs,
    /// The highest time of the records taken.
    pub(super) stream_time: Timestamp,
    pub(super) wall_clock: Timestamp,
    /// The input record in hand, and which of the partitions it is of; none in `init` and punctuations.
    pub(super) raw: Option<(RawRecord, usize)>,
    pub(super) attempts: u32,
    /// What is to become of the record in hand, when something has failed: nothing more is done for it then.
    pub(super) stop: Option<Stop>,
    pub(super) has_overflowed: bool,
    pub(super) commit_requested: bool,
    pub(super) dropped: u64,
    /// Of what is being processed.
    timestamp: Timestamp,
    headers: Headers,
    raised: Option<ProcessorError>,
    partitions: Vec<TopicPartition>,
    topics: HashSet<TopicName>,
}
/// What is to become of a record that has failed.
pub(super) enum Stop {
    Fail(crate::failure::TaskError),
    Skip,
    Retry(Duration),
}
/// An output record that the collector did not take.
pub(super) struct Refused {
    pub(super) topic: TopicName,
    pub(super) error: ProcessorError,
}
/// The time and headers of the node above.
pub(crate) struct Outer {
    timestamp: Timestamp,
    headers: Headers,
}

impl Frame {
    pub(super) fn new(
        task: TaskId,
        graph: &Arc<Graph>,
        options: &TaskOptions,
        collector: Box<dyn Collector>,
        scope: RecordScope,
        partitions: Vec<TopicPartition>,
    ) -> Self {
        Self {
            task,
            application_id: Arc::clone(&options.application_id),
            graph: Arc::clone(graph),
            handlers: Arc::clone(&options.handlers),
            collector,
            scope,
            schedules: Schedules::default(),
            outputs: Outputs::default(),
            stream_time: Timestamp::NONE,
            wall_clock: Timestamp::EPOCH,
            raw: None,
            attempts: 0,
            stop: None,
            has_overflowed: false,
            commit_requested: false,
            dropped: 0,
            timestamp: Timestamp::EPOCH,
            headers: Headers::new(),
            raised: None,
            partitions,
            topics: HashSet::default(),
        }
    }
    /// Takes a record or a punctuation in hand.
    pub(super) fn begin(&mut self, timestamp: Timestamp, headers: Headers) {
        self.timestamp = timestamp;
        self.headers = headers;
        self.has_overflowed = false;
        self.scope.begin_record(timestamp);
        self.schedules.begin_record();
    }

    /// Whether the record in hand has failed: whoever asks does nothing more for it.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stop.is_some() || self.raised.is_some()
    }
    /// Makes a record's time and headers those of what is being processed.
    pub(crate) fn enter(&mut self, timestamp: Timestamp, headers: &Headers) -> Outer {
        let outer = Outer { timestamp: self.timestamp, headers: std::mem::replace(&mut self.headers, headers.clone()) };
        self.set_timestamp(timestamp);
        outer
    }
    pub(crate) fn leave(&mut self, outer: Outer) {
        self.headers = outer.headers;
        self.set_timestamp(outer.timestamp);
    }
    /// Fails the node at work, from within a call that answers nothing.
    pub(crate) fn raise(&mut self, error: ProcessorError) {
        self.raised.get_or_insert(error);
    }
    /// What a node answered to `init` is dealt with: the task does not start without it.
    pub(crate) fn end_of_init(&mut self, node: usize, result: Result<(), ProcessorError>) {
        if let Some(error) = self.raised.take().or(result.err()) {
            self.fail_hard(Some(node), "initialise it".to_owned(), error);
        }
    }
    /// What a node answered is dealt with.
    pub(crate) fn end_of_node(&mut self, node: usize, result: Result<(), ProcessorError>) {
        let result = match self.raised.take() {
            Some(error) => Err(error),
            None => result,
        };
        if let Err(error) = result
            && self.stop.is_none()
        {
            self.processing_failed(node, error);
        }
    }

    pub(crate) fn write<K: 'static, V: 'static>(&mut self, node: usize, written: Written<'_, K, V>) {
        let topic = written.topic.clone();
        match self.outputs.write(written) {
            Ok(()) if self.outputs.bytes() > RECORD_BUDGET => self.overflow(node),
            Ok(()) => {}
            Err((part, error)) => self.production_failed(Some(node), &topic, Some(part), error.into()),
        }
    }
    pub(crate) fn partition_count(&mut self, topic: &TopicName) -> usize {
        self.collector.partition_count(topic).unwrap_or(1)
    }
    /// A topic's name by its text; the first time makes it.
    pub(crate) fn topic(&mut self, name: &str) -> TopicName {
        self.topics.get_or_insert_with(name, |name| TopicName::from(name)).clone()
    }
    pub(crate) fn schedule(
        &mut self,
        node: usize,
        interval: Duration,
        clock: PunctuationType,
        anchor: Option<Timestamp>,
    ) -> Schedule {
        let now = match clock {
            PunctuationType::StreamTime => self.stream_time,
            PunctuationType::WallClockTime => self.wall_clock,
        };
        let start = match (anchor, clock) {
            (Some(anchor), _) => Start::OnGrid { anchor, now },
            (None, PunctuationType::StreamTime) => Start::At(Timestamp::EPOCH),
            (None, PunctuationType::WallClockTime) => Start::At(now + interval),
        };
        self.schedules.add(node, clock, interval, start)
    }
    /// A record with the time and headers of what is being processed.
    pub(crate) fn record<K, V>(&self, key: K, value: V) -> Record<K, V> {
        Record::new(key, value, self.timestamp).with_headers(self.headers.clone())
    }
    pub(crate) const fn count_dropped(&mut self) {
        self.dropped += 1;
    }
    pub(crate) const fn request_commit(&mut self) {
        self.commit_requested = true;
    }

    pub(crate) const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }
    pub(crate) const fn headers(&self) -> &Headers {
        &self.headers
    }
    pub(crate) const fn headers_mut(&mut self) -> &mut Headers {
        &mut self.headers
    }
    pub(crate) const fn stream_time(&self) -> Timestamp {
        self.stream_time
    }
    pub(crate) const fn wall_clock(&self) -> Timestamp {
        self.wall_clock
    }
    pub(crate) const fn task(&self) -> TaskId {
        self.task
    }
    pub(crate) fn application_id(&self) -> &str {
        &self.application_id
    }
    pub(crate) fn record_metadata(&self) -> Option<RecordMetadata<'_>> {
        let (raw, input) = self.raw.as_ref()?;
        let TopicPartition { topic, partition, .. } = &self.partitions[*input];
        Some(RecordMetadata { topic, partition: *partition, offset: raw.offset })
    }
    pub(super) fn origin(&self) -> Option<Origin> {
        self.raw.as_ref().map(|(raw, input)| origin(self.task, raw, &self.partitions[*input]))
    }
    pub(super) fn node_name(&self, node: usize) -> &str {
        &self.graph.nodes[node].name
    }
    /// Adds a record whose bytes are there already, without a partition.
    pub(super) fn write_raw(&mut self, topic: &TopicName, raw: &Origin, headers: &Headers) {
        self.outputs.write_raw(OutputRecord {
            topic,
            partition: None::<PartitionId>,
            timestamp: raw.timestamp,
            key: raw.key.as_deref(),
            value: raw.value.as_deref(),
            headers,
        });
    }
    /// Sends what the record in hand has written, and gives what the collector refused.
    pub(super) fn send(&mut self) -> Vec<Refused> {
        let mut refused = Vec::new();
        let collector = &mut self.collector;
        self.outputs.drain(|record| {
            if let Err(error) = collector.send(record) {
                refused.push(Refused { topic: record.topic.clone(), error });
            }
        });
        refused
    }
    /// The record in hand is done.
    pub(super) fn clear(&mut self) {
        self.raw = None;
        self.attempts = 0;
    }

    fn set_timestamp(&mut self, timestamp: Timestamp) {
        self.timestamp = timestamp;
        self.scope.set_time(timestamp);
    }
    fn overflow(&mut self, node: usize) {
        self.has_overflowed = true;
        let refused = self.send();
        self.refused(Some(node), refused);
    }
}

pub(super) fn origin(task: TaskId, raw: &RawRecord, partition: &TopicPartition) -> Origin {
    Origin {
        task,
        topic_partition: partition.clone(),
        offset: raw.offset,
        timestamp: raw.timestamp,
        key: raw.key.clone(),
        value: raw.value.clone(),
        headers: raw.headers.clone(),
    }
}
