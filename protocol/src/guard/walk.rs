//! Goes over a body after its shape, and tells what it meets.

use super::cost;
use super::limits::check_text;
use super::shape::{Field, Kind, Shape};
use super::{Limits, Walker};
use crate::codec::Malformed;
use std::ops::Range;

/// One value on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Uuid(&'a [u8]),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// Record batches.
    Records(&'a [u8]),
}

/// Whoever wants to see what the walk meets. All moves do nothing unless written anew.
pub(crate) trait Visit<'a> {
    /// Whether single values are wanted; if not, whole runs of them are stepped over at once.
    const VALUES: bool = false;

    /// A field begins at this byte; its value follows.
    fn field(&mut self, _name: &'static str, _at: usize) {}
    /// An element of an array begins at this byte; its value follows.
    fn element(&mut self, _at: usize) {}
    /// A struct begins; its fields follow.
    fn open_struct(&mut self) {}
    /// A struct ends.
    fn close_struct(&mut self) {}
    /// An array begins; its elements follow.
    fn open_array(&mut self, _count: usize) {}
    /// An array ends.
    fn close_array(&mut self) {}
    /// A value.
    fn value(&mut self, _value: Value<'a>) -> Result<(), Malformed> {
        Ok(())
    }
    /// Tagged fields begin, this many; their count stands at these bytes.
    fn open_tags(&mut self, _count: u32, _at: Range<usize>) {}
    /// A tagged field that the shape knows; its number and size stand at these bytes, its field follows.
    fn tag(&mut self, _tag: u32, _size: usize, _at: Range<usize>) {}
    /// A struct that could be null is there: so says the byte here.
    fn present(&mut self, _at: usize) {}
    /// Tagged fields end.
    fn close_tags(&mut self) {}
    /// A tagged field that the shape does not know, at these bytes.
    fn unknown_tag(&mut self, _tag: u32, _content: &'a [u8], _at: Range<usize>) {}
}

/// What a walk came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Bytes of the body; what follows was not looked at.
    pub(crate) length: usize,
    /// Tagged fields that the shape does not know.
    pub(crate) unknown_tags: usize,
    /// Bytes that decoding allocates at most, without those fields.
    pub(crate) memory: usize,
}

/// Walks over the body at the front of `bytes`.
///
/// # Errors
///
/// When the bytes are no such message, or over the limits.
pub(crate) fn walk<'a, V: Visit<'a>>(
    shape: &Shape,
    version: i16,
    bytes: &'a [u8],
    limits: &Limits,
    visit: &mut V,
) -> Result<Walked, Malformed> {
    if !shape.versions.contains(version) {
        let (first, last) = (shape.versions.0, shape.versions.1);
        return Err(Malformed::new(format!("there is no such version, only {first} to {last}")));
    }
    let flexible = shape.flexible.contains(version);
    let (at, counts) = (Walker::new(bytes), Counts { memory: cost::MESSAGE, ..Counts::default() });
    let mut walk = Walk { at, version, flexible, copies_text: cost::copies_text(shape.name), limits, counts, visit };
    walk.fields(shape.fields)?;
    let Counts { unknown_tags, memory, .. } = walk.counts;
    Ok(Walked { length: walk.at.position(), unknown_tags, memory })
}

struct Walk<'a, 'v, V> {
    at: Walker<'a>,
    version: i16,
    flexible: bool,
    /// Whether the decoder copies text, in place of looking at it in the frame.
    copies_text: bool,
    limits: &'v Limits,
    counts: Counts,
    visit: &'v mut V,
}

/// What was met so far.
#[derive(Default)]
struct Counts {
    /// Structs and arrays around this place.
    depth: usize,
    /// Elements of arrays, those of a fixed size left out.
    elements: usize,
    unknown_tags: usize,
    /// Bytes that decoding allocates.
    memory: usize,
}

impl<'a, V: Visit<'a>> Walk<'a, '_, V> {
    fn fields(&mut self, fields: &'static [Field]) -> Result<(), Malformed> {
        self.descend()?;
        self.visit.open_struct();
        let version = self.version;
        for field in fields {
            if field.versions.contains(version) && !field.tagged.contains(version) {
                self.field(field)?;
            }
        }
        if self.flexible {
            self.tagged_fields(fields)?;
        }
        self.visit.close_struct();
        self.counts.depth -= 1;
        Ok(())
    }

    fn descend(&mut self) -> Result<(), Malformed> {
        self.counts.depth += 1;
        if self.counts.depth > self.limits.depth {
            let reason = format!("more than {} structs and arrays within one another", self.limits.depth);
            return Err(Malformed::new(reason).at_offset(self.at.position()));
        }
        Ok(())
    }

    fn field(&mut self, field: &Field) -> Result<(), Malformed> {
        self.visit.field(field.name, self.at.position());
        let nullable = field.nullable.contains(self.version);
        self.value(field.kind, nullable).map_err(|malformed| malformed.in_field(field.name))
    }

    fn tagged_fields(&mut self, fields: &'static [Field]) -> Result<(), Malformed> {
        let start = self.at.position();
        let count = self.at.tagged_count(self.limits)?;
        self.visit.open_tags(count, start..self.at.position());
        for _ in 0..count {
            let start = self.at.position();
            let (tag, size) = self.at.tag()?;
            let version = self.version;
            let known = fields.iter().find(|field| field.tagged.contains(version) && field.tag == tag);
            match known {
                Some(field) => {
                    self.visit.tag(tag, size, start..self.at.position());
                    self.tagged_field(field, size)?;
                }
                None => {
                    let content = self.at.take(size)?;
                    self.counts.unknown_tags += 1;
                    self.visit.unknown_tag(tag, content, start..self.at.position());
                }
            }
        }
        self.visit.close_tags();
        Ok(())
    }

