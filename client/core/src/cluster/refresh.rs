//! When to ask for metadata, for what, and what the answer means for those who wait.

use super::image::{Broker, Image};
use super::merge::LeaderHint;
use crate::backoff::{Backoff, Random};
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::metadata_response::MetadataResponse;
use millstream_protocol::{ErrorCode, TopicName};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Times of the refresh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RefreshOptions {
    /// How old the picture may become (`metadata.max.age.ms`).
    pub max_age: Duration,
    /// The first wait after a failure (`retry.backoff.ms`); also the least time between two requests.
    pub backoff: Duration,
    /// The longest wait after failures (`retry.backoff.max.ms`).
    pub backoff_max: Duration,
    /// How long a topic that brokers do not know may still be on its way (M-6).
    pub propagation: Duration,
    /// How long a topic that nobody asks for is still refreshed (`metadata.max.idle.ms`).
    pub max_idle: Duration,
}

impl Default for RefreshOptions {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(300),
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(1),
            propagation: Duration::from_secs(30),
            max_idle: Duration::from_secs(300),
        }
    }
}

/// What the next request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// The topics; none at all means brokers only (M-12).
    pub topics: Vec<TopicName>,
    /// Whether brokers that are configured so may make the topics that do not exist.
    pub creation: Creation,
}

/// Whether using a topic may make it (`auto.create.topics.enable` on the brokers must agree).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "yes or no")]
pub enum Creation {
    /// It may.
    Allowed,
    /// It must exist.
    Forbidden,
}

/// The machine of the refresh: at most one request is under way (M-7).
#[derive(Debug)]
pub struct Cluster {
    options: RefreshOptions,
    random: Random,
    backoff: Backoff,
    image: Arc<Image>,
    topics: HashMap<TopicName, Interest>,
    state: State,
    updated: Option<Instant>,
}

// Idle(due) ── poll_request ──▶ Asking ── handle_answer / handle_failure ──▶ Idle(due)
//   `request` moves `due` forward; during Asking it marks that what is asked for is not enough.
#[derive(Debug)]
enum State {
    Idle { due: Instant, earliest: Instant },
    Asking { again: bool },
}

#[derive(Debug)]
struct Interest {
    last_used: Instant,
    unknown_since: Option<Instant>,
    asked: bool,
    creation: Creation,
}

impl Cluster {
    /// A machine that wants its first request now.
    #[must_use]
    pub fn new(now: Instant, options: RefreshOptions, random: Random) -> Self {
        Self {
            backoff: Backoff::new(options.backoff, options.backoff_max),
            options,
            random,
            image: Arc::default(),
            topics: HashMap::default(),
            state: State::Idle { due: now, earliest: now },
            updated: None,
        }
    }

    /// Somebody uses this topic. Asks for it at once if it is new.
    pub fn handle_interest(&mut self, now: Instant, topic: &TopicName, creation: Creation) {
        if let Some(interest) = self.topics.get_mut(topic) {
            interest.last_used = now;
            return;
        }
        self.topics.insert(topic.clone(), Interest { last_used: now, unknown_since: None, asked: false, creation });
        self.request_at_once(now);
    }
    /// Somebody met an error that says that the picture is old (M-1).
    pub fn request(&mut self, now: Instant) {
        match &mut self.state {
            State::Idle { due, earliest } => *due = now.max(*earliest).min(*due),
            State::Asking { again, .. } => *again = true,
        }
    }
    /// As [`request`](Self::request), without the pause between two requests: for what has never been asked.
    fn request_at_once(&mut self, now: Instant) {
        match &mut self.state {
            State::Idle { due, .. } => *due = now.min(*due),
            State::Asking { again, .. } => *again = true,
        }
    }
    /// What to ask now, if anything. The answer must come back by [`handle_answer`](Self::handle_answer) or
    /// [`handle_failure`](Self::handle_failure).
    pub fn poll_request(&mut self, now: Instant) -> Option<Wanted> {
        let State::Idle { due, .. } = self.state else { return None };
        if due > now {
            return None;
        }
        let idle = self.options.max_idle;
        self.topics.retain(|_, interest| now.saturating_duration_since(interest.last_used) < idle);
        for interest in self.topics.values_mut() {
            interest.asked = true;
        }
        let topics = self.topics.keys().cloned().collect();
        self.state = State::Asking { again: false };
        Some(Wanted { topics, creation: self.creation() })
    }
    /// When [`poll_request`](Self::poll_request) will have something; none while a request is under way.
    #[must_use]
    pub const fn poll_deadline(&self) -> Option<Instant> {
        match self.state {
            State::Idle { due, .. } => Some(due),
            State::Asking { .. } => None,
        }
    }

