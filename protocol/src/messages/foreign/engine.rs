//! Writes and reads structs after their shapes, without code for each of them: the tables say what comes when, and a type
//! tells where its fields are.

use super::value::{Layout, Value};
use crate::codec::{BodyWriter, Checked, Malformed};
use crate::guard::Shape;
use crate::guard::shape::{Field, Kind};
use crate::messages::TaggedFields;
use crate::messages::field::{Reader, Writer, refuse};

/// A struct whose fields are reached by their place in its shape.
pub(crate) trait Shaped {
    /// The field; none where the schema has none at any version.
    fn field(&self, index: usize) -> Option<&dyn Value>;
    fn field_mut(&mut self, index: usize) -> Option<&mut dyn Value>;
    /// Whether a field is at its default: only of those that can be left out for it.
    fn is_default(&self, index: usize) -> bool;
    /// Tagged fields that the schema does not know; none of a type that has no place for them.
    fn unknown(&self) -> Option<&TaggedFields>;
    fn unknown_mut(&mut self) -> Option<&mut TaggedFields>;
}

/// Makes a type of `kafka-protocol` a [`Shaped`] one.
macro_rules! shaped {
    ($name:ident { $($index:literal $field:ident)* } defaults { $($place:literal $held:ident = $default:expr;)* } tags { $($tags:ident)? }) => {
        impl $crate::messages::foreign::Shaped for $name {
            fn field(&self, index: usize) -> Option<&dyn $crate::messages::foreign::Value> {
                Some(match index {
                    $($index => &self.$field,)*
                    _ => return None,
                })
            }
            fn field_mut(&mut self, index: usize) -> Option<&mut dyn $crate::messages::foreign::Value> {
                Some(match index {
                    $($index => &mut self.$field,)*
                    _ => return None,
                })
            }
            fn is_default(&self, index: usize) -> bool {
                match index {
                    $($place => $crate::messages::foreign::same(&self.$held, $default),)*
                    _ => false,
                }
            }
            fn unknown(&self) -> Option<&$crate::messages::TaggedFields> {
                let unknown = None;
                $(let unknown = unknown.or(Some(&self.$tags));)?
                unknown
            }
            fn unknown_mut(&mut self) -> Option<&mut $crate::messages::TaggedFields> {
                let unknown = None;
                $(let unknown = unknown.or(Some(&mut self.$tags));)?
                unknown
            }
        }
    };
}
pub(crate) use shaped;

pub(crate) fn same<T: PartialEq>(held: &T, default: T) -> bool {
    *held == default
}

/// Writes a body.
pub(crate) fn write_body(
    body: &dyn Shaped,
    shape: &Shape,
    version: i16,
    out: &mut BodyWriter,
) -> Result<(), Malformed> {
    let flexible = shape.flexible.contains(version);
    write(body, Kind::Struct(shape.fields), &mut Writer { out, version, flexible })
}

/// Reads a body.
pub(crate) fn read_body(body: &mut dyn Shaped, shape: &Shape, version: i16, checked: Checked) -> Result<(), Malformed> {
    let mut rest = checked.into_bytes();
    let (end, flexible) = (rest.len(), shape.flexible.contains(version));
    read(body, Kind::Struct(shape.fields), &mut Reader { rest: &mut rest, end, version, flexible })
}

fn fields_of(kind: Kind) -> Result<&'static [Field], Malformed> {
    match kind {
        Kind::Struct(fields) => Ok(fields),
        _ => Err(Malformed::new("a struct, and none in the schema")),
    }
}

fn layout(field: &Field, version: i16) -> Layout {
    Layout { kind: field.kind, nullable: field.nullable.contains(version) }
}

pub(super) fn write(body: &dyn Shaped, kind: Kind, out: &mut Writer<'_>) -> Result<(), Malformed> {
    let (fields, version) = (fields_of(kind)?, out.version);
    let mut known = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(value) = body.field(index) else { continue };
        if !field.versions.contains(version) {
            if !field.ignorable && !body.is_default(index) {
                return Err(refuse(field.name));
            }
        } else if !field.tagged.contains(version) {
            value.write(layout(field, version), out).map_err(|error| error.in_field(field.name))?;
        } else if !body.is_default(index) {
            let mut apart = BodyWriter::default();
            let mut writer = Writer { out: &mut apart, version, flexible: out.flexible };
            value.write(layout(field, version), &mut writer).map_err(|error| error.in_field(field.name))?;
            known.push((field.tag.cast_signed(), apart.into_bytes()));
        }
    }
    out.tags(known, body.unknown().unwrap_or(&TaggedFields::new()))
}

pub(super) fn read(body: &mut dyn Shaped, kind: Kind, from: &mut Reader<'_>) -> Result<(), Malformed> {
    let (fields, version) = (fields_of(kind)?, from.version);
    for (index, field) in fields.iter().enumerate() {
        if field.versions.contains(version) && !field.tagged.contains(version) {
            let value = body.field_mut(index).ok_or_else(|| Malformed::new("a field that its type does not have"))?;
            value.read(layout(field, version), from).map_err(|error| error.in_field(field.name))?;
        }
    }
    let unknown = from.tags(&mut |tag, from| {
        let wanted = |field: &Field| field.tagged.contains(version) && field.tag.cast_signed() == tag;
        let Some((index, field)) = fields.iter().enumerate().find(|(_, field)| wanted(field)) else { return Ok(false) };
        let value = body.field_mut(index).ok_or_else(|| Malformed::new("a field that its type does not have"))?;
        value.read(layout(field, version), from).map_err(|error| error.in_field(field.name))?;
        Ok(true)
    })?;
    if let Some(place) = body.unknown_mut() {
        *place = unknown;
    }
    Ok(())
}
