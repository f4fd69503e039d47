//! Reading from the front of a slice.

/// What is left of a slice. Every read tells by `None` that the bytes do not hold what was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice<'a>(pub(super) &'a [u8]);

impl<'a> Slice<'a> {
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }
    /// A zigzag int of at most five bytes; bits past the 32nd are dropped, as Kafka does.
    #[inline]
    pub(super) fn int(&mut self) -> Option<i32> {
        let first = u32::from(self.byte()?);
        let raw = if first < 0x80 { first } else { self.int_after(first & 0x7f)? };
        Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }
    /// A zigzag long of at most ten bytes.
    #[inline]
    pub(super) fn long(&mut self) -> Option<i64> {
        let first = u64::from(self.byte()?);
        let raw = if first < 0x80 { first } else { self.long_after(first & 0x7f)? };
        Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }
    /// A length and that many bytes; −1 is null.
    #[inline]
    pub(super) fn nullable(&mut self) -> Option<Option<&'a [u8]>> {
        match self.int()? {
            -1 => Some(None),
            length => Some(Some(self.take(usize::try_from(length).ok()?)?)),
        }
    }

    /// What follows a first byte that is not the last. Lengths of a hundred bytes have two: they stand first.
    #[inline]
    fn int_after(&mut self, raw: u32) -> Option<u32> {
        match *self.0 {
            [byte @ 0..0x80, ref rest @ ..] => {
                self.0 = rest;
                Some(raw | u32::from(byte) << 7)
            }
            _ => self.long_int_after(raw),
        }
    }
    fn long_int_after(&mut self, mut raw: u32) -> Option<u32> {
        for shift in [7, 14, 21, 28] {
            let byte = u32::from(self.byte()?);
            raw |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(raw);
            }
        }
        None
    }
    fn long_after(&mut self, mut raw: u64) -> Option<u64> {
        for shift in (7..=63).step_by(7) {
            let byte = u64::from(self.byte()?);
            raw |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(raw);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Slice;
    use crate::record::varint;

    #[test]
    fn what_was_written_is_read() {
        for value in [0, -1, 1, 63, -64, 64, 300, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            varint::put_long(&mut out, value);
            assert_eq!(Slice(&out).long(), Some(value));
            assert_eq!(Slice(&out[..out.len() - 1]).long(), None);
            if let Ok(int) = i32::try_from(value) {
                assert_eq!(Slice(&out).int(), Some(int));
            }
        }
    }

    #[test]
    fn a_varint_that_never_ends_is_refused() {
        assert_eq!(Slice(&[0x80; 6]).int(), None);
        assert_eq!(Slice(&[0x80; 11]).long(), None);
        assert_eq!(Slice(&[0x80, 0x80, 0x80, 0x80, 0]).int(), Some(0));
    }
}
