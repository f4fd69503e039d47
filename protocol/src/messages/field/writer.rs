//! Where our own messages are written to.

use super::{Field, TaggedFields};
use crate::codec::{BodyWriter, Malformed};
use crate::guard::check_text;
use bytes::{BufMut, Bytes};

/// A body under way, and the version that decides its form.
pub(crate) struct Writer<'a> {
    pub(crate) out: &'a mut BodyWriter,
    pub(crate) version: i16,
    pub(crate) flexible: bool,
}

impl Writer<'_> {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.buffer().put_slice(bytes);
    }
    fn unsigned_varint(&mut self, mut value: u32) {
        loop {
            let [.., low] = value.to_be_bytes();
            value >>= 7;
            if value == 0 {
                return self.out.buffer().put_u8(low & 0x7f);
            }
            self.out.buffer().put_u8(low | 0x80);
        }
    }
    /// A count of elements or bytes; none is null.
    pub(crate) fn count(&mut self, count: Option<usize>) -> Result<(), Malformed> {
        let count =
            count.map(i32::try_from).transpose().map_err(|_| Malformed::new("more than 2³¹−1 elements or bytes"))?;
        if self.flexible {
            self.unsigned_varint(count.map_or(0, |count| count.cast_unsigned() + 1));
        } else {
            self.out.buffer().put_i32(count.unwrap_or(-1));
        }
        Ok(())
    }
    pub(super) fn text(&mut self, text: Option<&str>) -> Result<(), Malformed> {
        let bytes = text.map(str::as_bytes);
        let length = bytes.map(<[u8]>::len);
        check_text(length.unwrap_or_default())?;
        if self.flexible {
            self.count(length)?;
        } else {
            self.out.buffer().put_i16(length.and_then(|length| i16::try_from(length).ok()).unwrap_or(-1));
        }
        self.bytes(bytes.unwrap_or_default());
        Ok(())
    }
    /// Writes what belongs to a tag, apart, since its size comes before it.
    pub(crate) fn tagged<T: Field>(&self, value: &T) -> Result<Bytes, Malformed> {
        let mut out = BodyWriter::default();
        value.write(&mut Writer { out: &mut out, version: self.version, flexible: self.flexible })?;
        Ok(out.into_bytes())
    }
    /// Ends a struct: its tagged fields, known and unknown, by rising tags.
    pub(crate) fn tags(&mut self, mut known: Vec<(i32, Bytes)>, unknown: &TaggedFields) -> Result<(), Malformed> {
        if !self.flexible {
            return if unknown.is_empty() {
                Ok(())
            } else {
                Err(Malformed::new("tagged fields that this version cannot carry"))
            };
        }
        known.extend(unknown.iter().map(|(tag, value)| (*tag, value.clone())));
        known.sort_by_key(|(tag, _)| *tag);
        self.unsigned_varint(u32::try_from(known.len()).map_err(|_| Malformed::new("too many tagged fields"))?);
        for (tag, value) in known {
            let too_long = |_| Malformed::new("a tagged field of more than 4 GiB");
            self.unsigned_varint(tag.cast_unsigned());
            self.unsigned_varint(u32::try_from(value.len()).map_err(too_long)?);
            self.bytes(&value);
        }
        Ok(())
    }
}
