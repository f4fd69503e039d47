//! Bodies of control records, by their kind.

use super::{
    DecodeError, Embedded, EncodeError, EndTxnMarker, KRaftVersionRecord, LeaderChangeMessage, SnapshotFooterRecord,
    SnapshotHeaderRecord, VotersRecord,
};
use crate::guard::Shape;
use crate::record::ControlKind;
use bytes::Bytes;

/// The value of a control record.
///
/// ```
/// use bytes::Bytes;
/// use millstream_protocol::embedded::{ControlBody, EndTxnMarker};
/// use millstream_protocol::record::ControlKind;
/// let value = Bytes::from_static(&[0, 0, 0, 0, 0, 5]);
/// let marker = EndTxnMarker { coordinator_epoch: 5, ..EndTxnMarker::default() };
/// assert_eq!(ControlBody::decode(ControlKind::Commit, &value)?, Some((0, ControlBody::EndTxn(marker))));
/// assert_eq!(ControlBody::decode(ControlKind::Other(99), &value)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlBody {
    /// The end of a transaction: of [`ControlKind::Abort`] and [`ControlKind::Commit`].
    EndTxn(EndTxnMarker),
    /// A new Raft leader.
    LeaderChange(LeaderChangeMessage),
    /// The start of a Raft snapshot.
    SnapshotHeader(SnapshotHeaderRecord),
    /// Its end.
    SnapshotFooter(SnapshotFooterRecord),
    /// The version of the Raft protocol in use.
    KraftVersion(KRaftVersionRecord),
    /// Who votes.
    Voters(VotersRecord),
}

impl ControlBody {
    /// Reads the value of a control record of this kind, and its version; none for a kind that Kafka 4.4 does not have.
    ///
    /// # Errors
    ///
    /// When the bytes are no such body.
    pub fn decode(kind: ControlKind, value: &Bytes) -> Result<Option<(i16, Self)>, DecodeError> {
        fn read<T: Embedded>(
            value: &Bytes,
            body: fn(T) -> ControlBody,
        ) -> Result<Option<(i16, ControlBody)>, DecodeError> {
            T::decode(value).map(|(version, read)| Some((version, body(read))))
        }
        match kind {
            ControlKind::Abort | ControlKind::Commit => read(value, Self::EndTxn),
            ControlKind::LeaderChange => read(value, Self::LeaderChange),
            ControlKind::SnapshotHeader => read(value, Self::SnapshotHeader),
            ControlKind::SnapshotFooter => read(value, Self::SnapshotFooter),
            ControlKind::KraftVersion => read(value, Self::KraftVersion),
            ControlKind::KraftVoters => read(value, Self::Voters),
            ControlKind::Other(_) => Ok(None),
        }
    }
    /// The value as it stands in the record.
    ///
    /// # Errors
    ///
    /// When there is no such version, or a field holds what it cannot carry.
    pub fn encode(&self, version: i16) -> Result<Bytes, EncodeError> {
        match self {
            Self::EndTxn(body) => body.encode(version),
            Self::LeaderChange(body) => body.encode(version),
            Self::SnapshotHeader(body) => body.encode(version),
            Self::SnapshotFooter(body) => body.encode(version),
            Self::KraftVersion(body) => body.encode(version),
            Self::Voters(body) => body.encode(version),
        }
    }

    /// The shape of a kind's body.
    pub(crate) const fn shape(kind: ControlKind) -> Option<&'static Shape> {
        match kind {
            ControlKind::Abort | ControlKind::Commit => Some(EndTxnMarker::SCHEMA.shape),
            ControlKind::LeaderChange => Some(LeaderChangeMessage::SCHEMA.shape),
            ControlKind::SnapshotHeader => Some(SnapshotHeaderRecord::SCHEMA.shape),
            ControlKind::SnapshotFooter => Some(SnapshotFooterRecord::SCHEMA.shape),
            ControlKind::KraftVersion => Some(KRaftVersionRecord::SCHEMA.shape),
            ControlKind::KraftVoters => Some(VotersRecord::SCHEMA.shape),
            ControlKind::Other(_) => None,
        }
    }
    /// Whether the version of a body of this shape is its first field.
    pub(crate) fn has_no_prefix(shape: &Shape) -> bool {
        shape.fields.first().is_some_and(|field| field.name == "version")
    }
}
