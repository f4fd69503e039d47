//! What a member says of itself inside JoinGroup: the consumer protocol's `Subscription`, versions 0 to 3.
//!
//! Not a Kafka frame: two bytes of version, then classic (non-flexible) fields. A higher version is read as the
//! newest known one and what follows is ignored, as Kafka does.

use super::wire::{Reader, WireError, Writer};
use bytes::Bytes;
use millstream_protocol::{TopicName, TopicPartition};

const VERSION: i16 = 3;

/// A member's subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subscription {
    /// The topics it wants.
    pub topics: Vec<TopicName>,
    /// What its assignor adds; no other assignor reads it.
    pub user_data: Option<Bytes>,
    /// The partitions it has.
    pub owned: Vec<TopicPartition>,
    /// The generation in which it got them (KIP-792).
    pub generation: Option<i32>,
    /// Where it runs (KIP-881).
    pub rack: Option<String>,
}

impl Subscription {
    /// A subscription to these topics by a member that owns nothing yet.
    #[must_use]
    pub fn to(topics: Vec<TopicName>) -> Self {
        Self { topics, ..Self::default() }
    }
    /// The bytes that JoinGroup carries, in the newest version.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Writer::versioned(VERSION);
        out.array(&self.topics, |out, topic| out.string(topic.as_str()));
        out.nullable_bytes(self.user_data.as_deref());
        out.partitions(&self.owned);
        out.int32(self.generation.unwrap_or(-1));
        out.nullable_string(self.rack.as_deref());
        out.finish()
    }
    /// Reads what another member's JoinGroup carried.
    ///
    /// # Errors
    ///
    /// When the bytes end early or bear impossible lengths.
    pub fn decode(bytes: &Bytes) -> Result<Self, WireError> {
        let mut input = Reader::new(bytes);
        let version = input.version()?;
        let mut read =
            Self { topics: input.array(Reader::topic)?, user_data: input.nullable_bytes()?, ..Self::default() };
        if version >= 1 {
            read.owned = input.partitions()?;
        }
        if version >= 2 {
            read.generation = Some(input.int32()?).filter(|generation| *generation >= 0);
        }
        if version >= 3 {
            read.rack = input.nullable_string()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Subscription {
        Subscription {
            topics: vec!["a".into(), "b".into()],
            user_data: Some(Bytes::from_static(b"x")),
            owned: vec![("a", 1).into(), ("b", 0).into(), ("a", 3).into()],
            generation: Some(7),
            rack: Some("east".to_owned()),
        }
    }

    #[test]
    fn what_is_written_is_read_back_grouped_by_topic() {
        let read = Subscription::decode(&full().encode()).expect("own bytes");
        assert_eq!(read.owned, [("a", 1).into(), ("a", 3).into(), ("b", 0).into()]);
        assert_eq!(Subscription { owned: full().owned, ..read }, full());
    }

    #[test]
    fn every_cut_is_an_error_and_never_a_panic() {
        let bytes = full().encode();
        for end in 0..bytes.len() {
            assert!(Subscription::decode(&bytes.slice(..end)).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn a_version_to_come_is_read_as_the_newest_known_one() {
        let mut bytes = full().encode().to_vec();
        bytes[1] = 9;
        bytes.extend_from_slice(b"new fields");
        let read = Subscription::decode(&bytes.into()).expect("newer bytes");
        assert_eq!((read.generation, read.rack.as_deref()), (Some(7), Some("east")));
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_is_refused() {
        let bytes = Bytes::from_static(&[0, 0, 0x7f, 0xff, 0xff, 0xff]);
        assert!(Subscription::decode(&bytes).is_err());
    }
}
