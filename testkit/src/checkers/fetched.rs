//! K-16, consumers: what is fetched and not yet handed out is never more than a consumer may hold. A broker gives at least one batch, however
//! little was asked for: an answer's first batch counts as no more than its request asked for.

use super::{Checker, ClientId, Event, Frame, FrameKind, History, Violation};
use millstream_protocol::messages::fetch_response::{AbortedTransaction, PartitionData};
use millstream_protocol::messages::{FetchResponse, MetadataResponse, RequestKind, ResponseKind, Uuid};
use millstream_protocol::record::{BatchHeader, headers};
use millstream_protocol::{ApiKey, TopicName, TopicPartition};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let tells_receipt = history.frames.iter().any(|frame| frame.kind == FrameKind::Received);
    let mut fetched = Fetched { tells_receipt, ..Fetched::default() };
    let mut frames = history.frames.iter().peekable();
    for (at, client, event) in history.events() {
        while let Some(frame) = frames.next_if(|frame| frame.at <= at) {
            fetched.passed(frame, found);
        }
        fetched.note(at, client, event);
    }
    frames.for_each(|frame| fetched.passed(frame, found));
}

#[derive(Debug, Default)]
struct Fetched<'h> {
    tells_receipt: bool,
    /// By process.
    consumers: BTreeMap<ClientId, Held>,
    /// The process of a client.
    process_of: BTreeMap<ClientId, ClientId>,
    topics: BTreeMap<Uuid, TopicName>,
    /// Fetches without an answer, by connection.
    asked: BTreeMap<u64, VecDeque<Asked>>,
    /// Answers on their way, by connection.
    coming: BTreeMap<u64, VecDeque<(&'h Frame, Option<Asked>)>>,
}

/// What a fetch asked for, and when.
#[derive(Debug, Clone, Copy)]
struct Asked {
    at: Duration,
    bytes: usize,
}

/// What a consumer holds.
#[derive(Debug, Default)]
struct Held {
    limit: usize,
    /// What batches count, by their first offsets.
    batches: BTreeMap<TopicPartition, BTreeMap<i64, usize>>,
    /// Since when a partition is read from another place, or not at all: what was asked for before is dropped. What was asked for in this very
    /// instant may be of before, too: frames and events of one instant have no order among them, and only what is sure counts.
    moved: BTreeMap<TopicPartition, Duration>,
}

