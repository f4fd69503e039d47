//! What frames carry.

use super::frame::{FrameWriter, Kind, take, u32_of, u64_of};
use crate::Blob;
use crate::engine::{Applied, ChangelogPosition, CommitId, Write, WriteBatch};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use std::io;

/// Adds the frames of a list of writes. Many small frames rather than a large one: reading one needs its size in memory.
pub(super) fn write_all<'a>(
    out: &mut FrameWriter,
    writes: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>)>,
) -> io::Result<()> {
    let mut writes = writes.into_iter().peekable();
    while writes.peek().is_some() {
        out.frame(Kind::Writes, |body| {
            let start = body.len();
            while body.len() - start < FRAME_LEN {
                let Some((key, value)) = writes.next() else { break };
                put_write(body, key, value);
            }
        })?;
    }
    Ok(())
}
pub(super) fn put_write(out: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) {
    put_bytes(out, Some(key));
    put_bytes(out, value);
}
/// Reads a frame of writes, one after the other.
pub(super) fn writes(mut body: &[u8], mut each: impl FnMut(Write)) -> Option<u64> {
    let mut count = 0;
    while !body.is_empty() {
        let key = Blob::from(bytes_of(&mut body)??);
        let value = bytes_of(&mut body)?.map(Blob::from);
        each(Write { key, value, timestamp: Timestamp::NONE });
        count += 1;
    }
    Some(count)
}

pub(super) fn prepare(
    out: &mut FrameWriter,
    commit: CommitId,
    position: &ChangelogPosition,
    batch: &WriteBatch,
) -> io::Result<()> {
    write_all(out, batch.writes().iter().map(|write| (write.key.as_slice(), write.value.as_deref())))?;
    out.frame(Kind::Prepared, |body| {
        put_commit(body, commit);
        put_position(body, position);
        put_count(body, batch.len());
    })
}
pub(super) fn restore(out: &mut FrameWriter, position: &ChangelogPosition, batch: &WriteBatch) -> io::Result<()> {
    write_all(out, batch.writes().iter().map(|write| (write.key.as_slice(), write.value.as_deref())))?;
    out.frame(Kind::Restored, |body| {
        put_position(body, position);
        put_count(body, batch.len());
    })
}
pub(super) fn adopt(out: &mut FrameWriter, commit: CommitId, position: &ChangelogPosition) -> io::Result<()> {
    out.frame(Kind::Adopted, |body| {
        put_commit(body, commit);
        put_position(body, position);
    })
}
pub(super) fn decide(out: &mut FrameWriter, kind: Kind, commit: CommitId) -> io::Result<()> {
    out.frame(kind, |body| put_commit(body, commit))
}
/// The end of a snapshot's entries.
pub(super) fn base(out: &mut FrameWriter, applied: Option<&Applied>, count: u64) -> io::Result<()> {
    out.frame(Kind::Base, |body| {
        body.extend_from_slice(&count.to_be_bytes());
        body.push(applied.map_or(0, |applied| if applied.commit.is_some() { 2 } else { 1 }));
        if let Some(applied) = applied {
            if let Some(commit) = applied.commit {
                put_commit(body, commit);
            }
            put_position(body, &applied.position);
        }
    })
}

/// Reads a frame's body from its front; each method gives none when the body does not have what is asked for.
pub(super) struct Body<'a>(pub(super) &'a [u8]);
impl Body<'_> {
    pub(super) fn commit(&mut self) -> Option<CommitId> {
        Some(CommitId::new(u64_of(&mut self.0)?, u64_of(&mut self.0)?))
    }
    pub(super) fn position(&mut self) -> Option<ChangelogPosition> {
        let end = Offset::new(self.i64()?);
        let time = Timestamp::from_millis(self.i64()?);
        let count = u32_of(&mut self.0)?;
        let inputs = (0..count).map(|_| self.input()).collect::<Option<Vec<_>>>()?;
        Some(ChangelogPosition::new(end, time).with_inputs(inputs))
    }
    pub(super) fn count(&mut self) -> Option<u64> {
        u64_of(&mut self.0)
    }
    pub(super) fn applied(&mut self) -> Option<Option<Applied>> {
        let [form] = take(&mut self.0)?;
        let commit = if form == 2 { Some(self.commit()?) } else { None };
        match form {
            0 => Some(None),
            1 | 2 => Some(Some(Applied::new(commit, self.position()?))),
            _ => None,
        }
    }
    /// Whether all was read.
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
    fn input(&mut self) -> Option<(TopicPartition, Offset)> {
        let topic = std::str::from_utf8(bytes_of(&mut self.0)??).ok()?;
        let partition = take(&mut self.0).map(i32::from_be_bytes)?;
        Some((TopicPartition::new(topic, partition), Offset::new(self.i64()?)))
    }
    fn i64(&mut self) -> Option<i64> {
        take(&mut self.0).map(i64::from_be_bytes)
    }
}

fn put_commit(out: &mut Vec<u8>, commit: CommitId) {
    out.extend_from_slice(&commit.number().to_be_bytes());
    out.extend_from_slice(&commit.life().to_be_bytes());
}
fn put_position(out: &mut Vec<u8>, position: &ChangelogPosition) {
    out.extend_from_slice(&position.changelog_end().get().to_be_bytes());
    out.extend_from_slice(&position.time().as_millis().to_be_bytes());
    let count = u32::try_from(position.inputs().len()).expect("a task has fewer than 2^32 input partitions");
    out.extend_from_slice(&count.to_be_bytes());
    for (partition, offset) in position.inputs() {
        put_bytes(out, Some(partition.topic.as_str().as_bytes()));
        out.extend_from_slice(&partition.partition.get().to_be_bytes());
        out.extend_from_slice(&offset.get().to_be_bytes());
    }
}
fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
}
/// A length plus one, or 0 for none, seven bits a byte from the lowest; then the bytes.
fn put_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    let mut left = bytes.map_or(0, |bytes| bytes.len() + 1);
    while left >= 0x80 {
        out.push(u8::try_from(left & 0x7f).unwrap_or_default() | 0x80);
        left >>= 7;
    }
    out.push(u8::try_from(left).unwrap_or_default());
    out.extend_from_slice(bytes.unwrap_or_default());
}
/// What [`put_bytes`] wrote.
fn bytes_of<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let mut len = 0_usize;
    for shift in (0..35).step_by(7) {
        let [byte] = take(rest)?;
        len |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            let Some(len) = len.checked_sub(1) else { return Some(None) };
            let (bytes, back) = rest.split_at_checked(len)?;
            *rest = back;
            return Some(Some(bytes));
        }
    }
    None
}

/// How large a frame of writes becomes before the next begins.
pub(super) const FRAME_LEN: usize = 1 << 16;
