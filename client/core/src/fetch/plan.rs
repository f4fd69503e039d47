//! What to fetch from whom.

use super::partition::{Partition, Phase};
use super::session::{Delta, Entry, Naming, Stream};
use super::{FetchConfig, Fetcher};
use crate::cluster::Image;
use millstream_protocol::messages::{FetchRequest, StrBytes, Uuid};
use millstream_protocol::{LeaderEpoch, NodeId, TopicPartition};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Names are used up to this version of Fetch, ids from the next one on.
const LAST_VERSION_WITH_NAMES: i16 = 12;
/// So many fetches beside a session's may wait one after the other while that waits: each holds up what becomes readable meanwhile. Java and
/// franz-go ask a broker for nothing while a fetch waits there, so that such a partition's records wait for the whole of `fetch.max.wait.ms`.
const WAITS_BESIDE: u32 = 10;
/// A broker that takes this version finds a truncated log by itself.
const FINDS_DIVERGENCE: i16 = 12;

/// A Fetch to be sent. Answer it with `handle_fetch` of the same stream.
#[derive(Debug)]
#[must_use = "the stream's other fetches wait for this one's answer"]
pub struct FetchPlan {
    stream: Stream,
    naming: Naming,
    max_wait: Duration,
    min_bytes: usize,
    max_bytes: usize,
    isolation: i8,
    rack: String,
    delta: Delta,
}

impl FetchPlan {
    /// Whom to ask, over which connection.
    #[must_use]
    pub const fn stream(&self) -> Stream {
        self.stream
    }
    /// The highest version that may be used: topics whose id is not known can only be named (C-13).
    #[must_use]
    pub fn max_version(&self) -> Option<i16> {
        (self.naming == Naming::Names).then_some(LAST_VERSION_WITH_NAMES)
    }
    /// How long the broker may wait.
    #[must_use]
    pub const fn max_wait(&self) -> Duration {
        self.max_wait
    }
    /// The request in this version.
    #[must_use]
    pub fn request(self, version: i16) -> FetchRequest {
        let mut request = FetchRequest {
            max_wait_ms: i32::try_from(self.max_wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: clamp(self.min_bytes),
            max_bytes: clamp(self.max_bytes),
            isolation_level: self.isolation,
            rack_id: StrBytes::from_string(self.rack),
            session_id: self.delta.session_id,
            session_epoch: self.delta.session_epoch,
            topics: self.delta.topics,
            forgotten_topics_data: if version >= 7 { self.delta.forgotten } else { Vec::new() },
            ..FetchRequest::default()
        };
        if version < FINDS_DIVERGENCE {
            let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| partition.last_fetched_epoch = -1);
        }
        request
    }
}

impl Fetcher {
    /// The streams that have something to fetch and no fetch on its way.
    #[must_use]
    pub fn streams_to_fetch(&mut self, now: Instant, image: &Image) -> BTreeSet<Stream> {
        if self.room() == 0 {
            return BTreeSet::new();
        }
        let (mut nodes, under_way) = (BTreeSet::new(), self.under_way());
        for id in &self.order {
            let Some(partition) = self.partitions.get_mut(id) else { continue };
            if fetchable(partition, now, &self.config, &under_way)
                && let Some((node, _)) = source(partition, now, image)
            {
                nodes.insert(node);
            }
        }
        nodes.into_iter().filter_map(|node| self.free_stream(now, node)).collect()
    }
    /// The next fetch of a stream, unless there is nothing to fetch or no room for it.
    pub fn poll_fetch(&mut self, now: Instant, stream: Stream, image: &Image) -> Option<FetchPlan> {
        if !self.streams.entry(stream).or_default().is_free(now) {
            return None;
        }
        let max_bytes = self.share_of_room();
        if max_bytes == 0 {
            return None;
        }
        let request = self.last_request + 1;
        let wanted = self.wanted(now, stream, request, image);
        if wanted.is_empty() {
            return None;
        }
        self.last_request = request;
        let nil = wanted.iter().any(|(_, entry)| entry.topic_id == Uuid::nil());
        let naming = if nil { Naming::Names } else { Naming::Ids };
        let session = self.streams.entry(stream).or_default();
        (session.request, session.in_flight, session.picture) = (request, Some(max_bytes), image.generation);
        Some(FetchPlan {
            stream,
            naming,
            max_wait: if stream.is_beside() { self.config.max_wait / WAITS_BESIDE } else { self.config.max_wait },
            min_bytes: self.config.min_bytes,
            max_bytes,
            isolation: self.config.isolation.code(),
            rack: self.config.rack.clone().unwrap_or_default(),
            delta: if stream.is_beside() { session.alone(wanted, naming) } else { session.delta(wanted, naming) },
        })
    }
    /// Whether some partition has no leader to be asked: the picture of the cluster is to be renewed.
    #[must_use]
    pub fn needs_metadata(&self, image: &Image) -> bool {
        self.partitions.keys().any(|id| image.leader(id).is_none())
    }

