//! The macros that make a struct of a schema, and a message's body of a struct.

use crate::codec::Malformed;

/// What becomes of a value that a version has no field for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It is left out: the schema's `ignorable`.
    Ignored,
    /// The message cannot be written, unless the value is the default.
    Refused,
}

/// Makes a struct of a schema: its fields in order, each with default, versions, what becomes of it in others, and
/// where it may be null if that is not in all of its versions; then its tagged ones.
macro_rules! wire_struct {
    (
        $(#[$doc:meta])*
        struct $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr, $versions:expr, $absent:ident $(, null $null:expr)?;)*
            $(@ $tag:literal $(#[$tag_doc:meta])* $tag_field:ident: $tag_type:ty = $tag_default:expr, $tag_versions:expr, $tag_absent:ident;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(clippy::exhaustive_structs, reason = "those that are not marked otherwise are to be written as literals")]
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
                    $($crate::messages::field::check_null(self.$field.is_none() && !($null).contains(&out.version), stringify!($field))?;)?
                    $crate::messages::field::Field::write(&self.$field, out).map_err(|error| error.in_field(stringify!($field)))?;
                } else if Absent::$absent == Absent::Refused {
                    let default: $type = $default;
                    if self.$field != default {
                        return Err(refuse(stringify!($field)));
                    }
                })*
                let mut known = Vec::new();
                $(if self.$tag_field != { let default: $tag_type = $tag_default; default } {
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
                read.unknown_tagged_fields = from.tags(&mut |tag, from| match tag {
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

/// Gives a struct of [`wire_struct`] a setter for each field, for chains, as `kafka-protocol`'s types have.
macro_rules! setters {
    ($name:ident { $($setter:ident $field:ident: $type:ty;)* }) => {
        impl $name {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $setter(mut self, value: $type) -> Self {
                    self.$field = value;
                    self
                }
            )*
            /// Sets the tagged fields that the schema does not know.
            #[must_use]
            pub fn with_unknown_tagged_fields(mut self, value: $crate::messages::TaggedFields) -> Self {
                self.unknown_tagged_fields = value;
                self
            }
        }
    };
}

/// Makes a struct of [`wire_struct`] the body of a request, of a response, or of a schema that is no API's.
macro_rules! wire_body {
    (data $name:ident, $versions:expr, flexible from $flexible:expr) => {
        impl $crate::codec::DataBody for $name {
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                $crate::messages::field::write_body(self, version, $versions, $flexible, out)
            }
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                $crate::messages::field::read_body(version, $versions, $flexible, body)
            }
        }
    };
    (request $name:ident, $versions:expr, flexible from $flexible:expr) => {
        impl $crate::codec::RequestBody for $name {
            #[cfg(feature = "client")]
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                $crate::messages::field::write_body(self, version, $versions, $flexible, out)
            }
            #[cfg(feature = "broker")]
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                $crate::messages::field::read_body(version, $versions, $flexible, body)
            }
        }
    };
    (response $name:ident, $versions:expr, flexible from $flexible:expr) => {
        impl $crate::codec::ResponseBody for $name {
            #[cfg(feature = "broker")]
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                $crate::messages::field::write_body(self, version, $versions, $flexible, out)
            }
            #[cfg(feature = "client")]
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                $crate::messages::field::read_body(version, $versions, $flexible, body)
            }
        }
    };
}
pub(crate) use {setters, wire_body, wire_struct};

#[cold]
pub(crate) fn refuse(field: &str) -> Malformed {
    Malformed::new("this version has no such field, and it is not at its default").in_field(field)
}

pub(crate) fn check_null(is_wrong: bool, field: &str) -> Result<(), Malformed> {
    if is_wrong { Err(Malformed::new("null, which this version cannot carry").in_field(field)) } else { Ok(()) }
}
