//! Takes records and punctuations one by one, to their end or to what becomes of their failure.

use super::Task;
use super::edge::Call;
use super::frame::{Stop, origin};
use crate::failure::TaskError;
use crate::operator::Loaded;
use crate::{PunctuationType, TaskId};
use millstream_protocol::record::RecordError;
use millstream_protocol::{Headers, Offset, Timestamp, TopicPartition};

/// What a call of [`Task::process`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// How many records were taken.
    pub records: usize,
    /// What to do next.
    pub progress: Progress,
}
/// Why a call of [`Task::process`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The budget is spent, and there may be more.
    Ready,
    /// There is no record, or the order of time asks to wait for a partition that has none.
    Idle,
    /// The collector is full.
    Parked,
    /// A record is to be tried again, not before then.
    Retrying(Timestamp),
}

/// A record that is to be tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    input: usize,
    at: Timestamp,
}
/// What to take next.
enum Next {
    Record(usize),
    Nothing(Progress),
}
/// The input record that ends: its partition and offset.
type Ending = (usize, Offset);

impl Task {
    /// Calls `init` of the processors, in the order of the graph.
    ///
    /// # Errors
    /// If one of them fails.
    pub fn start(&mut self, now: Timestamp) -> Result<(), TaskError> {
        self.frame.wall_clock = now;
        for place in 0..self.processors.len() {
            self.frame.begin(self.frame.stream_time.max(Timestamp::EPOCH), Headers::new());
            self.visit(self.processors[place], &Call::Init);
            self.finish(None)?;
        }
        Ok(())
    }
    /// Processes at most `budget` records; after each, the stream-time punctuations that are due.
    ///
    /// # Errors
    /// If a failure's handler says fail. The task stands before the record that failed, and is not to be used any more.
    pub fn process(&mut self, now: Timestamp, budget: usize) -> Result<Step, TaskError> {
        self.frame.wall_clock = now;
        for records in 0..budget {
            match self.next(now)? {
                Next::Record(input) => self.take(input)?,
                Next::Nothing(progress) => return Ok(Step { records, progress }),
            }
        }
        Ok(Step { records: budget, progress: Progress::Ready })
    }
    /// Calls the wall-clock punctuations that are due.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub fn punctuate(&mut self, now: Timestamp) -> Result<(), TaskError> {
        self.frame.wall_clock = now;
        self.punctuate_due(PunctuationType::WallClockTime, now)
    }
    /// Calls `close` of the processors, in the order of the graph. Do so also after an error.
    pub fn close(&mut self) {
        for place in 0..self.processors.len() {
            self.visit(self.processors[place], &Call::Close);
        }
    }

    fn next(&mut self, now: Timestamp) -> Result<Next, TaskError> {
        if let Some(Retry { input, at }) = self.retry {
            return if now < at { Ok(Next::Nothing(Progress::Retrying(at))) } else { self.take_again(input) };
        }
        if !self.frame.collector.is_ready() {
            return Ok(Next::Nothing(Progress::Parked));
        }
        for input in 0..self.group.queues.len() {
            self.load_head(input)?;
        }
        match self.group.choose() {
            Some(input) if self.group.is_ready(now) => Ok(Next::Record(input)),
            _ => Ok(Next::Nothing(Progress::Idle)),
        }
    }
    /// Makes the next good record of a partition its head. Those that are left out on the way are done.
    fn load_head(&mut self, input: usize) -> Result<(), TaskError> {
        while self.group.queues[input].head.is_none() {
            let queue = &mut self.group.queues[input];
            let raw = queue
                .next_raw(&mut self.decompressor)
                .map_err(|error| unreadable(self.frame.task, &queue.partition, error))?;
            let Some(raw) = raw else {
                if let Some(end) = queue.take_end() {
                    self.commits.lock().pass(input, end);
                }
                return Ok(());
            };
            let (offset, source) = (raw.offset, &mut self.sources[queue.source]);
            match source.load(queue.input, &queue.partition.topic, &raw, queue.partition_time) {
                Loaded::Ready(time) => {
                    queue.head = Some((raw, time));
                    return Ok(());
                }
                Loaded::Dropped => self.frame.count_dropped(),
                Loaded::Undecodable(part, error) => {
                    let origin = origin(self.frame.task, &raw, &queue.partition);
                    self.frame.deserialization_failed(source.node(), origin, part, error);
                }
                Loaded::Untimed(error) => {
                    let doing = format!("find the time of {} at offset {offset}", queue.partition);
                    self.frame.fail_hard(Some(source.node()), doing, error);
                }
            }
            self.leave_out((input, offset))?;
        }
        Ok(())
    }
    /// A record that was never in hand is done, with what its failure's handler has written.
    fn leave_out(&mut self, ending: Ending) -> Result<(), TaskError> {
        if let Some(Stop::Fail(error)) = self.frame.stop.take() {
            return Err(error);
        }
        self.frame.scope.begin_record(Timestamp::EPOCH);
        self.finish(Some(ending))
    }
    fn take(&mut self, input: usize) -> Result<(), TaskError> {
        let queue = &mut self.group.queues[input];
        let Some((raw, time)) = queue.head.take() else { return Ok(()) };
        queue.partition_time = queue.partition_time.max(Some(time));
        let (source, topic, offset) = (queue.source, queue.input, raw.offset);
        self.frame.stream_time = self.frame.stream_time.max(time);
        self.frame.raw = Some((raw, input));
        self.frame.begin(time, Headers::new());
        self.sources[source].process(topic, &mut self.frame);
        self.finish(Some((input, offset)))?;
        self.punctuate_due(PunctuationType::StreamTime, self.frame.stream_time)
    }
    /// The record went through its source before, so it is made of its bytes again.
    fn take_again(&mut self, input: usize) -> Result<Next, TaskError> {
        self.retry = None;
        let queue = &mut self.group.queues[input];
        if let Some((raw, time)) = &mut queue.head {
            let source = &mut self.sources[queue.source];
            match source.load(queue.input, &queue.partition.topic, raw, queue.partition_time) {
                Loaded::Ready(now) => *time = now,
                Loaded::Dropped | Loaded::Undecodable(..) | Loaded::Untimed(_) => {
                    let doing = format!("read {} at offset {} again", queue.partition, raw.offset);
                    let why = "a serde or timestamp extractor gave another answer than before".into();
                    return Err(TaskError::new(self.frame.task, None, doing, why));
                }
            }
        }
        Ok(Next::Record(input))
    }
    fn punctuate_due(&mut self, clock: PunctuationType, now: Timestamp) -> Result<(), TaskError> {
        while let Some(due) = self.frame.schedules.take_due(clock, now) {
            self.frame.begin(now, Headers::new());
            self.visit(due.node, &Call::Punctuate(due.punctuation));
            self.finish(None)?;
        }
        Ok(())
    }
    fn visit(&mut self, node: usize, call: &Call) {
        let frame = &mut self.frame;
        self.sources.iter_mut().any(|source| source.visit(node, call, frame));
    }

    /// Ends what is in hand: sends its output and makes it part of the epoch, or does what its failure asks for.
    fn finish(&mut self, ending: Option<Ending>) -> Result<(), TaskError> {
        if self.frame.stop.is_none() && !self.try_end(ending) && self.frame.stop.is_none() && !self.try_end(ending) {
            // The first time, handlers answered for what the collector refused; now it refuses what they sent.
            self.frame.fail_hard(None, "send dead letters".to_owned(), "the collector refused them".into());
        }
        match self.frame.stop.take() {
            Some(stop) => self.undo(stop, ending)?,
            None => self.frame.schedules.end_record(),
        }
        Ok(())
    }
    /// Whether all output was taken. If not, the handlers have answered.
    fn try_end(&mut self, ending: Option<Ending>) -> bool {
        let next = ending.map(|(input, offset)| (input, self.group.queues[input].after(offset)));
        let mut finished = self.commits.lock();
        let refused = self.frame.send();
        if refused.is_empty() {
            finished.end(&self.frame.scope, std::mem::take(&mut self.frame.commit_requested));
            if let Some((input, next)) = next {
                finished.advance(input, next, self.group.queues[input].partition_time);
            }
            self.frame.clear();
            return true;
        }
        drop(finished);
        self.frame.refused(None, refused);
        false
    }
    /// Takes back what the record in hand has done, and does what its failure asks for.
    fn undo(&mut self, stop: Stop, ending: Option<Ending>) -> Result<(), TaskError> {
        self.commits.lock().undo(&self.frame.scope);
        self.frame.schedules.drop_record();
        self.frame.commit_requested = false;
        match (stop, ending) {
            (Stop::Fail(error), _) => {
                self.put_back(ending);
                return Err(error);
            }
            (Stop::Retry(after), Some((input, _))) => {
                self.put_back(ending);
                self.frame.attempts += 1;
                self.retry = Some(Retry { input, at: self.frame.wall_clock + after });
            }
            (Stop::Skip | Stop::Retry(_), _) => {
                self.frame.count_dropped();
                self.frame.scope.begin_record(self.frame.timestamp());
                return self.finish(ending);
            }
        }
        Ok(())
    }
    /// The record in hand is the first of its partition again.
    fn put_back(&mut self, ending: Option<Ending>) {
        self.frame.outputs.clear();
        if let (Some((input, _)), Some((raw, _))) = (ending, self.frame.raw.take()) {
            let time = raw.timestamp;
            self.group.queues[input].head = Some((raw, time));
        }
    }
}

fn unreadable(task: TaskId, partition: &TopicPartition, error: RecordError) -> TaskError {
    TaskError::new(task, None, format!("read a batch of {partition}"), error.into())
}
