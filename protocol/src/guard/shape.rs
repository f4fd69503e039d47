//! What a message looks like on the wire, at all of its versions: small static tables, made from Kafka's schemas by
//! `examples/generate-guard`.

/// A message, or a schema that travels inside others.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Kafka's name.
    pub(crate) name: &'static str,
    /// The versions that Kafka has.
    pub(crate) versions: Span,
    /// Those with compact types and tagged fields.
    pub(crate) flexible: Span,
    pub(crate) fields: &'static [Field],
}

/// Versions from the first to the second, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) i16, pub(crate) i16);

impl Span {
    pub(crate) const NONE: Self = Self(1, 0);

    pub(crate) const fn is_empty(self) -> bool {
        self.0 > self.1
    }
    pub(crate) const fn contains(self, version: i16) -> bool {
        self.0 <= version && version <= self.1
    }
}

/// One field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    /// Kafka's name, as its JSON writes it.
    pub(crate) name: &'static str,
    pub(crate) versions: Span,
    pub(crate) nullable: Span,
    /// Versions at which it stands among the tagged fields.
    pub(crate) tagged: Span,
    pub(crate) tag: u32,
    /// Left out where a version does not have it, whatever it holds.
    pub(crate) ignorable: bool,
    pub(crate) kind: Kind,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    /// A string with a length of two bytes at every version: the client id of a request's header.
    ClassicString,
    Bytes,
    Records,
    Struct(&'static [Field]),
    Array(&'static Self),
}

impl Kind {
    /// Bytes on the wire, for those of which all values have the same number.
    pub(crate) const fn fixed_size(self) -> Option<usize> {
        match self {
            Self::Bool | Self::Int8 => Some(1),
            Self::Int16 | Self::Uint16 => Some(2),
            Self::Int32 => Some(4),
            Self::Int64 | Self::Float64 => Some(8),
            Self::Uuid => Some(16),
            _ => None,
        }
    }
}

/// A field that is not nullable and not tagged; the tables add that where it is so.
pub(crate) const fn field(name: &'static str, versions: Span, kind: Kind) -> Field {
    Field { name, versions, nullable: Span::NONE, tagged: Span::NONE, tag: 0, ignorable: false, kind }
}

impl Field {
    pub(crate) const fn nullable(self, versions: Span) -> Self {
        Self { nullable: versions, ..self }
    }
    pub(crate) const fn ignorable(self) -> Self {
        Self { ignorable: true, ..self }
    }
    pub(crate) const fn tagged(self, versions: Span, tag: u32) -> Self {
        Self { tagged: versions, tag, ..self }
    }
}

pub(crate) const fn from(first: i16) -> Span {
    Span(first, i16::MAX)
}

pub(crate) const fn span(first: i16, last: i16) -> Span {
    Span(first, last)
}
