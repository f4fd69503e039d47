//! K-16, consumers: what is fetched and not yet handed out is never more than a consumer may hold. A broker gives at least one batch, however
//! small the limit is, so that one from each node may come on top.

use super::{Checker, ClientId, Event, Frame, FrameKind, History, Violation};
use millstream_protocol::messages::fetch_response::{AbortedTransaction, PartitionData};
use millstream_protocol::messages::{FetchResponse, MetadataResponse, ResponseKind, Uuid};
use millstream_protocol::record::{BatchHeader, headers};
use millstream_protocol::{ApiKey, NodeId, TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut fetched = Fetched::default();
    let mut frames = history.frames.iter().filter(|frame| frame.kind == FrameKind::Response).peekable();
    for (at, client, event) in history.events() {
        // What is handed out at the moment at which an answer is given makes room for it.
        while let Some(frame) = frames.next_if(|frame| frame.at < at) {
            fetched.answered(frame, found);
        }
        fetched.note(client, event);
    }
    frames.for_each(|frame| fetched.answered(frame, found));
}

#[derive(Debug, Default)]
struct Fetched {
    /// By process.
    consumers: BTreeMap<ClientId, Held>,
    /// The process of a client.
    process_of: BTreeMap<ClientId, ClientId>,
    topics: BTreeMap<Uuid, TopicName>,
}

/// What a consumer holds.
#[derive(Debug, Default)]
struct Held {
    limit: usize,
    /// Sizes of batches, by their first offsets.
    batches: BTreeMap<TopicPartition, BTreeMap<i64, usize>>,
    nodes: BTreeSet<NodeId>,
    largest: usize,
}

impl Fetched {
    fn note(&mut self, client: ClientId, event: &Event) {
        if let Event::FetchLimit { process, bytes } = event {
            self.process_of.insert(client, *process);
            self.consumers.insert(*process, Held { limit: *bytes, ..Held::default() });
        }
        let Some(held) = self.process_of.get(&client).and_then(|process| self.consumers.get_mut(process)) else {
            return;
        };
        event.repositioned().iter().for_each(|partition| _ = held.batches.remove(partition));
        if let Event::Polled { records, .. } = event {
            records.iter().for_each(|read| held.release(&read.partition, read.offset));
        }
    }
    fn answered(&mut self, frame: &Frame, found: &mut Vec<Violation>) {
        let is_needed = frame.api == ApiKey::METADATA || frame.api == ApiKey::FETCH;
        if self.consumers.is_empty() || !is_needed {
            return;
        }
        match frame.response() {
            Some(ResponseKind::Metadata(response)) => self.learn(response),
            Some(ResponseKind::Fetch(response)) => self.fetched(frame, response, found),
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
    fn fetched(&mut self, frame: &Frame, response: FetchResponse, found: &mut Vec<Violation>) {
        let Some(held) = self.consumers.get_mut(&frame.client) else { return };
        for topic in response.responses {
            let name = self.topics.get(&topic.topic_id).cloned().unwrap_or(topic.topic);
            for data in topic.partitions {
                held.take(&TopicPartition::new(name.clone(), data.partition_index), data);
            }
        }
        held.nodes.insert(frame.node);
        let (bytes, limit) = (held.bytes(), held.limit + held.nodes.len() * held.largest);
        if bytes > limit {
            let text = format!(
                "at {:?} {:?} holds {bytes} fetched bytes, of which it may have {limit}",
                frame.at, frame.client
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
    /// Holds the batches that are to be handed out.
    fn take(&mut self, partition: &TopicPartition, data: PartitionData) {
        let Some(records) = data.records.into_bytes() else { return };
        let aborted = data.aborted_transactions.unwrap_or_default();
        for (header, batch) in headers(&records).filter_map(Result::ok) {
            if is_visible(&header, &aborted) {
                self.largest = self.largest.max(batch.len());
                self.batches.entry(partition.clone()).or_default().insert(header.base_offset, batch.len());
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
