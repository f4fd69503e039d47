//! How the fields of our own messages are written and read, and the macro that makes a struct of them.
//!
//! Every length and count is compared with the bytes that are left before anything is reserved for it, so these messages need no guard.

use crate::TopicName;
use crate::codec::{BodyWriter, Malformed};
use crate::guard::KEPT_UNKNOWN_TAGS;
use crate::messages::{RecordData, StrBytes, Uuid};
use bytes::{Buf, BufMut, Bytes};
use std::collections::BTreeMap;

/// As Kafka: no array has more elements.
const MOST_ELEMENTS: usize = 1_000_000;
/// As Kafka: room is made for this many elements ahead of reading them.
const RESERVED_ELEMENTS: usize = 1000;
/// As Kafka: no struct has more fields that are unknown.
const MOST_TAGGED_FIELDS: u32 = 10_000;
/// A chunk of records shorter than this is copied, since a segment of its own costs more.
const LEAST_SHARED: usize = 256;

/// Tagged fields that this version of the schema does not know, by tag; they are written again as they were read. Of
/// many in one message the later ones are dropped when it is read: nobody reads them, and each costs a map node.
pub type TaggedFields = BTreeMap<i32, Bytes>;

/// Where a message is written to.
pub(crate) struct Writer<'a> {
    pub(crate) out: &'a mut BodyWriter,
    pub(crate) version: i16,
    pub(crate) flexible: bool,
}

impl Writer<'_> {
    fn unsigned_varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.out.buffer().put_u8((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.out.buffer().put_u8(value as u8);
    }
    /// A count of elements or bytes; none is null.
    fn count(&mut self, count: Option<usize>) -> Result<(), Malformed> {
        let count =
            count.map(i32::try_from).transpose().map_err(|_| Malformed::new("more than 2³¹−1 elements or bytes"))?;
        if self.flexible {
            self.unsigned_varint(count.map_or(0, |count| count.cast_unsigned() + 1));
        } else {
            self.out.buffer().put_i32(count.unwrap_or(-1));
        }
        Ok(())
    }
    fn text(&mut self, text: Option<&str>) -> Result<(), Malformed> {
        let bytes = text.map(str::as_bytes);
        let too_long = Malformed::new("a text of more than 32767 bytes");
        let length = bytes.map(|bytes| i16::try_from(bytes.len())).transpose().map_err(|_| too_long)?;
        if self.flexible {
            self.count(bytes.map(<[u8]>::len))?;
        } else {
            self.out.buffer().put_i16(length.unwrap_or(-1));
        }
        self.out.buffer().put_slice(bytes.unwrap_or_default());
        Ok(())
    }
    /// Writes what belongs to a tag, apart, since its size comes before it.
    pub(crate) fn tagged<T: Field>(&self, value: &T) -> Result<Bytes, Malformed> {
        let mut out = BodyWriter::default();
        value.write(&mut Writer { out: &mut out, version: self.version, flexible: self.flexible })?;
        Ok(out.buffer().split().freeze())
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
            self.unsigned_varint(tag.cast_unsigned());
            self.unsigned_varint(
                u32::try_from(value.len()).map_err(|_| Malformed::new("a tagged field of more than 4 GiB"))?,
            );
            self.out.buffer().put_slice(&value);
        }
        Ok(())
    }
}

/// What is left of a message that is read.
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a mut Bytes,
    /// Where the message ends, counted from the body's start.
    pub(crate) end: usize,
    pub(crate) version: i16,
    pub(crate) flexible: bool,
    /// Unknown tagged fields kept so far, in the whole message.
    pub(crate) kept_tags: usize,
}

