//! What a member gets inside SyncGroup: the consumer protocol's `Assignment`, versions 0 to 3.

use super::wire::{Reader, WireError, Writer};
use bytes::Bytes;
use millstream_protocol::TopicPartition;

const VERSION: i16 = 3;

/// A member's share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    /// Its partitions.
    pub partitions: Vec<TopicPartition>,
    /// What the leader's assignor adds for this member's assignor.
    pub user_data: Option<Bytes>,
}

impl Assignment {
    /// These partitions and nothing else.
    #[must_use]
    pub fn of(partitions: Vec<TopicPartition>) -> Self {
        Self { partitions, user_data: None }
    }
    /// The same with the assignor's own bytes for the member.
    #[must_use]
    pub fn with_user_data(mut self, user_data: Bytes) -> Self {
        self.user_data = Some(user_data);
        self
    }
    /// The bytes that SyncGroup carries, in the newest version.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Writer::versioned(VERSION);
        out.partitions(&self.partitions);
        out.nullable_bytes(self.user_data.as_deref());
        out.finish()
    }
    /// Reads what SyncGroup brought. No bytes at all mean no partitions: that is what a member gets for whom the leader named none.
    ///
    /// # Errors
    ///
    /// When the bytes end early or bear impossible lengths.
    pub fn decode(bytes: &Bytes) -> Result<Self, WireError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut input = Reader::new(bytes);
        input.version()?;
        let partitions = input.partitions()?;
        // Some clients leave the field out when there is no user data.
        let user_data = if input.is_empty() { None } else { input.nullable_bytes()? };
        Ok(Self { partitions, user_data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let assignment =
            Assignment::of(vec![("a", 0).into(), ("b", 4).into()]).with_user_data(Bytes::from_static(b"u"));
        assert_eq!(Assignment::decode(&assignment.encode()), Ok(assignment));
    }

    #[test]
    fn no_bytes_are_no_partitions() {
        assert_eq!(Assignment::decode(&Bytes::new()), Ok(Assignment::default()));
    }

    #[test]
    fn a_missing_user_data_field_is_none() {
        let bytes = Assignment::of(vec![("a", 0).into()]).encode();
        let without = bytes.slice(..bytes.len() - 4);
        assert_eq!(Assignment::decode(&without), Ok(Assignment::of(vec![("a", 0).into()])));
    }
}
