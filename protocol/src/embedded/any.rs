//! Any schema, for those who know its name only: a tool, a test.

use super::schemas::{self, for_each_schema};
use super::{DecodeError, Embedded, EncodeError, Malformed, Site, VersionRange};
use bytes::Bytes;

macro_rules! any {
    ($($name:ident)*) => {
        /// A value of any schema, by Kafka's name for it.
        ///
        /// ```
        /// use bytes::Bytes;
        /// use millstream_protocol::embedded::Any;
        /// let bytes = Bytes::from_static(&[0, 0, 0, 0, 0, 7]);
        /// let (version, marker) = Any::decode("EndTxnMarker", &bytes)?;
        /// assert_eq!((version, marker.name(), marker.encode(version)?), (0, "EndTxnMarker", bytes));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "one variant for each schema, by its name")]
        pub enum Any {
            $($name(schemas::$name),)*
        }
        impl Any {
            /// The names that [`decode`](Self::decode) takes.
            pub const NAMES: &[&str] = &[$(schemas::$name::NAME),*];

            /// Reads a value with what stands before it, as [`Embedded::decode`].
            ///
            /// # Errors
            ///
            /// When Kafka has no such schema, or the bytes are no such thing.
            pub fn decode(name: &str, bytes: &Bytes) -> Result<(i16, Self), DecodeError> {
                match name {
                    $(schemas::$name::NAME => schemas::$name::decode(bytes).map(|(version, read)| (version, Self::$name(read))),)*
                    _ => Err(unknown(name)),
                }
            }
            /// Reads a body, as [`Embedded::decode_body`].
            ///
            /// # Errors
            ///
            /// As [`decode`](Self::decode).
            pub fn decode_body(name: &str, version: i16, body: Bytes) -> Result<Self, DecodeError> {
                match name {
                    $(schemas::$name::NAME => schemas::$name::decode_body(version, body).map(Self::$name),)*
                    _ => Err(unknown(name)),
                }
            }
            /// The schema's name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => schemas::$name::NAME,)*
                }
            }
            /// What stands before the value, and its body.
            ///
            /// # Errors
            ///
            /// As [`Embedded::encode`].
            pub fn encode(&self, version: i16) -> Result<Bytes, EncodeError> {
                match self {
                    $(Self::$name(value) => value.encode(version),)*
                }
            }
            /// The body alone.
            ///
            /// # Errors
            ///
            /// As [`Embedded::encode_body`].
            pub fn encode_body(&self, version: i16) -> Result<Bytes, EncodeError> {
                match self {
                    $(Self::$name(value) => value.encode_body(version),)*
                }
            }
            /// The versions that Kafka 4.4 has of a schema; none for a name that it does not have.
            #[must_use]
            pub fn versions(name: &str) -> Option<VersionRange> {
                match name {
                    $(schemas::$name::NAME => Some(schemas::$name::versions()),)*
                    _ => None,
                }
            }
        }
    };
}
for_each_schema!(any);

fn unknown(name: &str) -> DecodeError {
    DecodeError::new(Site::Embedded("a schema", 0), Malformed::new(format!("Kafka 4.4 has no schema `{name}`")))
}