    fn wanted(&mut self, now: Instant, stream: Stream, request: u64, image: &Image) -> Vec<(TopicPartition, Entry)> {
        let node = stream.node();
        let version = self.streams.get(&Stream::of_session(node)).and_then(|session| session.version);
        let (mut wanted, under_way) = (Vec::new(), self.under_way());
        for id in &self.order {
            let Some(partition) = self.partitions.get_mut(id) else { continue };
            if !fetchable(partition, now, &self.config, &under_way) {
                continue;
            }
            let Some((_, epoch)) = source(partition, now, image).filter(|(source, _)| *source == node) else {
                continue;
            };
            if partition.must_validate(epoch, version) {
                partition.phase = Phase::Validating;
                continue;
            }
            partition.checked_epoch = epoch.or(partition.checked_epoch);
            partition.fetched_by = request;
            partition.goes_back &= stream.is_beside();
            wanted.push((id.clone(), partition.entry(epoch, topic_id(id, image), &self.config)));
        }
        // Whoever was first comes last the next time; topics stay together, since a request names each once.
        self.order.rotate_left(usize::from(!self.order.is_empty()));
        wanted.sort_by(|(left, _), (right, _)| left.topic.cmp(&right.topic));
        wanted
    }
    /// The numbers of the requests that are on their way.
    fn under_way(&self) -> Vec<u64> {
        self.streams.values().filter(|session| session.in_flight.is_some()).map(|session| session.request).collect()
    }
    /// The session's stream; while that waits for an answer, the one beside it (C-14).
    fn free_stream(&self, now: Instant, node: NodeId) -> Option<Stream> {
        let is_free = |stream: &Stream| self.streams.get(stream).is_none_or(|session| session.is_free(now));
        let (stream, beside) = (Stream::of_session(node), Stream::beside(node));
        if is_free(&stream) {
            return Some(stream);
        }
        let is_waiting = self.streams.get(&stream).is_some_and(|session| session.in_flight.is_some());
        Some(beside).filter(|beside| is_waiting && is_free(beside))
    }
    /// Bytes that may still be asked for.
    fn room(&self) -> usize {
        let asked: usize = self.streams.values().filter_map(|session| session.in_flight).sum();
        self.config.max_bytes.saturating_sub(self.buffered_bytes()).saturating_sub(asked)
    }
    /// One stream's part of the room, so that a slow one does not hold it all (C-15). Each broker may have two.
    fn share_of_room(&self) -> usize {
        let brokers = self.streams.keys().filter(|stream| !stream.is_beside()).count().max(1);
        self.room().min((self.config.max_bytes / (2 * brokers)).max(self.config.max_partition_bytes))
    }
}

impl super::Session {
    pub(super) fn is_free(&self, now: Instant) -> bool {
        self.in_flight.is_none() && self.not_before.is_none_or(|at| at <= now)
    }
}

impl Partition {
    /// A leader of another term may lack the record before the position (KIP-320). Brokers that are known to look by
    /// themselves are not asked beforehand.
    fn must_validate(&self, epoch: Option<LeaderEpoch>, version: Option<i16>) -> bool {
        let changed = epoch.is_some() && epoch != self.checked_epoch;
        changed && self.position.epoch.is_some() && version.is_none_or(|version| version < FINDS_DIVERGENCE)
    }
    fn entry(&self, epoch: Option<LeaderEpoch>, topic_id: Uuid, config: &FetchConfig) -> Entry {
        Entry {
            generation: self.generation,
            topic_id,
            offset: self.position.offset,
            leader_epoch: epoch.map_or(-1, LeaderEpoch::get),
            last_epoch: self.position.epoch.map_or(-1, LeaderEpoch::get),
            max_bytes: clamp(config.max_partition_bytes),
        }
    }
}

fn fetchable(partition: &Partition, now: Instant, config: &FetchConfig, under_way: &[u64]) -> bool {
    partition.phase == Phase::Fetching
        // What goes back is on its way beside the session, if at all: whoever asks now is the session.
        && (partition.goes_back || !under_way.contains(&partition.fetched_by))
        && !partition.paused
        && !partition.waits(now)
        && partition.buffered_bytes < config.max_partition_bytes
}

/// The replica nearby while its lease runs, or the leader; nobody, if the leader has said that it is none and there is no news since.
fn source(partition: &mut Partition, now: Instant, image: &Image) -> Option<(NodeId, Option<LeaderEpoch>)> {
    let (leader, epoch) = image.leader(&partition.id)?;
    let usable = |(_, until): &(NodeId, Instant)| *until > now;
    if let Some((unknown, _)) = partition.preferred.filter(|(node, _)| image.broker(*node).is_none()) {
        partition.is_replica_unknown |= partition.give_up_replica(unknown);
    }
    partition.preferred = partition.preferred.filter(usable);
    let node = partition.preferred.map_or(leader, |(node, _)| node);
    let is_denied = partition.denied.is_some_and(|(denied, picture)| denied == node && picture >= image.generation);
    (!is_denied).then_some((node, epoch))
}

fn topic_id(id: &TopicPartition, image: &Image) -> Uuid {
    image.topic(id.topic.as_str()).and_then(|topic| topic.id).unwrap_or(Uuid::nil())
}

fn clamp(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}
