//! Zigzag varints: seven bits a byte, low ones first; an int of at most five bytes, a long of at most ten. And a record, which is made of them.

use super::builder::HeaderList;
use super::view::Parts;
use crate::buffers::Buffer;

/// The most bytes of a long.
pub(super) const MOST_LONG: usize = 10;
/// How much room there has to be behind what is written: varints are written as words.
pub(super) const SLACK: usize = 8;
/// A null's length, −1.
const NULL: u8 = 1;

/// A record that is about to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding<'a> {
    /// In zigzag.
    timestamp_delta: u64,
    /// In zigzag.
    offset_delta: u64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    headers: HeaderList<'a>,
    headers_size: usize,
}

impl<'a> Encoding<'a> {
    #[inline]
    pub(super) fn new(
        timestamp_delta: i64,
        offset_delta: i32,
        key: Option<&'a [u8]>,
        value: Option<&'a [u8]>,
        headers: HeaderList<'a>,
    ) -> Self {
        let (timestamp_delta, offset_delta) = (zigzag(timestamp_delta), zigzag(i64::from(offset_delta)));
        Self { timestamp_delta, offset_delta, key, value, headers, headers_size: headers.size() }
    }
    /// How many bytes of data it has: a little less than it takes.
    #[inline]
    pub(super) fn data_size(&self) -> usize {
        self.key.map_or(0, <[u8]>::len) + self.value.map_or(0, <[u8]>::len) + self.headers_size
    }
    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let body = self.body_size();
        size_length(body) + body
    }
    fn body_size(&self) -> usize {
        let deltas = size(self.timestamp_delta) + size(self.offset_delta);
        1 + deltas + size_nullable(self.key) + size_nullable(self.value) + self.headers_size
    }
    /// Appends it.
    #[inline]
    pub(super) fn put(&self, buffer: &mut Buffer) {
        if self.timestamp_delta < SHORT && self.offset_delta < 1 << 21 && self.data_size() < MOST_SHORT_DATA {
            self.put_short(buffer);
        } else {
            self.put_any(buffer);
        }
    }

    /// Nearly all records: those whose varints have one byte or two, three for the offset. Each is computed once, and the first three and the attributes, which are 0,
    /// are written as one word.
    #[inline(always)]
    fn put_short(&self, buffer: &mut Buffer) {
        let ((time, time_size), (offset, offset_size)) = (two(self.timestamp_delta), three(self.offset_delta));
        let fields = short_size(self.key) + short_size(self.value) + self.headers_size;
        let body = 1 + (time_size + offset_size) as usize + fields;
        let (length, length_size) = two((body as u64) << 1);
        let time_at = length_size + 1;
        let word = length | time << (8 * time_at) | offset << (8 * (time_at + time_size));
        let size = length_size as usize + body;
        let mut out = Writer::new(buffer.spare_of(size + SLACK));
        out.word(word, time_at + time_size + offset_size);
        out.short_nullable(self.key);
        out.short_nullable(self.value);
        if self.headers_size == 1 {
            out.byte(0);
        } else {
            self.headers.write(out.rest());
        }
        buffer.advance(size);
    }
    /// Takes a copy, so that the other way need not have the parts in memory.
    #[cold]
    fn put_any(self, buffer: &mut Buffer) {
        let body = self.body_size();
        let size = size_length(body) + body;
        let mut out = Writer::new(buffer.spare_of(size + SLACK));
        out.length(body);
        out.byte(0);
        out.any(self.timestamp_delta);
        out.any(self.offset_delta);
        out.nullable(self.key);
        out.nullable(self.value);
        self.headers.write(out.rest());
        buffer.advance(size);
    }
}
impl<'a> From<Parts<'a>> for Encoding<'a> {
    fn from(parts: Parts<'a>) -> Self {
        let headers = HeaderList::Encoded(parts.headers);
        Self::new(parts.timestamp_delta, parts.offset_delta, parts.key, parts.value, headers)
    }
}

/// Writes to the front of a slice that is large enough, and somewhat larger.
pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

