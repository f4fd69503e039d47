//! A record's fields as Kafka reads over them. Where a batch stays compressed it skips keys and values, and does not look at how long a record says
//! that it is: such a batch is taken, and whoever reads it whole finds that it is broken.

use super::records::Reading;
use crate::broker::log::batch::Batch;
use bytes::Bytes;
use millstream_protocol::record::{CrcCheck, DecodedBatch, batches};
use millstream_protocol::{Compression, Decompressor};

/// A batch's header.
pub(super) const HEADER: usize = 61;
/// Where its length, its attributes stand, and from where on the length counts.
const LENGTH: std::ops::Range<usize> = 8..12;
const ATTRIBUTES: usize = 22;
/// The bits of the attributes' lower byte that name the codec.
const CODEC: u8 = 0x07;

/// Why a record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Malformed,
    /// It goes on after what was inflated.
    Starved,
}

/// The records of a compressed batch with the lengths that they have, whatever they say; none if Kafka could not read them either.
pub(super) fn skim(batch: &Batch, decompressor: &mut Decompressor) -> Option<DecodedBatch> {
    let bytes = batch.to_bytes();
    let (header, body) = bytes.split_at_checked(HEADER)?;
    let inflated = decompressor.decompress(Compression::from_id(batch.codec_id())?, body).ok()?;
    let mut plain = header.to_vec();
    let mut rest = &inflated[..];
    for _ in 0..batch.count {
        let record = read(&mut rest, Reading::Skipping).ok()?;
        put_varint(&mut plain, record.len());
        plain.extend_from_slice(record);
    }
    if !rest.is_empty() {
        return None;
    }
    let length = i32::try_from(plain.len() - LENGTH.end).ok()?;
    plain.get_mut(LENGTH)?.copy_from_slice(&length.to_be_bytes());
    *plain.get_mut(ATTRIBUTES)? &= !CODEC;
    let whole = batches(Bytes::from(plain)).next()?.ok()?;
    whole.decode(decompressor, CrcCheck::Skip).ok()
}
/// Reads over a record, and gives what it has after its length.
pub(super) fn read<'a>(rest: &mut &'a [u8], reading: Reading) -> Result<&'a [u8], Stop> {
    let size = usize::try_from(varint(rest)?).map_err(|_| Stop::Malformed)?;
    if reading == Reading::Whole {
        let record = take(rest, size)?;
        let mut left = record;
        return fields(&mut left).ok().filter(|()| left.is_empty()).map(|()| record).ok_or(Stop::Malformed);
    }
    let before = *rest;
    fields(rest)?;
    Ok(before.get(..before.len() - rest.len()).unwrap_or_default())
}
fn fields(rest: &mut &[u8]) -> Result<(), Stop> {
    take(rest, 1)?;
    varint(rest)?;
    varint(rest)?;
    let key = varint(rest)?;
    skip(rest, key)?;
    let value = varint(rest)?;
    skip(rest, value)?;
    let headers = varint(rest)?;
    if headers < 0 {
        return Err(Stop::Malformed);
    }
    for _ in 0..headers {
        let name = usize::try_from(varint(rest)?).map_err(|_| Stop::Malformed)?;
        take(rest, name)?;
        let value = varint(rest)?;
        skip(rest, value)?;
    }
    Ok(())
}
/// Passes over what may be null.
fn skip(rest: &mut &[u8], len: i64) -> Result<(), Stop> {
    usize::try_from(len).map_or(Ok(()), |len| take(rest, len).map(drop))
}
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], Stop> {
    let (taken, after) = rest.split_at_checked(len).ok_or(Stop::Starved)?;
    *rest = after;
    Ok(taken)
}
/// A number of up to ten bytes, seven bits in each, the sign in the lowest one.
fn varint(rest: &mut &[u8]) -> Result<i64, Stop> {
    let mut value = 0u64;
    for at in 0..10 {
        let [byte] = *take(rest, 1)? else { return Err(Stop::Starved) };
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        }
    }
    Err(Stop::Malformed)
}
fn put_varint(out: &mut Vec<u8>, length: usize) {
    let mut left = length << 1;
    loop {
        let low = u8::try_from(left & 0x7f).unwrap_or(0);
        left >>= 7;
        out.push(if left == 0 { low } else { low | 0x80 });
        if left == 0 {
            return;
        }
    }
}
