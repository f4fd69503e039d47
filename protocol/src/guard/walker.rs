//! Reads the primitive types of the wire from a slice, never past its end, and never allocates.

use crate::codec::Malformed;
use std::ops::Range;

/// As many unknown tagged fields as Kafka takes in one struct.
const MAX_TAGGED_FIELDS: u32 = 10_000;

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
    pub(crate) fn int16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }
    pub(crate) fn int32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }
    /// A string with a length of two bytes: where its text is, none for null.
    pub(crate) fn nullable_string(&mut self) -> Result<Option<Range<usize>>, Malformed> {
        let at = self.position;
        match self.int16()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| negative(length.into(), at))?;
                self.take(length).map(Some)
            }
        }
    }
    /// Skips a struct's tagged fields, none of which is known.
    pub(crate) fn tagged_fields(&mut self) -> Result<(), Malformed> {
        let at = self.position;
        let count = self.unsigned_varint()?;
        if count > MAX_TAGGED_FIELDS {
            return Err(
                Malformed::new(format!("{count} tagged fields; the limit is {MAX_TAGGED_FIELDS}")).at_offset(at)
            );
        }
        for _ in 0..count {
            self.unsigned_varint()?;
            let length = self.unsigned_varint()?;
            self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        }
        Ok(())
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
        Err(Malformed::fixed("a varint of more than 32 bits").at_offset(at))
    }
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    fn take(&mut self, length: usize) -> Result<Range<usize>, Malformed> {
        let left = self.bytes.len() - self.position;
        if length > left {
            let reason = format!("{length} bytes are needed here and {left} are left");
            return Err(Malformed::new(reason).at_offset(self.position));
        }
        let start = self.position;
        self.position += length;
        Ok(start..self.position)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let range = self.take(N)?;
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[range]);
        Ok(array)
    }
}

fn negative(length: i64, at: usize) -> Malformed {
    Malformed::new(format!("a length of {length}")).at_offset(at)
}
