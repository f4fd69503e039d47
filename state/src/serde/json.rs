//! JSON through `serde`. Feature `json`.

use super::{Serde, SerdeContext, SerdeError};
use bytes::buf::BufMut;
use bytes::{Bytes, BytesMut};
use serde::{Serialize, de::DeserializeOwned};

/// JSON of any type that `serde` knows.
///
/// The text `null` is a value like any other, and not the null of a record: for that there is
/// [`nullable`](super::nullable).
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct Json;
impl<T: Serialize + DeserializeOwned + 'static> Serde<T> for Json {
    fn serialize(&self, value: &T, _ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
        serde_json::to_writer(out.writer(), value).map_err(|error| SerdeError::caused_by("cannot be JSON", error))
    }
    fn deserialize(&self, bytes: &Bytes, _ctx: &SerdeContext<'_>) -> Result<T, SerdeError> {
        serde_json::from_slice(bytes).map_err(|error| SerdeError::caused_by("is not the JSON expected", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serde::Part;
    use millstream_protocol::TopicName;

    #[test]
    fn json_comes_back_and_other_text_is_an_error() {
        let topic = TopicName::from_static("orders");
        let (mut ctx, mut out) = (SerdeContext::new(&topic, Part::Value), BytesMut::new());
        let order = (String::from("alice"), 12_i64);
        Json.serialize(&order, &mut ctx, &mut out).expect("a pair is JSON");
        assert_eq!(&out[..], br#"["alice",12]"#);
        let back: Result<(String, i64), _> = Json.deserialize(&out.freeze(), &ctx);
        assert_eq!(back.expect("as written"), order);
        let wrong: Result<(String, i64), _> = Json.deserialize(&Bytes::from_static(b"[1"), &ctx);
        let error = wrong.expect_err("no pair");
        assert_eq!(error.to_string(), "is not the JSON expected");
        assert!(std::error::Error::source(&error).is_some(), "says where");
    }
}
