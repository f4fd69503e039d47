//! How the fields of our own messages are written and read, and the macros that make messages of them.

mod reader;
mod structs;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use structs::{Absent, check_null, refuse, setters, wire_body, wire_struct};
pub(crate) use writer::Writer;

use crate::TopicName;
use crate::codec::{BodyWriter, Checked, Malformed};
use crate::messages::{self, RecordData, StrBytes, Uuid};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A chunk of records shorter than this is copied, since a segment of its own costs more.
const LEAST_SHARED: usize = 256;

/// Tagged fields that this version of the schema does not know, by tag; they are written again as they were read.
pub type TaggedFields = BTreeMap<i32, Bytes>;

/// Something that a message carries.
pub(crate) trait Field: Sized {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed>;
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
                out.bytes(&self.to_be_bytes());
                Ok(())
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                from.array().map(Self::from_be_bytes)
            }
        }
    )*};
}
numbers!(i8 i16 u16 i32 i64 f64);

impl Field for bool {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.bytes(&[u8::from(*self)]);
        Ok(())
    }
    /// As Kafka: whatever is not 0 is true.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array::<1>().map(|[byte]| byte != 0)
    }
}

impl Field for Uuid {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.bytes(self.as_bytes());
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
/// Newtypes of `kafka-protocol` around a text or a number, and whether they have a null.
macro_rules! newtypes {
    ($($name:ident of $inner:ident $($nullable:ident)?;)*) => {$(
        impl Field for messages::$name {
            fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
                self.0.write(out)
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                $inner::read(from).map(Self)
            }
        }
        $(newtypes!(@$nullable $name);)?
    )*};
    (@nullable $name:ident) => {
        impl Field for Option<messages::$name> {
            fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
                out.text(self.as_ref().map(|name| name.as_str()))
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                Ok(from.text()?.map(messages::$name))
            }
        }
    };
}
newtypes! {
    BrokerId of i32;
    ProducerId of i64;
    GroupId of StrBytes nullable;
    TopicName of StrBytes nullable;
    TransactionalId of StrBytes nullable;
}

/// Ours, of the messages that are written by hand.
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
        out.bytes(self);
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Option::<Self>::read(from)?.map_or_else(|| from.null(), Ok)
    }
}
impl Field for Option<Bytes> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(self.as_ref().map(Bytes::len))?;
        out.bytes(self.as_deref().unwrap_or_default());
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
            if chunk.len() < LEAST_SHARED { out.bytes(chunk) } else { out.out.share(chunk.clone()) }
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
/// Room is made for all elements at once: the guard has found them to be there, and counted what they cost.
fn read_elements<T: Field>(count: usize, from: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
    let mut elements = Vec::with_capacity(count);
    for index in 0..count {
        elements.push(T::read(from).map_err(|error| error.in_element(index))?);
    }
    Ok(elements)
}

/// Writes a body at one of its versions.
pub(crate) fn write_body<T: Field>(
    body: &T,
    version: i16,
    versions: RangeInclusive<i16>,
    first_flexible: i16,
    out: &mut BodyWriter,
) -> Result<(), Malformed> {
    check_version(version, versions)?;
    body.write(&mut Writer { out, version, flexible: version >= first_flexible })
}

/// Reads a body at one of its versions.
pub(crate) fn read_body<T: Field>(
    version: i16,
    versions: RangeInclusive<i16>,
    first_flexible: i16,
    body: Checked,
) -> Result<T, Malformed> {
    check_version(version, versions)?;
    let mut rest = body.into_bytes();
    let end = rest.len();
    T::read(&mut Reader { rest: &mut rest, end, version, flexible: version >= first_flexible })
}

fn check_version(version: i16, versions: RangeInclusive<i16>) -> Result<(), Malformed> {
    if versions.contains(&version) {
        return Ok(());
    }
    Err(Malformed::new(format!("version {version} is none of {} to {}", versions.start(), versions.end())))
}