    fn tagged_field(&mut self, field: &Field, size: usize) -> Result<(), Malformed> {
        let start = self.at.position();
        self.field(field)?;
        let held = self.at.position() - start;
        if held != size {
            let reason = format!("a tagged field of {size} bytes holds {held}");
            return Err(Malformed::new(reason).at_offset(start).in_field(field.name));
        }
        Ok(())
    }

    fn value(&mut self, kind: Kind, nullable: bool) -> Result<(), Malformed> {
        match kind {
            Kind::Struct(fields) if nullable => self.nullable_struct(fields),
            Kind::Struct(fields) => self.fields(fields),
            Kind::Array(element) => self.array(*element, nullable),
            Kind::String | Kind::ClassicString | Kind::Bytes | Kind::Records => self.sized(kind, nullable),
            _ => self.fixed(kind),
        }
    }

    /// Kafka writes −1 and 1 only. It reads whatever is not negative as 1; what else it may be is refused, since a decoder
    /// must not go where the guard did not.
    fn nullable_struct(&mut self, fields: &'static [Field]) -> Result<(), Malformed> {
        let at = self.at.position();
        match self.at.int8()? {
            1 => {
                self.visit.present(at);
                self.fields(fields)
            }
            -1 => self.visit.value(Value::Null),
            mark => Err(Malformed::new(format!("a struct marked {mark}, neither 1 nor -1")).at_offset(at)),
        }
    }

    fn array(&mut self, element: Kind, nullable: bool) -> Result<(), Malformed> {
        let start = self.at.position();
        let count = if self.flexible { self.at.compact_length()? } else { self.at.length32()? };
        let Some(count) = count else { return self.null(nullable, start) };
        self.check_count(count, element, start)?;
        self.counts.memory = self.counts.memory.saturating_add(count.saturating_mul(cost::size_in_memory(element)));
        self.descend()?;
        self.visit.open_array(count);
        match element.fixed_size() {
            Some(size) if !V::VALUES => drop(self.at.take(count.saturating_mul(size))?),
            _ => self.elements(count, element)?,
        }
        self.visit.close_array();
        self.counts.depth -= 1;
        Ok(())
    }

    fn elements(&mut self, count: usize, element: Kind) -> Result<(), Malformed> {
        for index in 0..count {
            self.visit.element(self.at.position());
            self.value(element, false).map_err(|malformed| malformed.in_element(index))?;
        }
        Ok(())
    }

    /// An element has at least one byte, so that more of them than bytes cannot be.
    fn check_count(&mut self, count: usize, element: Kind, at: usize) -> Result<(), Malformed> {
        let room = self.at.left() / element.fixed_size().unwrap_or(1);
        if count > room {
            let reason = format!("{count} elements, and room for {room} at most in the bytes left");
            return Err(Malformed::new(reason).at_offset(at));
        }
        if element.fixed_size().is_none() {
            self.counts.elements += count;
        }
        let Limits { array_elements, elements, .. } = *self.limits;
        if count > array_elements || self.counts.elements > elements {
            let reason =
                format!("{count} elements; the limit is {array_elements}, and {elements} in all arrays together");
            return Err(Malformed::new(reason).at_offset(at));
        }
        Ok(())
    }

    /// Text or bytes.
    fn sized(&mut self, kind: Kind, nullable: bool) -> Result<(), Malformed> {
        let start = self.at.position();
        let length = match (kind, self.flexible) {
            (Kind::ClassicString, _) | (Kind::String, false) => self.at.length16()?,
            (_, false) => self.at.length32()?,
            (_, true) => self.at.compact_length()?,
        };
        let Some(length) = length else { return self.null(nullable, start) };
        if matches!(kind, Kind::String | Kind::ClassicString) {
            self.text_of(length, start)?;
        }
        let content = self.at.take(length)?;
        let value = match kind {
            Kind::String | Kind::ClassicString => Value::Text(content),
            Kind::Records => Value::Records(content),
            _ => Value::Bytes(content),
        };
        self.visit.value(value).map_err(|malformed| malformed.at_offset(start))
    }

    /// A text may be so long, and may take memory.
    fn text_of(&mut self, length: usize, start: usize) -> Result<(), Malformed> {
        check_text(length).map_err(|malformed| malformed.at_offset(start))?;
        if self.copies_text {
            self.counts.memory = self.counts.memory.saturating_add(cost::copied_text(length));
        }
        Ok(())
    }

    fn fixed(&mut self, kind: Kind) -> Result<(), Malformed> {
        let content = self.at.take(kind.fixed_size().unwrap_or_default())?;
        if V::VALUES { self.visit.value(fixed_value(kind, content)) } else { Ok(()) }
    }

    fn null(&mut self, nullable: bool, at: usize) -> Result<(), Malformed> {
        if !nullable {
            return Err(Malformed::new("null, which this field cannot be").at_offset(at));
        }
        self.visit.value(Value::Null)
    }
}

fn fixed_value(kind: Kind, content: &[u8]) -> Value<'_> {
    let unsigned = content.iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    match kind {
        Kind::Bool => Value::Bool(unsigned != 0),
        Kind::Float64 => Value::Float(f64::from_bits(unsigned)),
        Kind::Uuid => Value::Uuid(content),
        Kind::Uint16 => Value::Int(unsigned.cast_signed()),
        // Moved to the top and back, so that its sign spreads.
        _ => {
            let unused = 64 - 8 * content.len();
            Value::Int((unsigned << unused).cast_signed() >> unused)
        }
    }
}
