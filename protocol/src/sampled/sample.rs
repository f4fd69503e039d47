//! Writes a random body after a shape.

use crate::guard::Shape;
use crate::guard::shape::{Field, Kind};
use bytes::{BufMut, Bytes, BytesMut};

/// xorshift64*: enough for this, and the same everywhere.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let drawn = self.next() >> 16;
        usize::try_from(drawn % u64::try_from(bound.max(1)).expect("a size")).expect("below a size")
    }
    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// What kind of a body is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Nulls, empties, extremes, short arrays, known tagged fields, and unknown ones if said so.
    Varied { unknown_tags: bool },
    /// As many and as small elements as can be: what takes the most memory for its bytes.
    Tiny { elements: usize, unknown_tags: usize },
}

/// A random body.
pub(super) fn body(shape: &Shape, version: i16, manner: Manner, chance: &mut Chance) -> Bytes {
    let flexible = shape.flexible.contains(version);
    let mut sample = Sample { version, flexible, manner, chance, out: BytesMut::new() };
    sample.fields(shape.fields);
    sample.out.freeze()
}

struct Sample<'a> {
    version: i16,
    flexible: bool,
    manner: Manner,
    chance: &'a mut Chance,
    out: BytesMut,
}

impl Sample<'_> {
    fn fields(&mut self, fields: &[Field]) {
        let version = self.version;
        let present = |field: &&Field| field.versions.contains(version);
        for field in fields.iter().filter(present).filter(|field| !field.tagged.contains(version)) {
            self.value(field.kind, field.nullable.contains(version));
        }
        if self.flexible {
            let tagged = |field: &&Field| field.tagged.contains(version);
            self.tags(fields.iter().filter(present).filter(tagged).collect());
        }
    }

    fn tags(&mut self, mut known: Vec<&Field>) {
        known.retain(|_| matches!(self.manner, Manner::Varied { .. }) && !self.chance.one_in(3));
        known.sort_by_key(|field| field.tag);
        let mut fields: Vec<(u32, Bytes)> = known
            .into_iter()
            .map(|field| {
                let outer = std::mem::take(&mut self.out);
                self.value(field.kind, field.nullable.contains(self.version));
                (field.tag, std::mem::replace(&mut self.out, outer).freeze())
            })
            .collect();
        let unknown = match self.manner {
            Manner::Varied { unknown_tags } => usize::from(unknown_tags) * self.chance.below(3),
            Manner::Tiny { unknown_tags, .. } => unknown_tags,
        };
        let length = if matches!(self.manner, Manner::Tiny { .. }) { 0 } else { self.chance.below(20) };
        fields.extend((100..).take(unknown).map(|tag| (tag, Bytes::from(vec![0xa5; length]))));
        self.varint(fields.len());
        for (tag, content) in fields {
            self.varint(usize::try_from(tag).expect("small"));
            self.varint(content.len());
            self.out.put_slice(&content);
        }
    }

    fn value(&mut self, kind: Kind, nullable: bool) {
        match kind {
            Kind::Struct(_) if nullable && self.is_null() => self.out.put_i8(-1),
            Kind::Struct(fields) => {
                if nullable {
                    self.out.put_i8(1);
                }
                self.fields(fields);
            }
            Kind::Array(element) => self.array(*element, nullable),
            Kind::String | Kind::ClassicString => {
                let text = self.text();
                self.sized(kind, nullable, text.as_bytes());
            }
            Kind::Bytes | Kind::Records => {
                let bytes: Vec<u8> = (0..self.length()).map(|_| self.chance.next().to_be_bytes()[0]).collect();
                self.sized(kind, nullable, &bytes);
            }
            Kind::Bool => self.out.put_u8(u8::from(self.chance.one_in(2))),
            Kind::Float64 => {
                let floats = [0.0, -1.5, f64::MAX, f64::MIN_POSITIVE, 1e-300];
                self.out.put_f64(floats[self.chance.below(floats.len())]);
            }
            Kind::Uuid => {
                self.out.put_u128(if self.chance.one_in(3) { 0 } else { u128::from(self.chance.next()) << 40 })
            }
            Kind::Int8 | Kind::Int16 | Kind::Uint16 | Kind::Int32 | Kind::Int64 => {
                let number = self.number().to_be_bytes();
                self.out.put_slice(&number[8 - kind.fixed_size().expect("a number")..]);
            }
        }
    }

    /// All bits random, or few, or none, or an extreme of some width.
    fn number(&mut self) -> i64 {
        match self.chance.below(6) {
            0 => 0,
            1 => -1,
            2 => i64::MAX >> (16 * self.chance.below(4)),
            3 => i64::MIN >> (16 * self.chance.below(4)),
            4 => (self.chance.next() % 1000).cast_signed(),
            _ => self.chance.next().cast_signed(),
        }
    }

    fn is_null(&mut self) -> bool {
        matches!(self.manner, Manner::Varied { .. }) && self.chance.one_in(4)
    }

    fn array(&mut self, element: Kind, nullable: bool) {
        if nullable && self.is_null() {
            return self.count(None);
        }
        let count = match self.manner {
            Manner::Varied { .. } if self.chance.one_in(40) && element.fixed_size().is_some() => 130,
            Manner::Varied { .. } => self.chance.below(4),
            Manner::Tiny { elements, .. } => self.chance.below(elements + 1),
        };
        self.count(Some(count));
        // What is inside of many is small.
        let outer = self.manner;
        if let Manner::Tiny { elements, unknown_tags } = outer {
            let divided = |number: usize| number / count.max(1);
            self.manner = Manner::Tiny { elements: divided(elements), unknown_tags: divided(unknown_tags) };
        }
        (0..count).for_each(|_| self.value(element, false));
        self.manner = outer;
    }

    fn length(&mut self) -> usize {
        match self.manner {
            Manner::Tiny { .. } => 0,
            Manner::Varied { .. } => [0, 1, 7, 20, 126, 127, 128, 300][self.chance.below(8)],
        }
    }

    fn text(&mut self) -> String {
        let length = self.length().min(self.chance.below(200));
        let letters = ['a', 'Z', '0', '-', '"', '\\', '\n', 'é', 'ß', '€', '漢', '🦀'];
        let plain = self.chance.one_in(2);
        let letter = |chance: &mut Chance| letters[chance.below(if plain { 4 } else { letters.len() })];
        (0..length).map(|_| letter(self.chance)).collect()
    }

    fn sized(&mut self, kind: Kind, nullable: bool, content: &[u8]) {
        let content = (!(nullable && self.is_null())).then_some(content);
        let length = content.map(<[u8]>::len);
        let short = matches!(kind, Kind::ClassicString) || matches!(kind, Kind::String) && !self.flexible;
        if short {
            self.out.put_i16(length.map_or(-1, |length| i16::try_from(length).expect("short")));
        } else {
            self.count(length);
        }
        self.out.put_slice(content.unwrap_or_default());
    }

    fn count(&mut self, count: Option<usize>) {
        if self.flexible {
            self.varint(count.map_or(0, |count| count + 1));
        } else {
            self.out.put_i32(count.map_or(-1, |count| i32::try_from(count).expect("few")));
        }
    }

    fn varint(&mut self, mut value: usize) {
        while value >= 0x80 {
            self.out.put_u8(u8::try_from(value & 0x7f).expect("seven bits") | 0x80);
            value >>= 7;
        }
        self.out.put_u8(u8::try_from(value).expect("seven bits"));
    }
}
