//! What a processor may do.

use crate::task::{Children, Frame, Port, Side, Written};
use crate::{Data, Destination, ProcessorError, PunctuationType, Record, SameKey, Schedule, SideOutput, TaskId};
use millstream_protocol::{Headers, Offset, PartitionId, Timestamp, TopicName};
use std::fmt;
use std::time::Duration;

/// What a processor may do. `O` is the processor's `Out`.
///
/// Forwarding and sending give no result to handle: when a child or a sink fails, the handler of *that* failure decides. If it
/// says fail, this call still returns, the task stops before this record: what the record wrote and sent is
/// dropped, what finished before it is committed.
pub struct ProcessorContext<'t, O> {
    node: usize,
    port: &'t mut dyn Port<O>,
    sides: &'t mut [Side],
    frame: &'t mut Frame,
}
impl<'t, O> ProcessorContext<'t, O> {
    pub(crate) fn new(node: usize, port: &'t mut dyn Port<O>, sides: &'t mut [Side], frame: &'t mut Frame) -> Self {
        Self { node, port, sides, frame }
    }
}

impl<K, V> ProcessorContext<'_, Record<K, V>> {
    /// To every child, depth first: when this returns, they have processed it.
    ///
    /// A record's time may not be negative: this processor fails if it is.
    pub fn forward(&mut self, record: Record<K, V>) {
        if self.may_go_on(record.timestamp) {
            self.port.forward(record, self.frame);
        }
    }
    /// [`forward`](Self::forward) with the time and headers of what is being processed.
    pub fn emit(&mut self, key: K, value: V) {
        let record = self.frame.record(key, value);
        self.forward(record);
    }
}
impl<V> ProcessorContext<'_, SameKey<V>> {
    /// To every child, under the input's key, with the time and headers of what is being processed. There is no key in `init` and
    /// `punctuate`: this processor fails if it emits there.
    pub fn emit_value(&mut self, value: V) {
        if !self.frame.is_stopped() {
            self.port.forward(SameKey { value, timestamp: None }, self.frame);
        }
    }
    /// [`emit_value`](Self::emit_value) at another time.
    pub fn emit_value_at(&mut self, value: V, timestamp: Timestamp) {
        if self.may_go_on(timestamp) {
            self.port.forward(SameKey { value, timestamp: Some(timestamp) }, self.frame);
        }
    }
}
impl<O> ProcessorContext<'_, O> {
    /// To the children of a side output, which may carry other types.
    pub fn forward_to<K: Data, V: Data>(&mut self, output: &SideOutput<K, V>, record: Record<K, V>) {
        if !self.may_go_on(record.timestamp) {
            return;
        }
        let side = self.sides.iter_mut().find(|side| side.name == output.name());
        let Some(side) = side else { return };
        match side.children.as_any().downcast_mut::<Children<K, V>>() {
            Some(children) => children.forward(record, self.frame),
            None => self.frame.raise(other_types(output.name())),
        }
    }
    /// To a topic that need not be part of the topology: a [`Topic`](crate::Topic), or a name for types with serdes of their own.
    /// Takes the time and headers of what is being processed.
    pub fn send<K: 'static, V: 'static>(&mut self, topic: impl Destination<K, V>, key: &K, value: &V) {
        if self.frame.is_stopped() {
            return;
        }
        let (node, frame) = (self.node, &mut *self.frame);
        let name = frame.topic(topic.name());
        let (timestamp, headers) = (frame.timestamp(), frame.headers().clone());
        topic.with_serdes(|key_serde, value_serde| {
            let (key, value) = ((key_serde, key), (value_serde, value));
            frame.write(node, Written { topic: name, partition: None, timestamp, headers, key, value });
        });
    }
    /// Calls `punctuate` at intervals: by stream time at the first record and then at the multiples of the interval, by wall clock
    /// an interval from now. Ticks that are missed become one call.
    pub fn schedule(&mut self, interval: Duration, clock: PunctuationType) -> Schedule {
        self.frame.schedule(self.node, interval, clock, None)
    }
    /// Calls `punctuate` at `start` and at intervals from there; if `start` is past, at the next time of that grid.
    pub fn schedule_from(&mut self, start: Timestamp, interval: Duration, clock: PunctuationType) -> Schedule {
        self.frame.schedule(self.node, interval, clock, Some(start))
    }
    /// Asks for a commit soon; it happens after this record.
    pub fn request_commit(&mut self) {
        self.frame.request_commit();
    }
    /// Counts what is being processed as dropped, for the metric `dropped-records-total`.
    pub fn count_dropped(&mut self) {
        self.frame.count_dropped();
    }
    /// Where the record came from; none in `init` and `punctuate`.
    #[must_use]
    pub fn record_metadata(&self) -> Option<RecordMetadata<'_>> {
        self.frame.record_metadata()
    }
    /// The headers that `emit` and [`send`](Self::send) give on.
    pub fn headers_mut(&mut self) -> &mut Headers {
        self.frame.headers_mut()
    }
    /// The time of what is being processed: the record's, or the punctuation's.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        self.frame.timestamp()
    }
    /// The highest time that this task has seen; [`Timestamp::NONE`] before the first record.
    #[must_use]
    pub fn stream_time(&self) -> Timestamp {
        self.frame.stream_time()
    }
    /// The wall clock as the task was last told: read it here, not from the system, and tests can move it.
    #[must_use]
    pub fn wall_clock_time(&self) -> Timestamp {
        self.frame.wall_clock()
    }
    /// This task.
    #[must_use]
    pub fn task_id(&self) -> TaskId {
        self.frame.task()
    }
    /// The application.
    #[must_use]
    pub fn application_id(&self) -> &str {
        self.frame.application_id()
    }

    fn may_go_on(&mut self, timestamp: Timestamp) -> bool {
        if timestamp < Timestamp::EPOCH && !self.frame.is_stopped() {
            let time = timestamp.as_millis();
            self.frame.raise(format!("a record was forwarded with the time {time}: times may not be negative").into());
        }
        !self.frame.is_stopped()
    }
}
fn other_types(side: &str) -> ProcessorError {
    format!("side output `{side}` was forwarded another key or value than its children take").into()
}
impl<O> fmt::Debug for ProcessorContext<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessorContext")
            .field("task", &self.task_id())
            .field("record", &self.record_metadata())
            .field("timestamp", &self.timestamp())
            .finish_non_exhaustive()
    }
}

/// Where a record came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordMetadata<'t> {
    /// The topic.
    pub topic: &'t TopicName,
    /// The partition.
    pub partition: PartitionId,
    /// The position.
    pub offset: Offset,
}