impl<'h> Fetched<'h> {
    fn note(&mut self, at: Duration, client: ClientId, event: &Event) {
        if let Event::FetchLimit { process, bytes } = event {
            self.process_of.insert(client, *process);
            self.consumers.insert(*process, Held { limit: *bytes, ..Held::default() });
        }
        let Some(held) = self.process_of.get(&client).and_then(|process| self.consumers.get_mut(process)) else {
            return;
        };
        match event {
            Event::Polled { records, .. } => {
                records.iter().for_each(|read| held.release(&read.partition, read.offset));
            }
            // What is newly assigned is fetched before the application hears of it.
            Event::Assigned { .. } => {}
            event => event.repositioned().iter().for_each(|partition| held.drop_all(at, partition)),
        }
    }
    fn passed(&mut self, frame: &'h Frame, found: &mut Vec<Violation>) {
        match frame.kind {
            FrameKind::Sent => self.sent(frame),
            FrameKind::Request => {}
            FrameKind::Response => {
                let is_fetch = frame.api == ApiKey::FETCH;
                let queue = self.asked.get_mut(&frame.connection).filter(|_| is_fetch);
                let asked = queue.and_then(VecDeque::pop_front);
                if self.tells_receipt {
                    self.coming.entry(frame.connection).or_default().push_back((frame, asked));
                } else {
                    self.answered(frame, asked, found);
                }
            }
            FrameKind::Received => {
                let answer = self.coming.get_mut(&frame.connection).and_then(VecDeque::pop_front);
                answer.into_iter().for_each(|(answer, asked)| self.answered(answer, asked, found));
            }
        }
    }
    fn sent(&mut self, frame: &Frame) {
        if frame.api == ApiKey::FETCH
            && self.consumers.contains_key(&frame.client)
            && let Some(RequestKind::Fetch(request)) = frame.request()
        {
            let asked = Asked { at: frame.at, bytes: usize::try_from(request.max_bytes).unwrap_or(0) };
            self.asked.entry(frame.connection).or_default().push_back(asked);
        }
    }
    fn answered(&mut self, frame: &Frame, asked: Option<Asked>, found: &mut Vec<Violation>) {
        let is_needed = frame.api == ApiKey::METADATA || asked.is_some();
        if self.consumers.is_empty() || !is_needed {
            return;
        }
        match (frame.response(), asked) {
            (Some(ResponseKind::Metadata(response)), _) => self.learn(response),
            (Some(ResponseKind::Fetch(response)), Some(asked)) => self.fetched(frame, asked, response, found),
            _ => {}
        }
    }
    fn learn(&mut self, response: MetadataResponse) {
        let named = response
            .topics
            .into_iter()
            .filter_map(|topic| Some((topic.topic_id, TopicName::from(topic.name?.as_str()))));
        self.topics.extend(named);
    }
    fn fetched(&mut self, frame: &Frame, asked: Asked, response: FetchResponse, found: &mut Vec<Violation>) {
        let Some(held) = self.consumers.get_mut(&frame.client) else { return };
        let mut first = Some(asked.bytes);
        for topic in response.responses {
            let name = self.topics.get(&topic.topic_id).cloned().unwrap_or(topic.topic);
            for data in topic.partitions {
                held.take(asked.at, &TopicPartition::new(name.clone(), data.partition_index), data, &mut first);
            }
        }
        let (bytes, limit, at, client) = (held.bytes(), held.limit, frame.at, frame.client);
        if bytes > limit {
            let text = format!(
                "{client:?} holds {bytes} fetched bytes, of which it may have {limit}, by the answer of {at:?}"
            );
            found.push(Violation::new(Checker::K16, "memory", text));
        }
    }
}

impl Held {
    fn bytes(&self) -> usize {
        self.batches.values().flat_map(BTreeMap::values).sum()
    }
    fn release(&mut self, partition: &TopicPartition, read: i64) {
        if let Some(batches) = self.batches.get_mut(partition) {
            *batches = batches.split_off(&read.saturating_add(1));
        }
    }
    fn drop_all(&mut self, at: Duration, partition: &TopicPartition) {
        self.batches.remove(partition);
        self.moved.insert(partition.clone(), at);
    }
    /// Holds the batches that are to be handed out. The first of an answer counts no more than `first`.
    fn take(&mut self, asked: Duration, partition: &TopicPartition, data: PartitionData, first: &mut Option<usize>) {
        let Some(records) = data.records.into_bytes() else { return };
        let aborted = data.aborted_transactions.unwrap_or_default();
        let is_dropped = self.moved.get(partition).is_some_and(|moved| asked <= *moved);
        for (header, batch) in headers(&records).filter_map(Result::ok) {
            let counts = batch.len().min(first.take().unwrap_or(usize::MAX));
            if is_visible(&header, &aborted) && !is_dropped {
                self.batches.entry(partition.clone()).or_default().insert(header.base_offset, counts);
            }
        }
    }
}

/// Whether an application sees a batch; perhaps not one that it does see, of a producer that aborted before.
fn is_visible(header: &BatchHeader, aborted: &[AbortedTransaction]) -> bool {
    let is_of = |transaction: &AbortedTransaction| {
        transaction.producer_id == header.producer_id && transaction.first_offset <= header.last_offset()
    };
    header.count > 0 && !header.is_control() && !(header.is_transactional() && aborted.iter().any(is_of))
}
