//! Schemas that are no API's: they travel inside messages and records. What members of a group tell each other, what
//! coordinators keep in their logs (`__consumer_offsets`, `__transaction_state`, `__share_group_state`), the bodies of
//! control records, entries of a log's index of aborted transactions, the principal in an Envelope.
//!
//! ```
//! use millstream_protocol::embedded::{ConsumerProtocolSubscription, Embedded, GroupKey, OffsetCommitKey};
//! use millstream_protocol::messages::StrBytes;
//!
//! let mut subscription = ConsumerProtocolSubscription::default();
//! subscription.topics.push(StrBytes::from_static_str("orders"));
//! let bytes = subscription.encode(1)?;
//! assert_eq!(bytes[..2], [0, 1]);
//! assert_eq!(ConsumerProtocolSubscription::decode(&bytes)?, (1, subscription));
//!
//! let key = OffsetCommitKey { topic: StrBytes::from_static_str("orders"), ..OffsetCommitKey::default() };
//! let bytes = key.encode(0)?;
//! assert_eq!(GroupKey::decode(&bytes)?, GroupKey::OffsetCommit(key));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod any;
mod control;
mod coordinator;
#[rustfmt::skip]
mod schemas;
mod sticky;

pub use any::Any;
pub use control::ControlBody;
pub use coordinator::{GroupKey, GroupValue, ShareKey, ShareValue, TransactionKey, TransactionValue};
pub use schemas::*;
pub use sticky::{CooperativeStickyUserData, StickyUserData, StickyUserDataTopic};

use crate::api::VersionRange;
use crate::codec::{BodyWriter, DataBody, DecodeError, EncodeError, Malformed, Site};
use crate::guard::{self, Limits, Shape};
use bytes::{BufMut, Bytes};

/// What stands before a body where it is stored or sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefix {
    /// Two bytes: the version.
    Version,
    /// Two bytes: the type of a coordinator's record. Its keys have one version.
    RecordType(i16),
    /// Nothing: the body's first field is its version.
    First,
    /// Nothing: who reads it must know or guess the version.
    Nothing,
}

/// What a reader does with a version that is newer than it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newer {
    Refused,
    /// It is read as the newest that is known, and what follows is ignored.
    AsNewest,
}

/// A schema that travels inside other things; sealed, since only schemas of Kafka are.
pub trait Embedded: DataBody + Clone + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Kafka's name.
    const NAME: &'static str;
    /// What stands before the body.
    const PREFIX: Prefix;
    /// How the bytes are laid out, for this crate.
    const SCHEMA: Schema;

    /// The versions that Kafka 4.4 has.
    #[must_use]
    fn versions() -> VersionRange {
        let versions = Self::SCHEMA.shape.versions;
        VersionRange::new(versions.0, versions.1)
    }

    /// Reads what [`encode`](Self::encode) writes: the prefix, then the body. Returns the version, too. Bytes that
    /// follow the body are ignored, as Kafka does.
    ///
    /// # Errors
    ///
    /// When the bytes are no such thing, or of a version that can only be known later.
    fn decode(bytes: &Bytes) -> Result<(i16, Self), DecodeError> {
        let error = |malformed| DecodeError::new(Site::Embedded(Self::NAME, 0), malformed);
        let (version, body) = split::<Self>(bytes).map_err(error)?;
        Self::decode_body(version, body).map(|read| (version, read))
    }

    /// Reads the body alone.
    ///
    /// # Errors
    ///
    /// When the bytes are no such thing.
    fn decode_body(version: i16, body: Bytes) -> Result<Self, DecodeError> {
        let kept = body.clone();
        let read = guard::check(Self::SCHEMA.shape, version, body, &Limits::DEFAULT).and_then(|(checked, _)| {
            Self::read(version, checked).map_err(|refused| explain(Self::SCHEMA.shape, version, &kept, refused))
        });
        read.map_err(|malformed| DecodeError::new(Site::Embedded(Self::NAME, version), malformed.within(&kept)))
    }

    /// Prefix and body.
    ///
    /// # Errors
    ///
    /// When there is no such version, or a field holds what it cannot carry.
    fn encode(&self, version: i16) -> Result<Bytes, EncodeError> {
        let mut out = BodyWriter::default();
        match Self::PREFIX {
            Prefix::Version => out.buffer().put_i16(version),
            Prefix::RecordType(record_type) => out.buffer().put_i16(record_type),
            Prefix::First | Prefix::Nothing => {}
        }
        write(self, version, out)
    }

    /// The body alone.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    fn encode_body(&self, version: i16) -> Result<Bytes, EncodeError> {
        write(self, version, BodyWriter::default())
    }
}

