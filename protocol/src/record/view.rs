//! One record, by reference.

use super::cursor::{Front, Slice, short_field, unzigzag};
use crate::{Header, Headers, Offset, Timestamp};
use bytes::Bytes;

/// A record as it lies in its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordView<'a> {
    /// Its place in the partition.
    pub offset: Offset,
    /// Its time: under `LogAppendTime` the batch's, else its own.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value; null is a tombstone.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: HeadersView<'a>,
}

/// A record's headers as they lie in its batch, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeadersView<'a> {
    pub(super) count: usize,
    pub(super) encoded: &'a [u8],
}

impl<'a> HeadersView<'a> {
    /// How many.
    #[must_use]
    pub const fn len(self) -> usize {
        self.count
    }
    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }
    /// In order; a name may come twice.
    pub const fn iter(self) -> HeaderIter<'a> {
        HeaderIter { left: self.count, rest: Slice::new(self.encoded) }
    }
    /// The value of the last one of this name; a null value reads as none.
    #[must_use]
    pub fn last(self, name: &str) -> Option<&'a [u8]> {
        self.iter().filter(|header| header.name == name).last()?.value
    }
    /// A copy that stands alone. Values are slices of `payload` where they lie in it, and are copied where they do not.
    #[must_use]
    pub fn to_headers(self, payload: &Bytes) -> Headers {
        let mut headers = Headers::new();
        let range = payload.as_ptr_range();
        for header in self.iter() {
            let share = |value: &[u8]| {
                if !value.is_empty() && range.contains(&value.as_ptr()) {
                    payload.slice_ref(value)
                } else {
                    Bytes::copy_from_slice(value)
                }
            };
            headers.push(header.name, header.value.map(share));
        }
        headers
    }
}
impl<'a> IntoIterator for HeadersView<'a> {
    type Item = Header<'a>;
    type IntoIter = HeaderIter<'a>;
    fn into_iter(self) -> HeaderIter<'a> {
        self.iter()
    }
}

/// An iterator over [`HeadersView`].
#[derive(Debug, Clone)]
#[must_use]
pub struct HeaderIter<'a> {
    left: usize,
    rest: Slice<'a>,
}
impl<'a> Iterator for HeaderIter<'a> {
    type Item = Header<'a>;
    fn next(&mut self) -> Option<Header<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (name, value) = header(&mut self.rest)?;
        Some(Header { name: std::str::from_utf8(name).ok()?, value })
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
impl ExactSizeIterator for HeaderIter<'_> {}

/// One header, its name not yet looked at.
pub(super) fn header<'a>(rest: &mut Slice<'a>) -> Option<(&'a [u8], Option<&'a [u8]>)> {
    let length = usize::try_from(rest.int()?).ok()?;
    Some((rest.take(length)?, rest.nullable()?))
}

/// A record's parts, before the batch's offset and time are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i32,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) headers: HeadersView<'a>,
}

impl<'a> Parts<'a> {
    /// Reads the record at `at` and tells where it ends. Its headers are unread: all that follows their count is theirs.
    #[inline(always)]
    pub(super) fn read(bytes: &'a [u8], at: usize) -> Option<(Self, usize)> {
        Self::read_short(bytes, at).or_else(|| Self::read_any(bytes, at))
    }

    /// Nearly all records: fewer than 8 KiB, within 8 seconds and 2²⁰ offsets of the batch's first. None for others, and for malformed ones.
    #[inline(always)]
    fn read_short(bytes: &'a [u8], at: usize) -> Option<(Self, usize)> {
        let rest = bytes.get(at..)?;
        let mut front = Front::new(rest)?;
        let length = usize::from(front.two()?);
        let end = front.position() + (length >> 1);
        front.skip();
        let (timestamp_delta, offset_delta) = (front.two()?, front.three()?);
        let rest = rest.get(front.position()..end)?;
        let (key, rest) = short_field(rest)?;
        let (value, rest) = short_field(rest)?;
        let (&count, encoded) = rest.split_first()?;
        if count >= 0x80 || (length | usize::from(count)) & 1 == 1 {
            return None;
        }
        let headers = HeadersView { count: usize::from(count >> 1), encoded };
        let timestamp_delta = i64::from(unzigzag(u32::from(timestamp_delta)));
        Some((Self { timestamp_delta, offset_delta: unzigzag(offset_delta), key, value, headers }, at + end))
    }
    #[cold]
    fn read_any(bytes: &'a [u8], at: usize) -> Option<(Self, usize)> {
        let mut rest = Slice::from(bytes, at);
        let length = usize::try_from(rest.int()?).ok()?;
        let mut body = Slice::new(rest.take(length)?);
        body.byte()?;
        let timestamp_delta = body.long()?;
        let offset_delta = body.int()?;
        let (key, value) = (body.nullable()?, body.nullable()?);
        let headers = HeadersView { count: usize::try_from(body.int()?).ok()?, encoded: body.rest() };
        Some((Self { timestamp_delta, offset_delta, key, value, headers }, rest.position()))
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Bytes that are a record more often than chance has it: a length, attributes, and small numbers.
    fn record_like() -> impl Strategy<Value = Vec<u8>> {
        (vec(prop_oneof![0..12_u8, any::<u8>()], 0..40), 0..50_u8).prop_map(|(mut bytes, length)| {
            bytes.insert(0, length);
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_short_way_reads_what_the_long_one_reads(bytes in record_like(), at in 0..3_usize) {
            if let Some(short) = Parts::read_short(&bytes, at) {
                prop_assert_eq!(Some(short), Parts::read_any(&bytes, at));
            }
        }
    }
}
