//! The fields that let in whoever has them, and the messages whose bytes an error does not show.
//!
//! The one list for pictures, JSON and errors.

use super::{Direction, Shape, Value, shape};
use crate::ApiKey;
use crate::codec::Malformed;

/// Message and field; no other message of Kafka's has fields of these names.
const FIELDS: &[(&str, &str)] = &[
    ("SaslAuthenticateRequest", "authBytes"),
    ("SaslAuthenticateResponse", "authBytes"),
    ("AlterUserScramCredentialsRequest", "salt"),
    ("AlterUserScramCredentialsRequest", "saltedPassword"),
    ("CreateDelegationTokenResponse", "hmac"),
    ("DescribeDelegationTokenResponse", "hmac"),
    ("RenewDelegationTokenRequest", "hmac"),
    ("ExpireDelegationTokenRequest", "hmac"),
    // Brokers pass on the messages above in them.
    ("EnvelopeRequest", "requestData"),
    ("EnvelopeResponse", "responseData"),
];

/// What of a topic's or a broker's settings is a password, only the broker knows.
const SETTINGS: &[&str] = &[
    "AlterConfigsRequest",
    "IncrementalAlterConfigsRequest",
    "DescribeConfigsResponse",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
];

/// Whether this field is a secret: not in a picture nor in JSON, unless they are asked for.
pub(crate) fn is_secret(field: &str, value: Value<'_>) -> bool {
    matches!(value, Value::Bytes(_)) && FIELDS.iter().any(|(_, name)| *name == field)
}

/// Whether a message has such a field.
pub(crate) fn has_secrets(shape: &Shape) -> bool {
    FIELDS.iter().any(|(message, _)| *message == shape.name)
}

/// With the bytes at its place, unless they may be a secret's.
pub(crate) fn shown(malformed: Malformed, shape: Option<&Shape>, bytes: &[u8]) -> Malformed {
    let hidden = shape.is_some_and(|shape| has_secrets(shape) || SETTINGS.contains(&shape.name));
    if hidden { malformed } else { malformed.within(bytes) }
}

/// The same of a header, behind which a message of this API stands.
pub(crate) fn shown_in_frame(malformed: Malformed, api: ApiKey, direction: Direction, frame: &[u8]) -> Malformed {
    shown(malformed, shape(api, direction), frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::shape::{Field, Kind};
    use crate::guard::shapes::APIS;
    use crate::guard::{coordinator, embedded};

    fn names(fields: &'static [Field], into: &mut Vec<&'static str>) {
        for field in fields {
            into.push(field.name);
            let mut kind = field.kind;
            while let Kind::Array(element) = kind {
                kind = *element;
            }
            if let Kind::Struct(fields) = kind {
                names(fields, into);
            }
        }
    }

    /// JSON is written by the fields' names alone.
    #[test]
    fn no_other_message_has_a_field_of_a_secrets_name() {
        let messages = APIS.iter().flat_map(|(_, request, response)| [*request, *response]);
        let mut found = Vec::new();
        for shape in messages.chain(embedded::ALL.iter().copied()).chain(coordinator::ALL.iter().copied()) {
            let mut all = Vec::new();
            names(shape.fields, &mut all);
            let secret = |name: &&str| FIELDS.iter().any(|(_, secret)| secret == name);
            found.extend(all.into_iter().filter(secret).map(|name| (shape.name, name)));
        }
        let mut listed = FIELDS.to_vec();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_message_that_is_named_is_kafkas() {
        let messages: Vec<_> = APIS.iter().flat_map(|(_, request, response)| [request.name, response.name]).collect();
        assert!(SETTINGS.iter().all(|name| messages.contains(name)));
    }
}
