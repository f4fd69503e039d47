//! Reads the primitive types of the wire from a slice, never past its end, and never allocates.

use super::Limits;
use crate::codec::Malformed;

/// A position in a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walker<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Walker<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }
    pub(crate) const fn position(&self) -> usize {
        self.position
    }
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.position
    }
    pub(crate) fn int8(&mut self) -> Result<i8, Malformed> {
        self.array().map(i8::from_be_bytes)
    }
    pub(crate) fn int16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }
    pub(crate) fn int32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }
    /// A length of two bytes; none for −1.
    pub(crate) fn length16(&mut self) -> Result<Option<usize>, Malformed> {
        let at = self.position;
        let length = self.int16()?;
        length_of(length.into(), at)
    }
    /// A length or count of four bytes; none for −1.
    pub(crate) fn length32(&mut self) -> Result<Option<usize>, Malformed> {
        let at = self.position;
        let length = self.int32()?;
        length_of(length, at)
    }
    /// A compact length or count, which is one more than it says; none for 0.
    pub(crate) fn compact_length(&mut self) -> Result<Option<usize>, Malformed> {
        let length = self.unsigned_varint()?;
        Ok(length.checked_sub(1).map(|length| usize::try_from(length).unwrap_or(usize::MAX)))
    }
    /// At most five bytes, at most 32 bits.
    pub(crate) fn unsigned_varint(&mut self) -> Result<u32, Malformed> {
        let at = self.position;
        let mut value: u32 = 0;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::new("a varint of more than 32 bits").at_offset(at))
    }
    /// The number of a struct's tagged fields.
    pub(crate) fn tagged_count(&mut self, limits: &Limits) -> Result<u32, Malformed> {
        let at = self.position;
        let count = self.unsigned_varint()?;
        if count > limits.tagged_fields {
            let reason = format!("{count} tagged fields; the limit is {}", limits.tagged_fields);
            return Err(Malformed::new(reason).at_offset(at));
        }
        Ok(count)
    }
    /// A tagged field's number and size.
    pub(crate) fn tag(&mut self) -> Result<(u32, usize), Malformed> {
        let at = self.position;
        let tag = self.unsigned_varint()?;
        if i32::try_from(tag).is_err() {
            return Err(Malformed::new(format!("a tag of {tag}")).at_offset(at));
        }
        let size = self.unsigned_varint()?;
        Ok((tag, usize::try_from(size).unwrap_or(usize::MAX)))
    }
    /// Skips a struct's tagged fields, none of which is known.
    pub(crate) fn tagged_fields(&mut self) -> Result<(), Malformed> {
        for _ in 0..self.tagged_count(&Limits::DEFAULT)? {
            let (_, size) = self.tag()?;
            self.take(size)?;
        }
        Ok(())
    }
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let taken = self.bytes.get(self.position..).and_then(|rest| rest.get(..length));
        let taken = taken.ok_or_else(|| self.short_of(length))?;
        self.position += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let array = self.bytes.get(self.position..).and_then(<[u8]>::first_chunk);
        let array = *array.ok_or_else(|| self.short_of(N))?;
        self.position += N;
        Ok(array)
    }
    #[cold]
    fn short_of(&self, length: usize) -> Malformed {
        let left = self.left();
        Malformed::new(format!("{length} bytes are needed here and {left} are left")).at_offset(self.position)
    }
}

fn length_of(length: i32, at: usize) -> Result<Option<usize>, Malformed> {
    match length {
        -1 => Ok(None),
        _ => {
            usize::try_from(length).map(Some).map_err(|_| Malformed::new(format!("a length of {length}")).at_offset(at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_end_at_32_bits() {
        let read = |bytes: &[u8]| Walker::new(bytes).unsigned_varint().ok();
        assert_eq!(read(&[0x7f]), Some(127));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Some(u32::MAX));
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x00]), Some(0));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f]), None);
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), None);
        assert_eq!(read(&[0x80]), None);
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut walker = Walker::new(&[0, 1, 2]);
        assert!(walker.int32().is_err());
        assert!(walker.take(usize::MAX).is_err());
        assert_eq!((walker.int16(), walker.left()), (Ok(1), 1));
    }
}