impl Reader<'_> {
    fn malformed(&self, reason: impl Into<std::borrow::Cow<'static, str>>) -> Malformed {
        Malformed::new(reason).at_offset(self.end - self.rest.len())
    }
    fn take(&mut self, length: usize) -> Result<Bytes, Malformed> {
        let left = self.rest.len();
        if length > left {
            return Err(self.malformed(format!("{length} bytes are needed here and {left} are left")));
        }
        Ok(self.rest.split_to(length))
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
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
    fn count(&mut self) -> Result<Option<usize>, Malformed> {
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
    fn text(&mut self) -> Result<Option<StrBytes>, Malformed> {
        let count = if self.flexible { self.count()? } else { self.nullable_short()? };
        let Some(length) = count else { return Ok(None) };
        let bytes = self.take(length)?;
        StrBytes::from_utf8(bytes).map(Some).map_err(|_| self.malformed("a text that is not UTF-8"))
    }
    fn nullable_short(&mut self) -> Result<Option<usize>, Malformed> {
        let length = i32::from(i16::from_be_bytes(self.array()?));
        self.held(length)
    }
    fn null<T>(&self) -> Result<T, Malformed> {
        Err(self.malformed("null, which this field cannot be"))
    }
    /// Ends a struct: hands each tagged field to `known`, which takes it or leaves it for the unknown ones.
    pub(crate) fn tags(
        &mut self,
        mut known: impl FnMut(i32, &mut Reader<'_>) -> Result<bool, Malformed>,
    ) -> Result<TaggedFields, Malformed> {
        let mut unknown = TaggedFields::new();
        if !self.flexible {
            return Ok(unknown);
        }
        let count = self.unsigned_varint()?;
        if count > MOST_TAGGED_FIELDS {
            return Err(self.malformed(format!("{count} tagged fields; the limit is {MOST_TAGGED_FIELDS}")));
        }
        for _ in 0..count {
            let tag = self.unsigned_varint()?;
            let tag = i32::try_from(tag).map_err(|_| self.malformed(format!("tag {tag}")))?;
            let size = self.unsigned_varint()?;
            let mut value = self.take(usize::try_from(size).unwrap_or(usize::MAX))?;
            let whole = value.clone();
            let (end, version, kept_tags) = (self.end - self.rest.len(), self.version, self.kept_tags);
            let mut reader = Reader { rest: &mut value, end, version, flexible: true, kept_tags };
            let is_known = known(tag, &mut reader)?;
            self.kept_tags = reader.kept_tags;
            if !is_known {
                if self.kept_tags < KEPT_UNKNOWN_TAGS {
                    self.kept_tags += 1;
                    unknown.insert(tag, whole);
                }
            } else if !value.is_empty() {
                return Err(self.malformed(format!("tagged field {tag} is longer than what it holds")));
            }
        }
        Ok(unknown)
    }
}

/// Something that a message carries.
pub(crate) trait Field: Sized {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed>;
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
                out.out.buffer().put_slice(&self.to_be_bytes());
                Ok(())
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                from.array().map(Self::from_be_bytes)
            }
        }
    )*};
}
numbers!(i8 i16 u16 i32 i64);

impl Field for bool {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.out.buffer().put_u8(u8::from(*self));
        Ok(())
    }
    /// As Kafka: whatever is not 0 is true.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array::<1>().map(|[byte]| byte != 0)
    }
}

impl Field for Uuid {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.out.buffer().put_slice(self.as_bytes());
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array().map(Self::from_bytes)
    }
}
impl Field for StrBytes {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.text(Some(self))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.text()?.map_or_else(|| from.null(), Ok)
    }
}
impl Field for Option<StrBytes> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.text(self.as_deref())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.text()
    }
}
impl Field for TopicName {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.text(Some(self.as_str()))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        StrBytes::read(from).map(|name| Self::from(name.as_str()))
    }
}
impl Field for Bytes {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(Some(self.len()))?;
        out.out.buffer().put_slice(self);
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Option::<Self>::read(from)?.map_or_else(|| from.null(), Ok)
    }
}
impl Field for Option<Bytes> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(self.as_ref().map(Bytes::len))?;
        out.out.buffer().put_slice(self.as_deref().unwrap_or_default());
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.count()?.map(|length| from.take(length)).transpose()
    }
}
impl Field for RecordData {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count((!self.is_null()).then(|| self.len()))?;
        for chunk in self.chunks() {
            if chunk.len() < LEAST_SHARED { out.out.buffer().put_slice(chunk) } else { out.out.share(chunk.clone()) }
        }
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let Some(length) = from.count()? else { return Ok(Self::NULL) };
        from.take(length).map(Self::from)
    }
}
impl<T: Field> Field for Vec<T> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(Some(self.len()))?;
        write_elements(self, out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let Some(count) = from.count()? else { return from.null() };
        read_elements(count, from)
    }
}
impl<T: Field> Field for Option<Vec<T>> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(self.as_ref().map(Vec::len))?;
        write_elements(self.as_deref().unwrap_or_default(), out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.count()?.map(|count| read_elements(count, from)).transpose()
    }
}

/// What [`wire_struct`] makes.
pub(crate) trait Struct: Field {}

/// A struct that may be null has a mark before it: 1, or −1 for null.
impl<T: Struct> Field for Option<T> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        let mark: i8 = if self.is_some() { 1 } else { -1 };
        mark.write(out)?;
        self.as_ref().map_or(Ok(()), |held| held.write(out))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match i8::read(from)? {
            -1 => Ok(None),
            1 => T::read(from).map(Some),
            mark => Err(from.malformed(format!("a struct marked {mark}, neither 1 nor -1"))),
        }
    }
}

