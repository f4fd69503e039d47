//! Control records: what the cluster itself writes into a log.

use super::cursor::Slice;
use super::{BatchBuilder, RecordError, Stamp};
use crate::compression::Compressor;
use crate::{Headers, Timestamp};
use bytes::Bytes;

/// What a control record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ControlKind {
    /// A transaction was aborted.
    Abort,
    /// A transaction was committed.
    Commit,
    /// A new Raft leader.
    LeaderChange,
    /// The start of a Raft snapshot.
    SnapshotHeader,
    /// Its end.
    SnapshotFooter,
    /// The version of the Raft protocol in use.
    KraftVersion,
    /// Who votes.
    KraftVoters,
    /// A type that is newer than this table.
    Other(i16),
}

impl ControlKind {
    /// The kind of a number.
    #[must_use]
    pub const fn from_id(id: i16) -> Self {
        match id {
            0 => Self::Abort,
            1 => Self::Commit,
            2 => Self::LeaderChange,
            3 => Self::SnapshotHeader,
            4 => Self::SnapshotFooter,
            5 => Self::KraftVersion,
            6 => Self::KraftVoters,
            other => Self::Other(other),
        }
    }
    /// The number on the wire.
    #[must_use]
    pub const fn id(self) -> i16 {
        match self {
            Self::Abort => 0,
            Self::Commit => 1,
            Self::LeaderChange => 2,
            Self::SnapshotHeader => 3,
            Self::SnapshotFooter => 4,
            Self::KraftVersion => 5,
            Self::KraftVoters => 6,
            Self::Other(other) => other,
        }
    }
}

/// A control record, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlRecord {
    /// What it is about.
    pub kind: ControlKind,
    /// The transaction coordinator's epoch, in the markers that end transactions.
    pub coordinator_epoch: Option<i32>,
}

impl ControlRecord {
    /// Reads a control record's key (version, type) and, of a marker, its value (version, coordinator epoch). None where the key is too short.
    #[must_use]
    pub fn read(key: &[u8], value: Option<&[u8]>) -> Option<Self> {
        let mut key = Slice::new(key);
        key.array::<2>()?;
        let kind = ControlKind::from_id(i16::from_be_bytes(key.array()?));
        let marker = value.filter(|_| matches!(kind, ControlKind::Abort | ControlKind::Commit));
        let epoch = |value| {
            let mut value = Slice::new(value);
            value.array::<2>()?;
            value.array().map(i32::from_be_bytes)
        };
        Some(Self { kind, coordinator_epoch: marker.and_then(epoch) })
    }
}

/// The batch that ends a transaction in one partition, as a broker appends it.
///
/// # Errors
///
/// None in practice: the batch has one small record.
///
/// ```
/// use millstream_protocol::{Decompressor, ProducerEpoch, ProducerId, Timestamp};
/// use millstream_protocol::record::{ControlKind, CrcCheck, Stamp, batches, end_transaction_marker};
/// let stamp = Stamp::transactional(ProducerId::new(7), ProducerEpoch::new(0), -1).at(40, 2);
/// let marker = end_transaction_marker(ControlKind::Commit, 5, Timestamp::from_millis(1), &stamp)?;
/// let decoded = batches(marker).next().expect("one batch")?.decode(&mut Decompressor::new(), CrcCheck::Check)?;
/// let control = decoded.control().expect("a control record");
/// assert_eq!((control.kind, control.coordinator_epoch), (ControlKind::Commit, Some(5)));
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
pub fn end_transaction_marker(
    kind: ControlKind,
    coordinator_epoch: i32,
    at: Timestamp,
    stamp: &Stamp,
) -> Result<Bytes, RecordError> {
    let mut key = [0; 4];
    key[2..].copy_from_slice(&kind.id().to_be_bytes());
    let mut value = [0; 6];
    value[2..].copy_from_slice(&coordinator_epoch.to_be_bytes());
    let mut builder = BatchBuilder::with_capacity(80);
    builder.append(at, Some(&key), Some(&value), &Headers::new())?;
    let sealed = builder.seal(&mut Compressor::none())?;
    Ok(sealed.into_bytes(&Stamp { control: true, ..*stamp }))
}
