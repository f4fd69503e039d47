//! Values to bytes and back.

mod builtin;
mod context;
mod default;
#[cfg(feature = "json")]
mod json;

pub use builtin::{Bool, F32, F64, I16, I32, I64, Nullable, Raw, Unit, Utf8, Uuid, nullable};
pub use context::{Part, SerdeContext};
pub use default::DefaultSerde;
#[cfg(feature = "json")]
pub use json::Json;

use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// Turns values into bytes and back.
///
/// Null is not bytes: only a serde that says so, by the last two methods, writes or reads it. See [`nullable`].
pub trait Serde<T>: Send + Sync + 'static {
    /// Appends the value's bytes to `out`. May add headers to the record through `ctx`.
    ///
    /// # Errors
    /// If the value has no bytes.
    fn serialize(&self, value: &T, ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError>;
    /// Reads a value; keeping a slice of `bytes` copies nothing.
    ///
    /// # Errors
    /// If the bytes are no value.
    fn deserialize(&self, bytes: &Bytes, ctx: &SerdeContext<'_>) -> Result<T, SerdeError>;
    /// Whether the value is written as null.
    fn is_null(&self, _value: &T) -> bool {
        false
    }
    /// The value that null stands for. Unless overridden, there is none.
    ///
    /// # Errors
    /// If null stands for nothing.
    fn deserialize_null(&self, _ctx: &SerdeContext<'_>) -> Result<T, SerdeError> {
        Err(SerdeError::new("a null where none may be: use `nullable(serde)` and `Option<T>`"))
    }
}
// A serde with a connection (a schema registry's) is shared.
impl<T, S: Serde<T> + ?Sized> Serde<T> for Arc<S> {
    fn serialize(&self, value: &T, ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
        (**self).serialize(value, ctx, out)
    }
    fn deserialize(&self, bytes: &Bytes, ctx: &SerdeContext<'_>) -> Result<T, SerdeError> {
        (**self).deserialize(bytes, ctx)
    }
    fn is_null(&self, value: &T) -> bool {
        (**self).is_null(value)
    }
    fn deserialize_null(&self, ctx: &SerdeContext<'_>) -> Result<T, SerdeError> {
        (**self).deserialize_null(ctx)
    }
}

/// Why bytes are not a value, or a value has no bytes.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct SerdeError {
    problem: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}
impl SerdeError {
    /// With a sentence.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), source: None }
    }
    /// With a cause.
    pub fn caused_by(problem: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { problem: problem.into(), source: Some(source.into()) }
    }
}