fn write_elements<T: Field>(elements: &[T], out: &mut Writer<'_>) -> Result<(), Malformed> {
    elements
        .iter()
        .enumerate()
        .try_for_each(|(index, element)| element.write(out).map_err(|error| error.in_element(index)))
}
fn read_elements<T: Field>(count: usize, from: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
    if count > MOST_ELEMENTS {
        return Err(from.malformed(format!("an array of {count} elements; the limit is {MOST_ELEMENTS}")));
    }
    let mut elements = Vec::with_capacity(count.min(RESERVED_ELEMENTS));
    for index in 0..count {
        elements.push(T::read(from).map_err(|error| error.in_element(index))?);
    }
    Ok(elements)
}

/// What becomes of a value that a version has no field for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It is left out: the schema's `ignorable`.
    Ignored,
    /// The message cannot be written, unless the value is the default.
    Refused,
}

/// Makes a struct of a schema: its fields in order, each with default, versions and what becomes of it in others; then its tagged ones.
macro_rules! wire_struct {
    (
        $(#[$doc:meta])*
        struct $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr, $versions:expr, $absent:ident;)*
            $(@ $tag:literal $(#[$tag_doc:meta])* $tag_field:ident: $tag_type:ty = $tag_default:expr, $tag_versions:expr, $tag_absent:ident;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_structs, reason = "the schema's own shape, to be written as a literal")]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            $($(#[$tag_doc])* pub $tag_field: $tag_type,)*
            /// Tagged fields that the schema does not know.
            pub unknown_tagged_fields: $crate::messages::TaggedFields,
        }
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($tag_field: $tag_default,)* unknown_tagged_fields: $crate::messages::TaggedFields::new() }
            }
        }
        impl $crate::messages::field::Struct for $name {}
        impl $crate::messages::field::Field for $name {
            #[allow(unused_mut, reason = "structs without tagged fields fill no list")]
            fn write(&self, out: &mut $crate::messages::field::Writer<'_>) -> Result<(), $crate::codec::Malformed> {
                use $crate::messages::field::{Absent, refuse};
                $(if ($versions).contains(&out.version) {
                    $crate::messages::field::Field::write(&self.$field, out).map_err(|error| error.in_field(stringify!($field)))?;
                } else if Absent::$absent == Absent::Refused {
                    let default: $type = $default;
                    if self.$field != default {
                        return Err(refuse(stringify!($field)));
                    }
                })*
                let mut known = Vec::new();
                $(if self.$tag_field != $tag_default {
                    if ($tag_versions).contains(&out.version) {
                        known.push(($tag, out.tagged(&self.$tag_field).map_err(|error| error.in_field(stringify!($tag_field)))?));
                    } else if Absent::$tag_absent == Absent::Refused {
                        return Err(refuse(stringify!($tag_field)));
                    }
                })*
                out.tags(known, &self.unknown_tagged_fields)
            }
            #[allow(unused_variables, reason = "structs without tagged fields know no tag")]
            fn read(from: &mut $crate::messages::field::Reader<'_>) -> Result<Self, $crate::codec::Malformed> {
                let mut read = Self::default();
                $(if ($versions).contains(&from.version) {
                    read.$field = $crate::messages::field::Field::read(from).map_err(|error| error.in_field(stringify!($field)))?;
                })*
                read.unknown_tagged_fields = from.tags(|tag, from| match tag {
                    $($tag if ($tag_versions).contains(&from.version) => {
                        read.$tag_field = $crate::messages::field::Field::read(from).map_err(|error| error.in_field(stringify!($tag_field)))?;
                        Ok(true)
                    })*
                    _ => Ok(false),
                })?;
                Ok(read)
            }
        }
    };
}
/// Makes a struct of [`wire_struct`] a message's body.
macro_rules! wire_body {
    ($name:ident, $versions:expr, flexible from $flexible:literal) => {
        impl $crate::codec::Body for $name {
            const CHECKS_BOUNDS: bool = true;

            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                $crate::messages::field::check_version(version, $versions)?;
                let mut writer = $crate::messages::field::Writer { out, version, flexible: version >= $flexible };
                $crate::messages::field::Field::write(self, &mut writer)
            }
            fn read(version: i16, body: &mut $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                $crate::messages::field::check_version(version, $versions)?;
                let rest = body.bytes();
                let end = rest.len();
                $crate::messages::field::Field::read(&mut $crate::messages::field::Reader {
                    rest,
                    end,
                    version,
                    flexible: version >= $flexible,
                    kept_tags: 0,
                })
            }
        }
    };
}
pub(crate) use {wire_body, wire_struct};

pub(crate) fn check_version(version: i16, versions: std::ops::RangeInclusive<i16>) -> Result<(), Malformed> {
    if versions.contains(&version) {
        return Ok(());
    }
    Err(Malformed::new(format!("version {version} is none of {} to {}", versions.start(), versions.end())))
}
#[cold]
pub(crate) fn refuse(field: &str) -> Malformed {
    Malformed::new("this version has no such field, and it is not at its default").in_field(field)
}
