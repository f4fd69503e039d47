//! Serdes of plain types, byte for byte Kafka's.

use super::{Serde, SerdeContext, SerdeError};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

type Read<T> = Result<T, SerdeError>;

macro_rules! serdes {
    ($($(#[$doc:meta])* $name:ident: $($ty:ty = ($write:expr, $read:expr)),+;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        #[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
        pub struct $name;
        $(impl Serde<$ty> for $name {
            fn serialize(&self, value: &$ty, _ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
                let write: fn(&$ty, &mut BytesMut) = $write;
                write(value, out);
                Ok(())
            }
            fn deserialize(&self, bytes: &Bytes, _ctx: &SerdeContext<'_>) -> Result<$ty, SerdeError> {
                let read: fn(&Bytes) -> Read<$ty> = $read;
                read(bytes)
            }
        })+
    )*};
}
serdes! {
    /// UTF-8 text: Kafka's `StringSerializer`.
    Utf8:
        String = (|text, out| out.extend_from_slice(text.as_bytes()), |bytes| text(bytes).map(str::to_owned)),
        Arc<str> = (|text, out| out.extend_from_slice(text.as_bytes()), |bytes| text(bytes).map(Arc::from));
    /// One byte, 0 or 1: Kafka's `BooleanSerializer`.
    Bool: bool = (|value, out| out.extend_from_slice(&[u8::from(*value)]), boolean);
    /// Big-endian, 2 bytes: Kafka's `ShortSerializer`.
    I16: i16 = (
        |value, out| out.extend_from_slice(&value.to_be_bytes()),
        |bytes| exactly(bytes).map(i16::from_be_bytes)
    );
    /// Big-endian, 4 bytes: Kafka's `IntegerSerializer`.
    I32: i32 = (
        |value, out| out.extend_from_slice(&value.to_be_bytes()),
        |bytes| exactly(bytes).map(i32::from_be_bytes)
    );
    /// Big-endian, 8 bytes: Kafka's `LongSerializer`.
    I64: i64 = (
        |value, out| out.extend_from_slice(&value.to_be_bytes()),
        |bytes| exactly(bytes).map(i64::from_be_bytes)
    );
    /// IEEE 754 big-endian, 4 bytes: Kafka's `FloatSerializer`.
    F32: f32 = (
        |value, out| out.extend_from_slice(&value.to_be_bytes()),
        |bytes| exactly(bytes).map(f32::from_be_bytes)
    );
    /// IEEE 754 big-endian, 8 bytes: Kafka's `DoubleSerializer`.
    F64: f64 = (
        |value, out| out.extend_from_slice(&value.to_be_bytes()),
        |bytes| exactly(bytes).map(f64::from_be_bytes)
    );
    /// The bytes themselves.
    Raw:
        Bytes = (|bytes, out| out.extend_from_slice(bytes), |bytes| Ok(bytes.clone())),
        Vec<u8> = (|bytes, out| out.extend_from_slice(bytes), |bytes| Ok(bytes.to_vec()));
    /// A UUID, as its 36 characters of text: Kafka's `UUIDSerializer`.
    Uuid: u128 = (
        |id, out| {
            let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
            out.extend_from_slice(uuid::Uuid::from_u128(*id).hyphenated().encode_lower(&mut text).as_bytes());
        },
        uuid_of
    );
}

/// "I do not look at this": writes null, reads anything, null too. Kafka's `VoidSerializer`, less its refusal to read.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct Unit;
impl Serde<()> for Unit {
    fn serialize(&self, _value: &(), _ctx: &mut SerdeContext<'_>, _out: &mut BytesMut) -> Result<(), SerdeError> {
        Ok(())
    }
    fn deserialize(&self, _bytes: &Bytes, _ctx: &SerdeContext<'_>) -> Result<(), SerdeError> {
        Ok(())
    }
    fn is_null(&self, _value: &()) -> bool {
        true
    }
    fn deserialize_null(&self, _ctx: &SerdeContext<'_>) -> Result<(), SerdeError> {
        Ok(())
    }
}

/// Null for `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nullable<S>(S);
/// Lets `serde` write and read null, as `None`.
#[must_use]
pub const fn nullable<S>(serde: S) -> Nullable<S> {
    Nullable(serde)
}
impl<T: 'static, S: Serde<T>> Serde<Option<T>> for Nullable<S> {
    fn serialize(&self, value: &Option<T>, ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
        value.as_ref().map_or(Ok(()), |value| self.0.serialize(value, ctx, out))
    }
    fn deserialize(&self, bytes: &Bytes, ctx: &SerdeContext<'_>) -> Result<Option<T>, SerdeError> {
        self.0.deserialize(bytes, ctx).map(Some)
    }
    fn is_null(&self, value: &Option<T>) -> bool {
        value.as_ref().is_none_or(|value| self.0.is_null(value))
    }
    fn deserialize_null(&self, _ctx: &SerdeContext<'_>) -> Result<Option<T>, SerdeError> {
        Ok(None)
    }
}

