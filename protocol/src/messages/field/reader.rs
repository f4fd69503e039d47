//! Where our own messages are read from: a body that the guard walked over.
//!
//! The guard has held counts to the limits; here every length and count is compared with the bytes that are left all
//! the same.

use super::TaggedFields;
use crate::codec::Malformed;
use crate::messages::StrBytes;
use bytes::{Buf, Bytes};

/// What is left of a message that is read.
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a mut Bytes,
    /// Where the message ends, counted from the body's start.
    pub(crate) end: usize,
    pub(crate) version: i16,
    pub(crate) flexible: bool,
}

impl Reader<'_> {
    pub(super) fn malformed(&self, reason: impl Into<std::borrow::Cow<'static, str>>) -> Malformed {
        Malformed::new(reason).at_offset(self.end.saturating_sub(self.rest.len()))
    }
    pub(super) fn take(&mut self, length: usize) -> Result<Bytes, Malformed> {
        let left = self.rest.len();
        if length > left {
            return Err(self.malformed(format!("{length} bytes are needed here and {left} are left")));
        }
        Ok(self.rest.split_to(length))
    }
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let Some(array) = self.rest.first_chunk::<N>().copied() else {
            return Err(self.malformed(format!("{N} bytes are needed here and {} are left", self.rest.len())));
        };
        self.rest.advance(N);
        Ok(array)
    }
    fn unsigned_varint(&mut self) -> Result<u32, Malformed> {
        let mut value = 0;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed("a varint of more than 32 bits"))
    }
    /// A count of elements or bytes that are all there, if each has a byte at least; none is null.
    pub(crate) fn count(&mut self) -> Result<Option<usize>, Malformed> {
        let count = if self.flexible {
            self.unsigned_varint()?.wrapping_sub(1).cast_signed()
        } else {
            i32::from_be_bytes(self.array()?)
        };
        self.held(count)
    }
    fn held(&self, count: i32) -> Result<Option<usize>, Malformed> {
        if count == -1 {
            return Ok(None);
        }
        let count = usize::try_from(count).map_err(|_| self.malformed(format!("a length of {count}")))?;
        if count > self.rest.len() {
            return Err(self
                .malformed(format!("{count} elements or bytes are announced and {} bytes are left", self.rest.len())));
        }
        Ok(Some(count))
    }
    pub(super) fn text(&mut self) -> Result<Option<StrBytes>, Malformed> {
        let count = if self.flexible { self.count()? } else { self.nullable_short()? };
        let Some(length) = count else { return Ok(None) };
        let bytes = self.take(length)?;
        StrBytes::from_utf8(bytes).map(Some).map_err(|_| self.malformed("a text that is not UTF-8"))
    }
    fn nullable_short(&mut self) -> Result<Option<usize>, Malformed> {
        let length = i32::from(i16::from_be_bytes(self.array()?));
        self.held(length)
    }
    pub(crate) fn null<T>(&self) -> Result<T, Malformed> {
        Err(self.malformed("null, which this field cannot be"))
    }
    /// Ends a struct: hands each tagged field to `known`, which takes it or leaves it for the unknown ones.
    pub(crate) fn tags(
        &mut self,
        known: &mut dyn FnMut(i32, &mut Reader<'_>) -> Result<bool, Malformed>,
    ) -> Result<TaggedFields, Malformed> {
        let mut unknown = TaggedFields::new();
        for _ in 0..self.tagged_count()? {
            let (tag, mut value) = self.tag()?;
            let whole = value.clone();
            let (end, version) = (self.end.saturating_sub(self.rest.len()), self.version);
            if !known(tag, &mut Reader { rest: &mut value, end, version, flexible: true })? {
                unknown.insert(tag, whole);
            } else if !value.is_empty() {
                return Err(self.malformed(format!("tagged field {tag} is longer than what it holds")));
            }
        }
        Ok(unknown)
    }
    /// How many tagged fields a struct has.
    fn tagged_count(&mut self) -> Result<u32, Malformed> {
        if self.flexible { self.unsigned_varint() } else { Ok(0) }
    }
    fn tag(&mut self) -> Result<(i32, Bytes), Malformed> {
        let tag = self.unsigned_varint()?;
        let tag = i32::try_from(tag).map_err(|_| self.malformed(format!("tag {tag}")))?;
        let size = self.unsigned_varint()?;
        Ok((tag, self.take(usize::try_from(size).unwrap_or(usize::MAX))?))
    }
}
