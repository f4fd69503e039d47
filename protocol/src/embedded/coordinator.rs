//! Records of the coordinators' logs: the key's first two bytes tell which schema key and value have.

use super::{DecodeError, Embedded, EncodeError, Malformed, Site, schemas};
use crate::guard::Shape;
use bytes::Bytes;

/// Makes the enums of a log's keys and values, and the way in by the record type.
macro_rules! log {
    (
        $log:literal, $key:ident, $value:ident:
        $($(#[$doc:meta])* $name:ident = $record_type:literal, $key_type:ident, $value_type:ident;)*
    ) => {
        #[doc = concat!("The key of a record in `", $log, "`.")]
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $key {
            $($(#[$doc])* $name(schemas::$key_type),)*
        }
        #[doc = concat!("The value of a record in `", $log, "`.")]
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $value {
            $($(#[$doc])* $name(schemas::$value_type),)*
        }
        impl $key {
            /// Reads a record's key.
            ///
            /// # Errors
            ///
            /// When the bytes are no such key, or of a type that Kafka 4.4 does not have. Kafka skips such records.
            pub fn decode(key: &Bytes) -> Result<Self, DecodeError> {
                match record_type(stringify!($key), key)? {
                    $($record_type => schemas::$key_type::decode(key).map(|(_, key)| Self::$name(key)),)*
                    other => Err(unknown_type(stringify!($key), other)),
                }
            }
            /// The shapes of key and value of a record type.
            pub(crate) fn shapes(record_type: i16) -> Option<(&'static Shape, &'static Shape)> {
                match record_type {
                    $($record_type => Some((schemas::$key_type::SCHEMA.shape, schemas::$value_type::SCHEMA.shape)),)*
                    _ => None,
                }
            }
            /// The record's type.
            #[must_use]
            pub const fn record_type(&self) -> i16 {
                match self {
                    $(Self::$name(_) => $record_type,)*
                }
            }
            /// The key with its type before it.
            ///
            /// # Errors
            ///
            /// When a field holds what the schema cannot carry, such as a text of more than 32767 bytes.
            pub fn encode(&self) -> Result<Bytes, EncodeError> {
                match self {
                    $(Self::$name(key) => key.encode(0),)*
                }
            }
            /// Reads the value of a record with this key. (A tombstone has none.) Returns the version, too.
            ///
            /// # Errors
            ///
            /// When the bytes are no such value.
            pub fn decode_value(&self, value: &Bytes) -> Result<(i16, $value), DecodeError> {
                match self {
                    $(Self::$name(_) => {
                        schemas::$value_type::decode(value).map(|(version, value)| (version, $value::$name(value)))
                    })*
                }
            }
        }
        impl $value {
            /// The value with its version before it.
            ///
            /// # Errors
            ///
            /// When there is no such version, or a field holds what it cannot carry.
            pub fn encode(&self, version: i16) -> Result<Bytes, EncodeError> {
                match self {
                    $(Self::$name(value) => value.encode(version),)*
                }
            }
        }
    };
}

log! {
    "__consumer_offsets", GroupKey, GroupValue:
    /// A group's offset of a partition, as before Kafka 0.9.
    LegacyOffsetCommit = 0, LegacyOffsetCommitKey, LegacyOffsetCommitValue;
    /// A group's offset of a partition.
    OffsetCommit = 1, OffsetCommitKey, OffsetCommitValue;
    /// A classic group.
    GroupMetadata = 2, GroupMetadataKey, GroupMetadataValue;
    /// A consumer group (KIP-848).
    ConsumerGroupMetadata = 3, ConsumerGroupMetadataKey, ConsumerGroupMetadataValue;
    /// The partitions of a consumer group's topics.
    ConsumerGroupPartitionMetadata = 4, ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue;
    /// A member of a consumer group.
    ConsumerGroupMemberMetadata = 5, ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue;
    /// The target assignment of a consumer group.
    ConsumerGroupTargetAssignmentMetadata = 6, ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue;
    /// A member's part of the target assignment.
    ConsumerGroupTargetAssignmentMember = 7, ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue;
    /// What a member of a consumer group has.
    ConsumerGroupCurrentMemberAssignment = 8, ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue;
    /// A member of a share group (KIP-932).
    ShareGroupMemberMetadata = 10, ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue;
    /// A share group.
    ShareGroupMetadata = 11, ShareGroupMetadataKey, ShareGroupMetadataValue;
    /// The target assignment of a share group.
    ShareGroupTargetAssignmentMetadata = 12, ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue;
    /// A member's part of the target assignment.
    ShareGroupTargetAssignmentMember = 13, ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue;
    /// What a member of a share group has.
    ShareGroupCurrentMemberAssignment = 14, ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue;
    /// The partitions of a share group of which the state is kept.
    ShareGroupStatePartitionMetadata = 15, ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue;
    /// A regular expression that members of a consumer group subscribe to, resolved.
    ConsumerGroupRegularExpression = 16, ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue;
    /// A streams group (KIP-1071).
    StreamsGroupMetadata = 17, StreamsGroupMetadataKey, StreamsGroupMetadataValue;
    /// A member of a streams group.
    StreamsGroupMemberMetadata = 19, StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue;
    /// The target assignment of a streams group.
    StreamsGroupTargetAssignmentMetadata = 20, StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue;
    /// A member's part of the target assignment.
    StreamsGroupTargetAssignmentMember = 21, StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue;
    /// What a member of a streams group has.
    StreamsGroupCurrentMemberAssignment = 22, StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue;
    /// The topology of a streams group.
    StreamsGroupTopology = 23, StreamsGroupTopologyKey, StreamsGroupTopologyValue;
}
log! {
    "__transaction_state", TransactionKey, TransactionValue:
    /// A transactional id.
    TransactionLog = 0, TransactionLogKey, TransactionLogValue;
}
log! {
    "__share_group_state", ShareKey, ShareValue:
    /// The state of a partition of a share group.
    Snapshot = 0, ShareSnapshotKey, ShareSnapshotValue;
    /// A change of it.
    Update = 1, ShareUpdateKey, ShareUpdateValue;
}

fn record_type(key_type: &'static str, key: &[u8]) -> Result<i16, DecodeError> {
    let first = key.first_chunk().copied().map(i16::from_be_bytes);
    first.ok_or_else(|| error(key_type, "fewer than two bytes".to_owned()))
}

fn unknown_type(key_type: &'static str, found: i16) -> DecodeError {
    error(key_type, format!("a record of type {found}, which Kafka 4.4 does not have"))
}

fn error(key_type: &'static str, reason: String) -> DecodeError {
    DecodeError::new(Site::Embedded(key_type, 0), Malformed::new(reason).at_offset(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::{OffsetCommitKey, OffsetCommitValue};
    use crate::messages::StrBytes;

    #[test]
    fn a_record_is_read_by_its_keys_type() {
        let key = GroupKey::OffsetCommit(OffsetCommitKey {
            group: StrBytes::from_static_str("g"),
            topic: StrBytes::from_static_str("t"),
            partition: 3,
            ..OffsetCommitKey::default()
        });
        let value = GroupValue::OffsetCommit(OffsetCommitValue { offset: 40, ..OffsetCommitValue::default() });
        let bytes = key.encode().expect("a key");
        assert_eq!(bytes, [&[0, 1][..], b"\0\x01g\0\x01t", &[0, 0, 0, 3]].concat());
        let read = GroupKey::decode(&bytes).expect("own bytes");
        assert_eq!((read.record_type(), &read), (1, &key));
        for version in 0..=4 {
            let bytes = value.encode(version).expect("a value");
            assert_eq!(read.decode_value(&bytes), Ok((version, value.clone())));
        }
    }

    #[test]
    fn a_type_that_kafka_does_not_have_is_named() {
        let error = |key: &'static [u8]| GroupKey::decode(&Bytes::from_static(key)).expect_err("no key").to_string();
        assert_eq!(
            error(&[0, 9]),
            "cannot read GroupKey, version 0: byte 0: a record of type 9, which Kafka 4.4 does not have"
        );
        assert_eq!(error(&[0]), "cannot read GroupKey, version 0: byte 0: fewer than two bytes");
        assert!(ShareKey::decode(&Bytes::from_static(&[0, 2])).is_err());
        assert!(TransactionKey::decode(&Bytes::from_static(&[0, 0, 0, 1, b't'])).is_ok());
    }
}
