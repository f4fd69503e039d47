//! What can be a key or a value of a record to send.

use bytes::Bytes;

/// Borrowed bytes, or none: `"text"`, `b"bytes"`, `&vec`, `&bytes`, `&string`, `None`, `record.key()`.
///
/// ```
/// use millstream_client::IntoField;
/// assert_eq!("text".into_field(), Some(&b"text"[..]));
/// assert_eq!(None::<&str>.into_field(), None);
/// ```
pub trait IntoField<'a> {
    /// The bytes; none is Kafka's null.
    fn into_field(self) -> Option<&'a [u8]>;
}
macro_rules! fields {
    ($($ty:ty => |$it:ident| $bytes:expr;)*) => {$(
        impl<'a> IntoField<'a> for &'a $ty {
            fn into_field(self) -> Option<&'a [u8]> {
                let $it = self;
                Some($bytes)
            }
        }
    )*};
}
fields! {
    str => |it| it.as_bytes();
    String => |it| it.as_bytes();
    [u8] => |it| it;
    Vec<u8> => |it| it;
    Bytes => |it| it;
}
impl<'a, const N: usize> IntoField<'a> for &'a [u8; N] {
    fn into_field(self) -> Option<&'a [u8]> {
        Some(self)
    }
}
impl<'a, T: IntoField<'a>> IntoField<'a> for Option<T> {
    fn into_field(self) -> Option<&'a [u8]> {
        self.and_then(IntoField::into_field)
    }
}
