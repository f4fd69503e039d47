//! What a committed offset carries: Kafka Streams' own metadata first, so that it can read ours, and our trailer behind it.
//!
//! ```text
//! Kafka Streams (base64):  int8 magic = 2 │ int64 partition time │ int32 n │ n × (int32 length, UTF-8 key, int64 value)
//! trailer, the anchor's:   int8 version = 1 │ int64 offset │ uint64 number │ uint64 life
//!                          │ varint stores │ stores × (uint32 hash of the name, varint P) │ uint32 CRC-32C of the trailer before it
//! ```
//! Kafka Streams ignores bytes behind its entries, and would carry entries that it does not know on, stale: so ours is not one.
//! The count of entries is there even when it is 0, since Kafka Streams reads it from whatever bytes follow the time.
//! The trailer counts only with the offset that it names: a JVM application may have committed since.

use super::base64;
use bytes::{Buf, BufMut};
use millstream_protocol::{Offset, Timestamp};
use millstream_state::CommitId;

/// The longest metadata that brokers take by default (`offset.metadata.max.bytes`).
pub const METADATA_MAX_BYTES: usize = 4096;

/// What is committed with an input partition's offset.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts; the format fixes them")]
pub struct OffsetMetadata {
    /// The highest time read from the partition; [`Timestamp::NONE`] if there was none.
    pub partition_time: Timestamp,
    /// Kafka Streams' processor metadata.
    pub entries: Vec<ProcessorEntry>,
    /// Ours; on the task's anchor partition.
    pub trailer: Option<Trailer>,
}

/// A number that an operator keeps with its offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts; the format fixes them")]
pub struct ProcessorEntry {
    /// The operator's key.
    pub key: String,
    /// The number.
    pub value: i64,
}

/// Which commit this is, and how far each of the task's changelogs is part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts; the format fixes them")]
pub struct Trailer {
    /// The offset that it was committed with.
    pub offset: Offset,
    /// The commit.
    pub commit: CommitId,
    /// Per store with a changelog: P, the offset behind the last changelog record that is part of the commit.
    pub positions: Vec<StorePosition>,
}

/// How far a store's changelog is part of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts; the format fixes them")]
pub struct StorePosition {
    /// The hash of the store's name: [`store_hash`].
    pub store: u32,
    /// P.
    pub position: Offset,
}

/// Metadata that brokers would refuse (error 12), found before anything is sent.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "offset metadata of {bytes} bytes is over the brokers' limit of {METADATA_MAX_BYTES}: the task has too many stores or metadata entries; split its sub-topology with a repartition topic"
)]
pub struct MetadataTooLarge {
    bytes: usize,
}

/// The name of a store in a trailer.
#[must_use]
pub fn store_hash(name: &str) -> u32 {
    crc32c::crc32c(name.as_bytes())
}

impl OffsetMetadata {
    /// Only a partition time.
    #[must_use]
    pub const fn at(partition_time: Timestamp) -> Self {
        Self { partition_time, entries: Vec::new(), trailer: None }
    }

    /// The text to commit.
    ///
    /// # Errors
    /// When it is longer than brokers take.
    pub fn encode(&self) -> Result<String, MetadataTooLarge> {
        let mut bytes = Vec::with_capacity(64);
        bytes.put_u8(MAGIC);
        bytes.put_i64(self.partition_time.as_millis());
        bytes.put_u32(count(self.entries.len()));
        for entry in &self.entries {
            bytes.put_u32(count(entry.key.len()));
            bytes.put_slice(entry.key.as_bytes());
            bytes.put_i64(entry.value);
        }
        if let Some(trailer) = &self.trailer {
            trailer.encode(&mut bytes);
        }
        let text = base64::encode(&bytes);
        if text.len() > METADATA_MAX_BYTES { Err(MetadataTooLarge { bytes: text.len() }) } else { Ok(text) }
    }

    /// Reads what was committed with `offset`. Whatever cannot be read is taken as not being there: another program may have
    /// written it, and its offset counts all the same. A trailer that belongs to another offset is left out.
    #[must_use]
    pub fn decode(text: &str, offset: Offset) -> Self {
        let nothing = Self::at(Timestamp::NONE);
        if text.len() > 2 * METADATA_MAX_BYTES {
            return nothing;
        }
        let Some(bytes) = base64::decode(text) else { return nothing };
        Self::read(&bytes, offset).unwrap_or(nothing)
    }

