//! Positions of several partitions.

use hashbrown::hash_map::Entry;
use millstream_protocol::hash::HashMap;
use millstream_protocol::{LeaderEpoch, Offset, TopicPartition};

/// A position to commit: the next offset to read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffsetAndMetadata {
    /// The next offset to read.
    pub offset: Offset,
    /// The leader's term when the record before it was read; lets brokers notice truncation.
    pub leader_epoch: Option<LeaderEpoch>,
    /// A note kept with it.
    pub metadata: Option<String>,
}

impl OffsetAndMetadata {
    /// A position with a note.
    #[must_use]
    pub fn with_metadata(offset: Offset, metadata: impl Into<String>) -> Self {
        Self { metadata: Some(metadata.into()), ..Self::from(offset) }
    }
}
impl From<Offset> for OffsetAndMetadata {
    fn from(offset: Offset) -> Self {
        Self { offset, leader_epoch: None, metadata: None }
    }
}

/// The next offset to read, per partition. Adding keeps the higher one, so records may be added as they are finished.
///
/// ```
/// use millstream_client::Offsets;
/// use millstream_protocol::Offset;
/// let mut offsets = Offsets::new();
/// offsets.add(("orders", 0).into(), Offset::new(7));
/// offsets.add(("orders", 0).into(), Offset::new(3));
/// assert_eq!(offsets.of(&("orders", 0).into()).map(|position| position.offset), Some(Offset::new(7)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offsets(HashMap<TopicPartition, OffsetAndMetadata>);

impl Offsets {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a position; of two for the same partition the higher stays, of two equal ones the later.
    pub fn add(&mut self, partition: TopicPartition, next: impl Into<OffsetAndMetadata>) {
        let next = next.into();
        match self.0.entry(partition) {
            Entry::Occupied(mut known) if known.get().offset <= next.offset => *known.get_mut() = next,
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(next);
            }
        }
    }
    /// The position of a partition.
    #[must_use]
    pub fn of(&self, partition: &TopicPartition) -> Option<&OffsetAndMetadata> {
        self.0.get(partition)
    }
    /// Every partition and its position, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&TopicPartition, &OffsetAndMetadata)> {
        self.0.iter()
    }
    /// How many partitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
impl<O: Into<OffsetAndMetadata>> FromIterator<(TopicPartition, O)> for Offsets {
    fn from_iter<I: IntoIterator<Item = (TopicPartition, O)>>(offsets: I) -> Self {
        let mut all = Self::new();
        offsets.into_iter().for_each(|(partition, next)| all.add(partition, next));
        all
    }
}