fn text(bytes: &Bytes) -> Read<&str> {
    std::str::from_utf8(bytes).map_err(|error| SerdeError::caused_by("is not UTF-8 text", error))
}
fn exactly<const N: usize>(bytes: &Bytes) -> Read<[u8; N]> {
    let wrong = |_| SerdeError::new(format!("has {} bytes where a value of {N} is expected", bytes.len()));
    bytes.as_ref().try_into().map_err(wrong)
}
fn boolean(bytes: &Bytes) -> Read<bool> {
    match exactly::<1>(bytes)? {
        [0] => Ok(false),
        [1] => Ok(true),
        [other] => Err(SerdeError::new(format!("is the byte {other} where 0 or 1 is expected"))),
    }
}
fn uuid_of(bytes: &Bytes) -> Read<u128> {
    uuid::Uuid::try_parse_ascii(bytes)
        .map(|id| id.as_u128())
        .map_err(|error| SerdeError::caused_by("is not the text of a UUID", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serde::{DefaultSerde, Part};
    use millstream_protocol::TopicName;
    use std::fmt::Debug;

    static TOPIC: TopicName = TopicName::from_static("t");

    fn written<T>(serde: &impl Serde<T>, value: &T) -> Bytes {
        let mut out = BytesMut::new();
        serde.serialize(value, &mut SerdeContext::new(&TOPIC, Part::Value), &mut out).expect("has bytes");
        out.freeze()
    }
    fn read<T>(serde: &impl Serde<T>, bytes: &'static [u8]) -> Result<T, String> {
        serde
            .deserialize(&Bytes::from_static(bytes), &SerdeContext::new(&TOPIC, Part::Value))
            .map_err(|error| error.to_string())
    }
    #[track_caller]
    fn is<T: DefaultSerde + Debug + PartialEq>(value: T, bytes: &'static [u8]) {
        let serde = T::Serde::default();
        assert_eq!(written(&serde, &value), bytes);
        assert_eq!(read(&serde, bytes), Ok(value));
    }

    #[test]
    fn bytes_are_kafkas() {
        is(String::from("häh"), "häh".as_bytes());
        is(Arc::<str>::from("x"), b"x");
        is(true, &[1]);
        is(false, &[0]);
        is(-2_i16, &[0xff, 0xfe]);
        is(258_i32, &[0, 0, 1, 2]);
        is(-1_i64, &[0xff; 8]);
        is(1.5_f32, &[0x3f, 0xc0, 0, 0]);
        is(-2.0_f64, &[0xc0, 0, 0, 0, 0, 0, 0, 0]);
        is(vec![1_u8, 2], &[1, 2]);
        is(Bytes::from_static(b"raw"), b"raw");
        is(Some(7_i16), &[0, 7]);
    }

    #[test]
    fn a_uuid_is_its_text() {
        let text = b"67e55044-10b1-426f-9247-bb680e5fe0c8";
        let id = 0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8;
        assert_eq!(&written(&Uuid, &id)[..], text);
        assert_eq!(read(&Uuid, text), Ok(id));
        assert!(read(&Uuid, b"no").is_err());
    }

    #[test]
    fn a_wrong_size_says_both_sizes() {
        assert_eq!(read(&I64, &[0; 4]), Err("has 4 bytes where a value of 8 is expected".into()));
        assert_eq!(read(&Bool, &[2]), Err("is the byte 2 where 0 or 1 is expected".into()));
        assert_eq!(read::<String>(&Utf8, &[0xff]), Err("is not UTF-8 text".into()));
    }

    #[test]
    fn null_is_none_and_unit_alone() {
        let ctx = SerdeContext::new(&TOPIC, Part::Value);
        assert!(I64.deserialize_null(&ctx).is_err());
        assert_eq!(nullable(I64).deserialize_null(&ctx).expect("none"), None);
        assert!(nullable(I64).is_null(&None) && !nullable(I64).is_null(&Some(0)));
        assert!(Unit.is_null(&()) && Unit.deserialize_null(&ctx).is_ok());
        assert_eq!(read(&Unit, b"anything"), Ok(()));
    }
}
