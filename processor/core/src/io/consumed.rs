//! How to read topics.

use super::{FailOnInvalidTimestamp, TimestampExtractor};
use crate::Topic;
use millstream_state::DefaultSerde;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How to read: from a name, a [`Topic`], or several.
#[must_use]
pub struct Consumed<K, V> {
    pub(crate) topics: Vec<Topic<K, V>>,
    pub(crate) offset_reset: Option<OffsetReset>,
    pub(crate) extractor: Arc<dyn TimestampExtractor<K, V>>,
    pub(crate) name: Option<String>,
}
impl<K: 'static, V: 'static> Consumed<K, V> {
    /// Reads this topic.
    pub fn from_topic(topic: impl Into<Topic<K, V>>) -> Self {
        Self::from_topics([topic.into()])
    }
    /// Reads these topics; each by serdes of its own.
    pub fn from_topics(topics: impl IntoIterator<Item = Topic<K, V>>) -> Self {
        Self {
            topics: topics.into_iter().collect(),
            offset_reset: None,
            extractor: Arc::new(FailOnInvalidTimestamp),
            name: None,
        }
    }
}
impl<K, V> Consumed<K, V> {
    /// Where to start without a committed offset. Default: the configuration's.
    pub fn offset_reset(mut self, reset: OffsetReset) -> Self {
        self.offset_reset = Some(reset);
        self
    }
    /// What a record's time is. Default: the record's own, and an error if it has none.
    pub fn timestamp_extractor(mut self, extractor: impl TimestampExtractor<K, V>) -> Self {
        self.extractor = Arc::new(extractor);
        self
    }
    /// Names the node.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }
    /// The topics.
    pub fn topics(&self) -> &[Topic<K, V>] {
        &self.topics
    }
}
impl<K, V> fmt::Debug for Consumed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumed").field("topics", &self.topics).field("name", &self.name).finish_non_exhaustive()
    }
}
impl<K: DefaultSerde, V: DefaultSerde> From<&str> for Consumed<K, V> {
    fn from(topic: &str) -> Self {
        Self::from_topic(topic)
    }
}
impl<K: DefaultSerde, V: DefaultSerde, const N: usize> From<[&str; N]> for Consumed<K, V> {
    fn from(topics: [&str; N]) -> Self {
        Self::from_topics(topics.map(Topic::new))
    }
}
impl<K: 'static, V: 'static> From<&Topic<K, V>> for Consumed<K, V> {
    fn from(topic: &Topic<K, V>) -> Self {
        Self::from_topic(topic)
    }
}
impl<K: 'static, V: 'static, const N: usize> From<[&Topic<K, V>; N]> for Consumed<K, V> {
    fn from(topics: [&Topic<K, V>; N]) -> Self {
        Self::from_topics(topics.map(Topic::clone))
    }
}
impl<K: 'static, V: 'static> From<Topic<K, V>> for Consumed<K, V> {
    fn from(topic: Topic<K, V>) -> Self {
        Self::from_topics([topic])
    }
}

/// Where to start without a committed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetReset {
    /// At the first record kept.
    Earliest,
    /// After the last record.
    Latest,
    /// This far back in time.
    ByDuration(Duration),
    /// Nowhere: an error.
    None,
}
