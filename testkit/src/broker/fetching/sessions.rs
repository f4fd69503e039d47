//! Fetch sessions (KIP-227): the broker remembers what a client wants, requests and answers carry only what changes.

use super::plan::{Session, Want, WantKey, key_of};
use crate::broker::topics::Topics;
use millstream_protocol::hash::{HashMap, HashSet};
use millstream_protocol::messages::Uuid;
use millstream_protocol::messages::fetch_request::{FetchRequest, FetchTopic, ForgottenTopic};
use millstream_protocol::messages::fetch_response::PartitionData;
use millstream_protocol::{ErrorCode, TopicName};

/// The epoch of a request that opens a session.
const INITIAL_EPOCH: i32 = 0;
/// The epoch of a request that closes one, or wants none.
const FINAL_EPOCH: i32 = -1;

#[derive(Debug)]
struct Remembered {
    want: Want,
    /// What the client was told last: high watermark, log start. None before the first answer.
    told: Option<(i64, i64)>,
}

#[derive(Debug)]
struct OpenSession {
    /// The epoch that the next request must bear.
    epoch: i32,
    uses_ids: bool,
    /// In the order in which they are served; who got records goes to the end.
    partitions: Vec<Remembered>,
    last_used: u64,
}

/// Whether more may be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    Free,
    Full,
}

/// All sessions of the cluster.
#[derive(Debug)]
pub(crate) struct FetchSessions {
    open: HashMap<i32, OpenSession>,
    slots: usize,
    next_id: i32,
    uses: u64,
}
impl FetchSessions {
    pub(crate) fn new(slots: usize) -> Self {
        Self { open: HashMap::default(), slots, next_id: 1, uses: 0 }
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        self.open.values().map(|session| session.partitions.len() * size_of::<Remembered>() * 2).sum()
    }
    /// Finds out what a request wants, and how its answer is told.
    pub(crate) fn resolve(
        &mut self,
        request: &FetchRequest,
        uses_ids: bool,
        topics: &Topics,
        memory: Memory,
    ) -> Result<(Vec<Want>, Session), ErrorCode> {
        match request.session_epoch {
            FINAL_EPOCH => {
                self.open.remove(&request.session_id);
                Ok((wants(&request.topics, topics), Session::None))
            }
            INITIAL_EPOCH => {
                self.open.remove(&request.session_id);
                let wants = wants(&request.topics, topics);
                let session = if memory == Memory::Free { self.begin(&wants, uses_ids) } else { Session::None };
                Ok((wants, session))
            }
            // Its client begins another one, which is not kept.
            _ if memory == Memory::Full => {
                self.open.remove(&request.session_id);
                Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)
            }
            epoch => self.resume(request, epoch, uses_ids, topics),
        }
    }
    fn begin(&mut self, wants: &[Want], uses_ids: bool) -> Session {
        if wants.is_empty() || self.slots == 0 {
            return Session::None;
        }
        if self.open.len() >= self.slots {
            self.evict();
        }
        let id = self.next_id;
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        let partitions = wants.iter().map(|want| Remembered { want: want.clone(), told: None }).collect();
        self.uses += 1;
        self.open.insert(id, OpenSession { epoch: 1, uses_ids, partitions, last_used: self.uses });
        Session::Full(id)
    }
    fn evict(&mut self) {
        let oldest = self.open.iter().min_by_key(|(_, session)| session.last_used).map(|(id, _)| *id);
        oldest.and_then(|id| self.open.remove(&id));
    }
    fn resume(
        &mut self,
        request: &FetchRequest,
        epoch: i32,
        uses_ids: bool,
        topics: &Topics,
    ) -> Result<(Vec<Want>, Session), ErrorCode> {
        let session = self.open.get_mut(&request.session_id).ok_or(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)?;
        if session.epoch != epoch {
            return Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
        }
        if session.uses_ids != uses_ids {
            return Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
        }
        session.forget(request);
        session.learn(wants(&request.topics, topics));
        session.partitions.iter_mut().for_each(|each| each.want.learn_name(topics));
        self.uses += 1;
        session.last_used = self.uses;
        session.epoch = epoch.checked_add(1).unwrap_or(1);
        let wants = session.partitions.iter().map(|each| each.want.clone()).collect();
        if session.partitions.is_empty() {
            self.open.remove(&request.session_id);
            return Ok((wants, Session::None));
        }
        Ok((wants, Session::Incremental(request.session_id)))
    }
    /// Chooses what of an answer is told, and remembers it.
    pub(crate) fn choose(
        &mut self,
        session: Session,
        answers: Vec<(Want, PartitionData)>,
    ) -> Vec<(Want, PartitionData)> {
        let (id, is_full) = match session {
            Session::None => return answers,
            Session::Full(id) => (id, true),
            Session::Incremental(id) => (id, false),
        };
        let Some(session) = self.open.get_mut(&id) else { return answers };
        let told: Vec<bool> = answers.iter().enumerate().map(|(at, answer)| session.tell(at, answer)).collect();
        let served: Vec<bool> = answers.iter().map(|(_, data)| !data.records.is_empty()).collect();
        session.rotate(&served);
        answers.into_iter().zip(told).filter(|(_, is_news)| is_full || *is_news).map(|(answer, _)| answer).collect()
    }
}

