//! The serde that a type has when nobody names one.

use super::{Bool, F32, F64, I16, I32, I64, Nullable, Raw, Serde, Unit, Utf8};
use bytes::Bytes;
use std::sync::Arc;

/// A type with a serde of its own, so that code which does not care need not name one.
///
/// ```
/// # #[cfg(feature = "json")] {
/// use millstream_state::serde::{DefaultSerde, Json};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Order {
///     cents: i64,
/// }
/// impl DefaultSerde for Order {
///     type Serde = Json;
/// }
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default serde",
    label = "how is this to be written and read?",
    note = "write `impl DefaultSerde for {Self} {{ type Serde = Json; }}`, or name serdes where they are needed: `Topic::with(name, key, value)`, `…_with(…)`"
)]
pub trait DefaultSerde: Sized + 'static {
    /// The serde.
    type Serde: Serde<Self> + Default;
}
macro_rules! defaults {
    ($($ty:ty => $serde:ty;)*) => {$(
        impl DefaultSerde for $ty {
            type Serde = $serde;
        }
    )*};
}
defaults! {
    String => Utf8;
    Arc<str> => Utf8;
    bool => Bool;
    i16 => I16;
    i32 => I32;
    i64 => I64;
    f32 => F32;
    f64 => F64;
    Bytes => Raw;
    Vec<u8> => Raw;
    () => Unit;
}
impl<T: DefaultSerde> DefaultSerde for Option<T> {
    type Serde = Nullable<T::Serde>;
}