    fn read(mut bytes: &[u8], offset: Offset) -> Option<Self> {
        let magic = bytes.try_get_u8().ok()?;
        if !(1..=MAGIC).contains(&magic) {
            return None;
        }
        let partition_time = Timestamp::from_millis(bytes.try_get_i64().ok()?);
        let mut read = Self::at(partition_time);
        if magic == MAGIC && bytes.has_remaining() {
            read.entries = entries(&mut bytes)?;
            read.trailer = Trailer::decode(bytes).filter(|trailer| trailer.offset == offset);
        }
        Some(read)
    }
}

impl Trailer {
    /// P of a store; none if the commit did not have the store.
    #[must_use]
    pub fn position_of(&self, store: u32) -> Option<Offset> {
        self.positions.iter().find(|position| position.store == store).map(|position| position.position)
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.put_u8(TRAILER_VERSION);
        bytes.put_i64(self.offset.get());
        bytes.put_u64(self.commit.number());
        bytes.put_u64(self.commit.life());
        put_varint(bytes, u64::from(count(self.positions.len())));
        for StorePosition { store, position } in &self.positions {
            bytes.put_u32(*store);
            put_varint(bytes, position.get().max(0).cast_unsigned());
        }
        bytes.put_u32(crc32c::crc32c(&bytes[start..]));
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(bytes.len().checked_sub(CRC_BYTES)?)?;
        if crc32c::crc32c(body).to_be_bytes() != crc {
            return None;
        }
        let mut body = body;
        if body.try_get_u8().ok()? != TRAILER_VERSION {
            return None;
        }
        let offset = Offset::new(body.try_get_i64().ok()?);
        let commit = CommitId::new(body.try_get_u64().ok()?, body.try_get_u64().ok()?);
        let stores = usize::try_from(varint(&mut body)?).ok()?;
        if stores > body.len() / LEAST_STORE_BYTES {
            return None;
        }
        let mut positions = Vec::with_capacity(stores);
        for _ in 0..stores {
            let store = body.try_get_u32().ok()?;
            positions.push(StorePosition { store, position: Offset::new(i64::try_from(varint(&mut body)?).ok()?) });
        }
        body.is_empty().then_some(Self { offset, commit, positions })
    }
}

fn entries(bytes: &mut &[u8]) -> Option<Vec<ProcessorEntry>> {
    let count = usize::try_from(bytes.try_get_i32().ok()?).ok()?;
    if count > bytes.len() / LEAST_ENTRY_BYTES {
        return None;
    }
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let length = usize::try_from(bytes.try_get_i32().ok()?).ok()?;
        let (key, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        entries.push(ProcessorEntry { key: str::from_utf8(key).ok()?.to_owned(), value: bytes.try_get_i64().ok()? });
    }
    Some(entries)
}

/// Unsigned, seven bits a byte, the lowest first.
fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = bytes.try_get_u8().ok()?;
        let bits = u64::from(byte & 0x7f);
        value |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// What is too many for a count is far over the limit that `encode` checks.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