impl OpenSession {
    fn forget(&mut self, request: &FetchRequest) {
        if request.forgotten_topics_data.is_empty() {
            return;
        }
        let keys = |topic: &ForgottenTopic| {
            let (name, id) = (topic.topic.clone(), topic.topic_id);
            topic.partitions.iter().map(move |partition| key_of(&name, id, *partition)).collect::<Vec<_>>()
        };
        let forgotten: HashSet<WantKey> = request.forgotten_topics_data.iter().flat_map(keys).collect();
        self.partitions.retain(|each| !forgotten.contains(&each.want.key()));
    }
    fn learn(&mut self, wants: Vec<Want>) {
        if wants.is_empty() {
            return;
        }
        let mut places: HashMap<WantKey, usize> = HashMap::default();
        for (place, each) in self.partitions.iter().enumerate() {
            places.entry(each.want.key()).or_insert(place);
        }
        for want in wants {
            let place = *places.entry(want.key()).or_insert(self.partitions.len());
            match self.partitions.get_mut(place) {
                Some(known) => known.want = Want { named: known.want.named.take(), ..want },
                None => self.partitions.push(Remembered { want, told: None }),
            }
        }
    }
    /// Whether an answer says anything new.
    fn tell(&mut self, at: usize, (want, data): &(Want, PartitionData)) -> bool {
        let Some(known) = self.partitions.get_mut(at).filter(|known| known.want.key() == want.key()) else {
            return true;
        };
        let now = Some((data.high_watermark, data.log_start_offset));
        let is_news = known.told != now
            || !data.records.is_empty()
            || data.error_code != 0
            || data.diverging_epoch.epoch >= 0
            || data.preferred_read_replica >= 0;
        // An error is told again with each answer.
        known.told = now.filter(|_| data.error_code == 0);
        is_news
    }
    fn rotate(&mut self, served: &[bool]) {
        if served.len() != self.partitions.len() || !served.contains(&true) {
            return;
        }
        let all = std::mem::take(&mut self.partitions);
        let (last, first): (Vec<_>, Vec<_>) = all.into_iter().zip(served).partition(|(_, served)| **served);
        self.partitions.extend(first.into_iter().chain(last).map(|(each, _)| each));
    }
}

/// Each partition once: at the place where it is named first, with what is said of it last.
fn wants(asked: &[FetchTopic], topics: &Topics) -> Vec<Want> {
    let mut places: HashMap<(Uuid, Option<&TopicName>, i32), usize> = HashMap::default();
    let mut wants: Vec<Want> = Vec::new();
    for topic in asked {
        let (id, name) = (topic.topic_id, topic.topic_id.is_nil().then_some(&topic.topic));
        for want in wants_of(topic, topics) {
            let place = *places.entry((id, name, want.partition)).or_insert(wants.len());
            match wants.get_mut(place) {
                Some(before) => *before = want,
                None => wants.push(want),
            }
        }
    }
    wants
}
fn wants_of(topic: &FetchTopic, topics: &Topics) -> impl Iterator<Item = Want> {
    let named = topics.name_of(topic.topic_id).cloned();
    topic.partitions.iter().map(move |partition| Want {
        topic: topic.topic.clone(),
        topic_id: topic.topic_id,
        named: named.clone(),
        partition: partition.partition,
        offset: partition.fetch_offset,
        leader_epoch: partition.current_leader_epoch,
        last_fetched_epoch: partition.last_fetched_epoch,
        max_bytes: usize::try_from(partition.partition_max_bytes).unwrap_or(0),
        fault: None,
    })
}