#[expect(
    clippy::indexing_slicing,
    reason = "the sizes were computed from what is written: they are no one else's numbers"
)]
impl<'a> Writer<'a> {
    pub(super) const fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0 }
    }
    /// A new one behind what is written.
    fn rest(self) -> Self {
        Self { out: &mut self.out[self.at..], at: 0 }
    }
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.out[self.at] = byte;
        self.at += 1;
    }
    pub(super) fn length(&mut self, length: usize) {
        self.any((length as u64) << 1);
    }
    #[inline]
    pub(super) fn slice(&mut self, bytes: &[u8]) {
        self.out[self.at..][..bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
    pub(super) fn nullable(&mut self, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else { return self.byte(NULL) };
        self.length(bytes.len());
        self.slice(bytes);
    }

    /// Bytes whose length has one byte or two.
    #[inline(always)]
    fn short_nullable(&mut self, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else { return self.byte(NULL) };
        let (word, size) = two((bytes.len() as u64) << 1);
        self.word(word, size);
        self.slice(bytes);
    }
    /// Writes eight bytes, of which `size` count.
    #[inline]
    fn word(&mut self, word: u64, size: u32) {
        self.out[self.at..][..8].copy_from_slice(&word.to_le_bytes());
        self.at += size as usize;
    }
    pub(super) fn any(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.byte((value & 0x7f) as u8);
    }
}

/// What is under this has at most two bytes.
const SHORT: u64 = 1 << 14;
/// With so many bytes of data, all lengths of a record are short.
const MOST_SHORT_DATA: usize = (1 << 13) - 32;

/// How many bytes a short field takes.
#[inline]
fn short_size(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(1, |bytes| bytes.len() + 1 + usize::from(bytes.len() >= 64))
}

/// The bytes of a value under [`SHORT`], and how many they are.
#[inline]
const fn two(value: u64) -> (u64, u32) {
    let high = value >> 7;
    let more = (high != 0) as u32;
    (value & 0x7f | (more as u64) << 7 | high << 8, 1 + more)
}
/// The bytes of a value under 2²¹, and how many they are.
#[inline]
const fn three(value: u64) -> (u64, u32) {
    let (middle, high) = (value >> 7, value >> 14);
    let (more, yet_more) = ((middle != 0) as u32, (high != 0) as u32);
    let word = value & 0x7f | (more as u64) << 7 | (middle & 0x7f) << 8 | (yet_more as u64) << 15 | high << 16;
    (word, 1 + more + yet_more)
}

/// How many bytes a length takes; lengths are never negative.
pub(super) const fn size_length(length: usize) -> usize {
    size((length as u64) << 1)
}
/// How many bytes those bytes take, with their length.
pub(super) const fn size_nullable(bytes: Option<&[u8]>) -> usize {
    match bytes {
        None => 1,
        Some(bytes) => size_length(bytes.len()) + bytes.len(),
    }
}

pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
pub(super) const fn size(zigzag: u64) -> usize {
    // One byte for each seven bits, and one for zero.
    (70 - (zigzag | 1).leading_zeros() as usize) / 7
}

#[cfg(test)]
pub(super) fn written(value: i64) -> Vec<u8> {
    let mut out = [0; MOST_LONG + SLACK];
    let mut writer = Writer::new(&mut out);
    writer.any(zigzag(value));
    let length = writer.at;
    out[..length].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::view::{HeadersView, Parts};

    fn around_powers() -> impl Iterator<Item = i64> {
        (0..63).flat_map(|bit| [1_i64 << bit, (1 << bit) - 1, -(1 << bit)]).chain([i64::MIN, i64::MAX])
    }

    #[test]
    fn sizes_are_what_is_written() {
        for value in around_powers() {
            assert_eq!(written(value).len(), size(zigzag(value)), "{value}");
        }
    }

    #[test]
    fn values_put_together_in_a_word_are_the_same_as_byte_by_byte() {
        for value in (0..1 << 21).step_by(11).chain([0x7f, 0x80, 0x3fff, 0x4000, (1 << 21) - 1]) {
            let bytes = written((value >> 1) as i64 ^ -((value & 1) as i64));
            let (word, size) = three(value);
            assert_eq!(word.to_le_bytes()[..size as usize], bytes, "{value}");
            if value < SHORT {
                assert_eq!(two(value), (word, size), "{value}");
            }
        }
    }

    #[test]
    fn records_of_all_sizes_come_back() {
        let lengths = [0, 1, 63, 64, 65, 8180, 8191, 8192, 1 << 20];
        for (timestamp_delta, length) in around_powers().flat_map(|delta| lengths.map(|length| (delta, length))) {
            let data = vec![7; length];
            let offset_delta = i32::try_from(timestamp_delta).unwrap_or(3);
            for (key, value) in
                [(None, Some(&data[..])), (Some(&data[..]), None), (Some(&data[..1.min(length)]), Some(&b""[..]))]
            {
                let parts = Parts { timestamp_delta, offset_delta, key, value, headers: HeadersView::default() };
                let mut buffer = Buffer::new();
                Encoding::from(parts).put(&mut buffer);
                assert_eq!(Encoding::from(parts).size(), buffer.len(), "{timestamp_delta} {length}");
                let read = Parts::read(buffer.filled(), 0);
                assert_eq!(read, Some((parts, buffer.len())), "{timestamp_delta} {length}");
            }
        }
    }
}