/// What this crate knows of a schema's bytes. Opaque.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    pub(crate) shape: &'static Shape,
    pub(crate) newer: Newer,
}

fn write<T: Embedded>(value: &T, version: i16, mut out: BodyWriter) -> Result<Bytes, EncodeError> {
    let written = value.write(version, &mut out);
    written.map_err(|malformed| EncodeError::new(Site::Embedded(T::NAME, version), malformed))?;
    Ok(out.buffer().split().freeze())
}

/// The version and the body.
fn split<T: Embedded>(bytes: &Bytes) -> Result<(i16, Bytes), Malformed> {
    let first = || -> Result<i16, Malformed> {
        let first = bytes.first_chunk().ok_or_else(|| Malformed::new("fewer than two bytes").at_offset(0))?;
        Ok(i16::from_be_bytes(*first))
    };
    let newest = T::versions().max();
    match T::PREFIX {
        Prefix::Version => {
            let version = first()?;
            let known = if T::SCHEMA.newer == Newer::AsNewest { version.min(newest) } else { version };
            Ok((known, bytes.slice(2..)))
        }
        Prefix::RecordType(wanted) => match first()? {
            found if found == wanted => Ok((newest, bytes.slice(2..))),
            found => Err(Malformed::new(format!("a record of type {found}, not {wanted}")).at_offset(0)),
        },
        Prefix::First => Ok((first()?, bytes.clone())),
        Prefix::Nothing => Ok((newest, bytes.clone())),
    }
}

/// A better reason than the decoder's, if that does not know the field.
fn explain(shape: &Shape, version: i16, body: &[u8], refused: Malformed) -> Malformed {
    if refused.field().is_some() {
        refused
    } else {
        guard::explain(shape, version, body, &Limits::DEFAULT).unwrap_or(refused)
    }
}

/// Makes a schema of a struct with a body.
macro_rules! embedded_schema {
    ($name:ident, $shape:path, $prefix:ident $(($record_type:literal))?, $newer:ident) => {
        impl $crate::embedded::Embedded for $name {
            const NAME: &'static str = stringify!($name);
            const PREFIX: $crate::embedded::Prefix = $crate::embedded::Prefix::$prefix $(($record_type))?;
            const SCHEMA: $crate::embedded::Schema =
                $crate::embedded::Schema { shape: &$shape, newer: $crate::embedded::Newer::$newer };
        }
    };
}
pub(crate) use embedded_schema;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consumer_protocol_to_come_is_read_as_the_newest_known_one() {
        let newest = ConsumerProtocolSubscription::default().encode(3).expect("it has version 3");
        let newer = Bytes::from([&[0, 9], &newest[2..], b"new fields"].concat());
        assert_eq!(ConsumerProtocolSubscription::decode(&newer), Ok((3, ConsumerProtocolSubscription::default())));
        let error = GroupMetadataValue::decode(&Bytes::from_static(&[0, 9])).expect_err("only 0 to 4 are known");
        assert_eq!(
            error.to_string(),
            "cannot read GroupMetadataValue, version 9: there is no such version, only 0 to 4"
        );
    }

    #[test]
    fn a_key_of_another_type_is_refused() {
        let bytes = GroupMetadataKey::default().encode(0).expect("it has version 0");
        let error = OffsetCommitKey::decode(&bytes).expect_err("another type");
        assert_eq!(error.to_string(), "cannot read OffsetCommitKey, version 0: byte 0: a record of type 2, not 1");
    }

    #[test]
    fn a_raft_record_names_its_version_itself() {
        let record = LeaderChangeMessage { version: 1, leader_id: 7, ..LeaderChangeMessage::default() };
        let bytes = record.encode(1).expect("it has version 1");
        assert_eq!(bytes[..6], [0, 1, 0, 0, 0, 7]);
        assert_eq!(LeaderChangeMessage::decode(&bytes), Ok((1, record)));
    }

    #[test]
    fn errors_name_the_field() {
        let bytes = Bytes::from_static(&[0, 0, 0x7f, 0xff, 0xff, 0xff]);
        let error = ConsumerProtocolAssignment::decode(&bytes).expect_err("a count that cannot be").to_string();
        assert_eq!(
            error,
            "cannot read ConsumerProtocolAssignment, version 0: field assignedPartitions at byte 0: 2147483647 \
             elements, and room for 0 at most in the bytes left; the bytes there: > 7f ff ff ff"
        );
    }
}
