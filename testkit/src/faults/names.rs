//! APIs, error codes and times as JSON has them: by Kafka's names, in milliseconds.

use millstream_protocol::{ApiKey, ErrorCode};

/// The numbers that APIs and codes may have; both tables are far shorter.
const NUMBERS: std::ops::RangeInclusive<i16> = -1..=1000;

/// The API of this name or number: `Produce` or `0`; none when Kafka has none.
#[must_use]
pub fn api_named(text: &str) -> Option<ApiKey> {
    let is_known = |api: &ApiKey| api.name() != ApiKey::new(i16::MAX).name();
    let by_name = || NUMBERS.map(ApiKey::new).find(|api| api.name().eq_ignore_ascii_case(text));
    text.parse().ok().map(ApiKey::new).or_else(by_name).filter(is_known)
}
/// What is said of a name that is no API's.
pub(crate) fn no_api(name: &str) -> String {
    format!("Kafka has no API `{name}`; say its name or its number, as in Produce or 0")
}
/// The error code of this name or number: `NOT_LEADER_OR_FOLLOWER` or `6`; none when Kafka has none.
#[must_use]
pub fn code_named(text: &str) -> Option<ErrorCode> {
    let is_known = |code: &ErrorCode| code.name() != ErrorCode::new(i16::MAX).name();
    let by_name = || NUMBERS.map(ErrorCode::new).find(|code| code.name().eq_ignore_ascii_case(text));
    text.parse().ok().map(ErrorCode::new).or_else(by_name).filter(is_known)
}

/// A name or a number.
#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "neither a name nor a number")]
enum NameOrNumber {
    Name(String),
    Number(i16),
}
impl NameOrNumber {
    fn text(self) -> String {
        match self {
            Self::Name(name) => name,
            Self::Number(number) => number.to_string(),
        }
    }
}

pub(crate) mod code {
    use super::{ErrorCode, NameOrNumber, code_named};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(code: &ErrorCode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(code.name())
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ErrorCode, D::Error> {
        let text = NameOrNumber::deserialize(from)?.text();
        code_named(&text).ok_or_else(|| D::Error::custom(format!("Kafka has no error code `{text}`")))
    }
}

pub(crate) mod api {
    use super::{ApiKey, NameOrNumber, api_named, no_api};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "serde passes references")]
    pub(crate) fn serialize<S: Serializer>(api: &Option<ApiKey>, to: S) -> Result<S::Ok, S::Error> {
        match api {
            Some(api) => to.serialize_str(api.name()),
            None => to.serialize_none(),
        }
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ApiKey>, D::Error> {
        let Some(text) = Option::<NameOrNumber>::deserialize(from)?.map(NameOrNumber::text) else { return Ok(None) };
        api_named(&text).map(Some).ok_or_else(|| D::Error::custom(no_api(&text)))
    }
}

pub(crate) mod millis {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_name_the_same() {
        assert_eq!(api_named("Produce"), Some(ApiKey::PRODUCE));
        assert_eq!(api_named("3"), Some(ApiKey::METADATA));
        assert_eq!((api_named("Nope"), api_named("999")), (None, None));
        assert_eq!(code_named("not_leader_or_follower"), Some(ErrorCode::NOT_LEADER_OR_FOLLOWER));
        assert_eq!(code_named("0"), Some(ErrorCode::NONE));
        assert_eq!((code_named("NOPE"), code_named("999")), (None, None));
    }
}