    /// The answer to the request under way. Returns the new picture.
    pub fn handle_answer(&mut self, now: Instant, answer: &MetadataResponse) -> Arc<Image> {
        self.image = Arc::new(self.image.merged(answer));
        self.updated = Some(now);
        let unsettled = self.note_unknown(now);
        let again = matches!(self.state, State::Asking { again: true, .. });
        let wait = if unsettled {
            self.backoff.next(&mut self.random)
        } else {
            self.backoff.reset();
            if again { self.options.backoff } else { self.random.jitter(self.options.max_age) }
        };
        // A new topic is asked for at once; the least time between two requests is for errors that repeat.
        let fresh = self.topics.values().any(|interest| !interest.asked);
        let due = if fresh { now } else { now + wait };
        self.state = State::Idle { due, earliest: now + self.options.backoff };
        Arc::clone(&self.image)
    }
    /// The request under way brought nothing.
    pub fn handle_failure(&mut self, now: Instant) {
        let due = now + self.backoff.next(&mut self.random);
        self.state = State::Idle { due, earliest: due };
    }
    /// Leaders named in another answer. Returns the new picture if they are news.
    pub fn handle_hints(&mut self, hints: &[LeaderHint], brokers: Vec<Broker>) -> Option<Arc<Image>> {
        self.image = Arc::new(self.image.hinted(hints, brokers)?);
        Some(Arc::clone(&self.image))
    }

    /// The picture.
    #[must_use]
    pub const fn image(&self) -> &Arc<Image> {
        &self.image
    }
    /// When the picture was last confirmed.
    #[must_use]
    pub const fn updated(&self) -> Option<Instant> {
        self.updated
    }
    /// Whether a topic's error is final: the brokers refuse it, or have not known it for longer than news takes (M-6).
    #[must_use]
    pub fn verdict(&self, now: Instant, topic: &str) -> Option<ErrorCode> {
        let error = self.image.topic(topic)?.error;
        if !error.is_error() {
            return None;
        }
        if !error.is_retriable() {
            return Some(error);
        }
        let since = self.topics.get(topic)?.unknown_since?;
        (now.saturating_duration_since(since) >= self.options.propagation).then_some(error)
    }

    /// The flag is the request's: topics may be made only if nobody minds any of those that are not there.
    fn creation(&self) -> Creation {
        let missing =
            |name: &TopicName| self.image.topic(name.as_str()).is_none_or(|topic| topic.partitions.is_empty());
        let minds =
            |(name, interest): (&TopicName, &Interest)| interest.creation == Creation::Forbidden && missing(name);
        if self.topics.iter().any(minds) { Creation::Forbidden } else { Creation::Allowed }
    }
    /// Whether any topic or partition is still without what its users need, so that the next look should be soon.
    fn note_unknown(&mut self, now: Instant) -> bool {
        let mut unsettled = false;
        for (name, interest) in &mut self.topics {
            let Some(topic) = self.image.topics.get(name) else { continue };
            let unknown = topic.error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION && topic.partitions.is_empty();
            interest.unknown_since = if unknown { Some(interest.unknown_since.unwrap_or(now)) } else { None };
            let leaderless = topic.partitions.iter().any(|partition| partition.leader.is_none());
            unsettled |= (topic.error.is_error() && topic.error.is_retriable()) || leaderless;
        }
        unsettled
    }
}
