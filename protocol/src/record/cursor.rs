//! Reading from the front of a slice.

/// A slice and how far it was read. Every read tells by `None` that the bytes do not hold what was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Slice<'a> {
    #[inline]
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
    /// The same slice, read up to `at`.
    #[inline]
    pub(super) const fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }
    /// How many bytes were read.
    #[inline]
    pub(super) const fn position(&self) -> usize {
        self.at
    }
    /// How many bytes are left.
    #[inline]
    pub(super) const fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }
    /// What is left.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..length)?;
        self.at += length;
        Some(taken)
    }
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(*taken)
    }
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }
    /// A zigzag int of at most five bytes; bits past the 32nd are dropped, as Kafka does.
    pub(super) fn int(&mut self) -> Option<i32> {
        let mut raw = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = u32::from(self.byte()?);
            raw |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(unzigzag(raw));
            }
        }
        None
    }
    /// A zigzag long of at most ten bytes.
    pub(super) fn long(&mut self) -> Option<i64> {
        let mut raw = 0;
        for shift in (0..=63).step_by(7) {
            let byte = u64::from(self.byte()?);
            raw |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed());
            }
        }
        None
    }
    /// A length and that many bytes. Null is written as −1, and Kafka reads whatever is negative as it.
    #[inline]
    pub(super) fn nullable(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.int()?) {
            Err(_) => Some(None),
            Ok(length) => Some(Some(self.take(length)?)),
        }
    }
}

/// The first eight bytes of a record as one word: short varints are cut from it without a branch for each byte.
pub(super) struct Front {
    word: u64,
    position: usize,
}

impl Front {
    #[inline]
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        Some(Self { word: u64::from_le_bytes(*bytes.first_chunk()?), position: 0 })
    }
    /// How many bytes were read.
    #[inline]
    pub(super) const fn position(&self) -> usize {
        self.position
    }
    /// Passes a byte over.
    #[inline]
    pub(super) const fn skip(&mut self) {
        self.word >>= 8;
        self.position += 1;
    }
    /// A varint of one or two bytes, still in zigzag. None if it has more.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it has fourteen bits")]
    pub(super) const fn two(&mut self) -> Option<u16> {
        let word = self.word;
        let more = word >> 7 & 1;
        if word & 0x8080 == 0x8080 {
            return None;
        }
        self.word >>= 8 + 8 * more;
        self.position += 1 + more as usize;
        Some((word & 0x7f | word >> 1 & 0x3f80 & 0_u64.wrapping_sub(more)) as u16)
    }
    /// A varint of one to three bytes, still in zigzag. None if it has more. Nothing can be read after it.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it has twenty-one bits")]
    pub(super) const fn three(&mut self) -> Option<u32> {
        let word = self.word;
        let more = word >> 7 & 1;
        let yet_more = word >> 15 & more;
        if word & 0x80_8080 == 0x80_8080 {
            return None;
        }
        self.position += (1 + more + yet_more) as usize;
        let second = word >> 1 & 0x3f80 & 0_u64.wrapping_sub(more);
        let third = word >> 2 & 0x1f_c000 & 0_u64.wrapping_sub(yet_more);
        Some((word & 0x7f | second | third) as u32)
    }
}

/// A length of at most two bytes and that many bytes, or null; and what follows. None if the length has more bytes or there is less than that.
#[inline(always)]
pub(super) fn short_field(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let &[first, second] = bytes.first_chunk()?;
    if first == NULL {
        return Some((None, bytes.get(1..)?));
    }
    let (raw, rest) = if first < 0x80 {
        (usize::from(first), bytes.get(1..)?)
    } else if second < 0x80 {
        (usize::from(first & 0x7f) | usize::from(second) << 7, bytes.get(2..)?)
    } else {
        return None;
    };
    if raw & 1 == 1 {
        return Some((None, rest));
    }
    let (field, rest) = rest.split_at_checked(raw >> 1)?;
    Some((Some(field), rest))
}

/// What a zigzag int stands for: 0, −1, 1, −2, …
#[inline]
pub(super) const fn unzigzag(raw: u32) -> i32 {
    (raw >> 1).cast_signed() ^ -(raw & 1).cast_signed()
}

/// The length −1.
const NULL: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::varint;

    #[test]
    fn what_was_written_is_read() {
        for value in [0, -1, 1, 63, -64, 64, 300, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN] {
            let out = varint::written(value);
            assert_eq!(Slice::new(&out).long(), Some(value));
            assert_eq!(Slice::new(&out[..out.len() - 1]).long(), None);
            if let Ok(int) = i32::try_from(value) {
                assert_eq!(Slice::new(&out).int(), Some(int));
            }
        }
    }

    #[test]
    fn a_short_varint_is_read_as_a_long_one_is() {
        for value in
            (0..1 << 20).step_by(37).chain([63, 64, 8191, 8192, (1 << 20) - 1]).flat_map(|value| [value, -value])
        {
            let mut bytes = varint::written(value);
            let length = bytes.len();
            bytes.extend([0xaa; 8]);
            let mut front = Front::new(&bytes).expect("eight bytes");
            let short = front.two().map(u32::from).filter(|_| length <= 2);
            let mut front = Front::new(&bytes).expect("eight bytes");
            let read = front.three().map(unzigzag);
            assert_eq!((read.map(i64::from), front.position()), (Some(value), length));
            assert_eq!(short.map(unzigzag).map(i64::from), (length <= 2).then_some(value));
        }
        assert!(Front::new(&[0x80, 0x80, 0x80, 0, 0, 0, 0, 0]).expect("eight bytes").three().is_none());
    }

    #[test]
    fn a_short_field_is_read_as_a_long_one_is() {
        let cases: [&[u8]; 8] =
            [b"\x01x", b"\x00x", b"\x04abc", b"\x04a", b"\x80\x01", b"\x03ab", b"\x81\x01ab", b"\xff\xff\xff"];
        for bytes in cases {
            let mut rest = Slice::new(bytes);
            let long = rest.nullable().map(|field| (field, rest.rest()));
            assert_eq!(short_field(bytes), long, "{bytes:x?}");
        }
    }

    #[test]
    fn whatever_length_is_negative_is_null() {
        for length in [-1, -2, -9, -64, -65, -9000, i64::from(i32::MIN)] {
            let bytes = [varint::written(length), b"rest".to_vec()].concat();
            let mut rest = Slice::new(&bytes);
            assert_eq!((rest.nullable(), rest.rest()), (Some(None), &b"rest"[..]), "{length}");
        }
    }

    #[test]
    fn a_varint_that_never_ends_is_refused() {
        assert_eq!(Slice::new(&[0x80; 6]).int(), None);
        assert_eq!(Slice::new(&[0x80; 11]).long(), None);
        assert_eq!(Slice::new(&[0x80, 0x80, 0x80, 0x80, 0]).int(), Some(0));
    }
}
