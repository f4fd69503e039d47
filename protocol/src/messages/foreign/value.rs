//! How values of every type are written and read after the shape of their field.

use super::engine::{self, Shaped};
use crate::codec::Malformed;
use crate::guard::shape::Kind;
use crate::messages::field::{Field, Reader, Writer};
use crate::messages::{BrokerId, GroupId, ProducerId, StrBytes, TopicName, TransactionalId, Uuid};
use bytes::Bytes;

/// What a shape says of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(super) kind: Kind,
    pub(super) nullable: bool,
}

impl Layout {
    /// Of an array's elements, which are never null.
    fn element(self) -> Result<Self, Malformed> {
        match self.kind {
            Kind::Array(element) => Ok(Self { kind: *element, nullable: false }),
            _ => Err(Malformed::new("an array, and no array in the schema")),
        }
    }
    fn check_null(self, is_null: bool) -> Result<(), Malformed> {
        if is_null && !self.nullable { Err(Malformed::new("null, which this version cannot carry")) } else { Ok(()) }
    }
}

/// A value in a message.
pub(crate) trait Value {
    fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed>;
    fn read(&mut self, layout: Layout, from: &mut Reader<'_>) -> Result<(), Malformed>;
}

/// Types whose form no shape decides.
macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn write(&self, _: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
                Field::write(self, out)
            }
            fn read(&mut self, _: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
                *self = Field::read(from)?;
                Ok(())
            }
        }
    )*};
}
plain!(bool i8 i16 u16 i32 i64 f64 Uuid StrBytes Bytes BrokerId ProducerId GroupId TopicName TransactionalId);

macro_rules! nullable {
    ($($type:ty)*) => {$(
        impl Value for Option<$type> {
            fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
                layout.check_null(self.is_none())?;
                Field::write(self, out)
            }
            fn read(&mut self, _: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
                *self = Field::read(from)?;
                Ok(())
            }
        }
    )*};
}
nullable!(StrBytes Bytes GroupId TopicName TransactionalId);

impl<T: Value + Default> Value for Vec<T> {
    fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
        out.count(Some(self.len()))?;
        write_elements(self, layout.element()?, out)
    }
    fn read(&mut self, layout: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let Some(count) = from.count()? else { return from.null() };
        *self = read_elements(count, layout.element()?, from)?;
        Ok(())
    }
}
impl<T: Value + Default> Value for Option<Vec<T>> {
    fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
        layout.check_null(self.is_none())?;
        out.count(self.as_ref().map(Vec::len))?;
        write_elements(self.as_deref().unwrap_or_default(), layout.element()?, out)
    }
    fn read(&mut self, layout: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let element = layout.element()?;
        *self = from.count()?.map(|count| read_elements(count, element, from)).transpose()?;
        Ok(())
    }
}

fn write_elements<T: Value>(elements: &[T], layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
    for (index, element) in elements.iter().enumerate() {
        element.write(layout, out).map_err(|error| error.in_element(index))?;
    }
    Ok(())
}

/// Room is made for all elements at once: the guard has found them to be there, and counted what they cost.
fn read_elements<T: Value + Default>(count: usize, layout: Layout, from: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
    let mut elements = Vec::with_capacity(count);
    for index in 0..count {
        let mut element = T::default();
        element.read(layout, from).map_err(|error| error.in_element(index))?;
        elements.push(element);
    }
    Ok(elements)
}

impl<T: Shaped> Value for T {
    fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
        engine::write(self, layout.kind, out)
    }
    fn read(&mut self, layout: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
        engine::read(self, layout.kind, from)
    }
}
/// A struct that may be null has a mark before it: 1, or −1 for null.
impl<T: Shaped + Default> Value for Option<T> {
    fn write(&self, layout: Layout, out: &mut Writer<'_>) -> Result<(), Malformed> {
        layout.check_null(self.is_none())?;
        if layout.nullable {
            out.bytes(&(if self.is_some() { 1_i8 } else { -1 }).to_be_bytes());
        }
        self.as_ref().map_or(Ok(()), |held| engine::write(held, layout.kind, out))
    }
    fn read(&mut self, layout: Layout, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let mark = if layout.nullable { <i8 as Field>::read(from)? } else { 1 };
        *self = (mark == 1).then(T::default);
        self.as_mut().map_or(Ok(()), |held| engine::read(held, layout.kind, from))
    }
}