const MAGIC: u8 = 2;
const TRAILER_VERSION: u8 = 1;
const CRC_BYTES: usize = 4;
const LEAST_STORE_BYTES: usize = 5;
const LEAST_ENTRY_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    fn metadata() -> OffsetMetadata {
        let position =
            |name: &str, position| StorePosition { store: store_hash(name), position: Offset::new(position) };
        OffsetMetadata {
            partition_time: Timestamp::from_millis(1_700_000_000_000),
            entries: vec![ProcessorEntry { key: "window-close".to_owned(), value: -5 }],
            trailer: Some(Trailer {
                offset: Offset::new(300),
                commit: CommitId::new(7, 0xdead_beef),
                positions: vec![position("sums", 0), position("counts", i64::MAX)],
            }),
        }
    }

    #[test]
    fn trailer_counts_only_with_its_own_offset() {
        let text = metadata().encode().expect("it is short");
        assert_eq!(OffsetMetadata::decode(&text, Offset::new(300)), metadata());
        assert_eq!(OffsetMetadata::decode(&text, Offset::new(301)), OffsetMetadata { trailer: None, ..metadata() });
    }

    #[test]
    fn metadata_of_kafka_streams_is_read() {
        // magic 1 has a time alone; magic 2 may end after the time, or have entries.
        let encoded = |bytes: &[u8]| OffsetMetadata::decode(&base64::encode(bytes), Offset::new(0));
        assert_eq!(encoded(&[1, 0, 0, 0, 0, 0, 0, 1, 0]), OffsetMetadata::at(Timestamp::from_millis(256)));
        assert_eq!(encoded(&[2, 0, 0, 0, 0, 0, 0, 1, 0]), OffsetMetadata::at(Timestamp::from_millis(256)));
        let entry = [2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, b'k', 0, 0, 0, 0, 0, 0, 0, 9];
        let entries = vec![ProcessorEntry { key: "k".to_owned(), value: 9 }];
        assert_eq!(encoded(&entry), OffsetMetadata { entries, ..OffsetMetadata::at(Timestamp::from_millis(256)) });
        assert_eq!(encoded(&[3, 0, 0, 0, 0, 0, 0, 1, 0]), OffsetMetadata::at(Timestamp::NONE), "a later magic");
        assert_eq!(OffsetMetadata::decode("a note of kcat", Offset::new(0)), OffsetMetadata::at(Timestamp::NONE));
    }

    #[test]
    fn form_before_the_trailer_is_kafka_streams_own() {
        let plain = OffsetMetadata { trailer: None, ..metadata() }.encode().expect("it is short");
        let whole = base64::decode(&metadata().encode().expect("it is short")).expect("it is base64");
        let plain = base64::decode(&plain).expect("it is base64");
        assert!(whole.starts_with(&plain));
        assert_eq!(
            OffsetMetadata::at(Timestamp::NONE).encode().expect("it is short"),
            "Av//////////AAAAAA==",
            "a count of 0 is there"
        );
    }

    #[test]
    fn trailer_with_a_flipped_bit_is_left_out() {
        let whole = base64::decode(&metadata().encode().expect("it is short")).expect("it is base64");
        let trailer =
            whole.len() - OffsetMetadata { trailer: None, ..metadata() }.encode().map_or(0, |text| text.len() / 4 * 3);
        for at in whole.len() - trailer..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            let read = OffsetMetadata::decode(&base64::encode(&flipped), Offset::new(300));
            assert_eq!(read.trailer, None, "byte {at}");
        }
    }

    #[test]
    fn metadata_over_the_brokers_limit_is_refused_before_it_is_sent() {
        let mut metadata = metadata();
        metadata.entries = vec![ProcessorEntry { key: "k".repeat(3000), value: 0 }];
        assert!(metadata.encode().is_err());
        let wide = StorePosition { store: 1, position: Offset::new(i64::MAX) };
        metadata.entries.clear();
        metadata.trailer = metadata.trailer.map(|trailer| Trailer { positions: vec![wide; 230], ..trailer });
        assert!(metadata.encode().is_ok(), "230 stores fit in one task");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            time: i64,
            offset in 0..i64::MAX,
            number: u64,
            life: u64,
            positions in vec((any::<u32>(), 0..i64::MAX), 0..9),
            entries in vec((".{0,9}", any::<i64>()), 0..4),
        ) {
            let positions = positions.into_iter().map(|(store, position)| StorePosition { store, position: Offset::new(position) });
            let metadata = OffsetMetadata {
                partition_time: Timestamp::from_millis(time),
                entries: entries.into_iter().map(|(key, value)| ProcessorEntry { key, value }).collect(),
                trailer: Some(Trailer { offset: Offset::new(offset), commit: CommitId::new(number, life), positions: positions.collect() }),
            };
            let text = metadata.encode().expect("it is short");
            prop_assert_eq!(OffsetMetadata::decode(&text, Offset::new(offset)), metadata);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..300).prop_map(|mut bytes| { if let Some(first) = bytes.first_mut() { *first %= 4; } bytes })) {
            let read = OffsetMetadata::decode(&base64::encode(&bytes), Offset::new(0));
            prop_assert_eq!(OffsetMetadata::decode(&read.encode().unwrap_or_default(), Offset::new(0)).trailer, read.trailer);
        }
    }
}
