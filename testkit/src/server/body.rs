//! Bodies of requests, read. What cannot be read is told with the field that is wrong, and with an example.

use super::answer::Refusal;
use super::bodies::{
    Advance, ControllerMove, CoordinatorMove, Follower, FollowerAt, LeaderAnswer, LeaderMove, NewTerm, NewTopic, Spoil,
    Versions,
};
use super::words::in_words;
use crate::LinkConditions;
use crate::faults::FaultPlan;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a route takes as its body.
pub(super) trait Body: DeserializeOwned {
    /// One that works, the same as in `openapi.yaml`.
    const EXAMPLE: &'static str;
}

/// Reads a body, or says what is wrong with it.
pub(super) fn read<B: Body>(bytes: &[u8]) -> Result<B, Refusal> {
    let wrong = |reason: String| Refusal::bad(format!("the body cannot be read: {reason}; as in {}", B::EXAMPLE));
    if bytes.is_empty() {
        return Err(wrong("it is empty, and should be JSON".to_owned()));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|error| wrong(format!("it is no JSON ({error})")))?;
    if !value.is_object() {
        return Err(wrong("it is no object".to_owned()));
    }
    B::deserialize(&value).map_err(|error| {
        let reason = error.to_string();
        let field = culprit::<B>(&value, &reason).map(|field| format!("`{field}`: ")).unwrap_or_default();
        wrong(format!("{field}{}", in_words(&reason)))
    })
}
/// The field without which something else would be wrong, or nothing: what is missing is in no field that is there.
fn culprit<'v, B: Body>(value: &'v Value, reason: &str) -> Option<&'v str> {
    if is_missing::<B>(value, reason) {
        return None;
    }
    let is_it = |field: &&String| {
        let mut without = value.clone();
        without.as_object_mut().and_then(|fields| fields.remove(*field));
        B::deserialize(&without).map_or_else(|error| error.to_string() != reason, |_| true)
    };
    value.as_object()?.keys().find(is_it).map(String::as_str)
}

/// Whether the reason is a field that the example has, and the body has not.
fn is_missing<B: Body>(value: &Value, reason: &str) -> bool {
    let example: Value = serde_json::from_str(B::EXAMPLE).unwrap_or_default();
    let named = reason.strip_prefix("missing field `").and_then(|name| name.strip_suffix('`'));
    named.is_some_and(|name| example.get(name).is_some() && value.get(name).is_none())
}

impl Body for FaultPlan {
    const EXAMPLE: &'static str = r#"{"api":"Produce","node":1,"steps":[{"do":{"error":"NOT_LEADER_OR_FOLLOWER"},"rtt_ms":5,"times":2},{"do":"disconnect"}]}"#;
}
impl Body for LinkConditions {
    const EXAMPLE: &'static str = r#"{"latency_ms":1,"split_bytes":1}"#;
}
impl Body for NewTopic {
    const EXAMPLE: &'static str =
        r#"{"name":"made-by-example","partitions":2,"replication_factor":2,"config":{"cleanup.policy":"compact"}}"#;
}
impl Body for Spoil {
    const EXAMPLE: &'static str = r#"{"partition":0,"offset":0}"#;
}
impl Body for LeaderMove {
    const EXAMPLE: &'static str = r#"{"topic":"orders","partition":0,"node":1}"#;
}
impl Body for NewTerm {
    const EXAMPLE: &'static str = r#"{"topic":"orders","partition":0}"#;
}
impl Body for LeaderAnswer {
    const EXAMPLE: &'static str = r#"{"topic":"orders","partition":0,"node":2,"leader_epoch":7}"#;
}
impl Body for Follower {
    const EXAMPLE: &'static str = r#"{"topic":"orders","partition":0,"node":2}"#;
}
impl Body for FollowerAt {
    const EXAMPLE: &'static str = r#"{"topic":"orders","partition":0,"node":2,"offset":1}"#;
}
impl Body for Versions {
    const EXAMPLE: &'static str = r#"{"min":4,"max":11}"#;
}
impl Body for CoordinatorMove {
    const EXAMPLE: &'static str = r#"{"id":"my-group","node":1}"#;
}
impl Body for ControllerMove {
    const EXAMPLE: &'static str = r#"{"node":1}"#;
}
impl Body for Advance {
    const EXAMPLE: &'static str = r#"{"ms":1000}"#;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<B: Body>(text: &str) -> String {
        read::<B>(text.as_bytes()).map(drop).expect_err("it is wrong").reason
    }

    #[test]
    fn the_field_that_is_wrong_is_named() {
        let wrong = refused::<NewTopic>(r#"{"name": "orders", "partitions": "two"}"#);
        assert!(wrong.starts_with("the body cannot be read: `partitions`: invalid type: string \"two\""), "{wrong}");
        assert!(wrong.contains(", expected a whole number, 0 or more; as in {"), "{wrong}");
        let scope = refused::<FaultPlan>(r#"{"api": "Fetch", "partition": "t-0", "steps": []}"#);
        assert!(scope.contains("expected an object"), "{scope}");
        let api = refused::<FaultPlan>(r#"{"api": true, "steps": []}"#);
        assert!(api.starts_with("the body cannot be read: `api`: neither a name nor a number"), "{api}");
        let unknown = refused::<NewTopic>(r#"{"name": "orders", "partition": 2}"#);
        assert!(unknown.starts_with("the body cannot be read: `partition`: unknown field"), "{unknown}");
        let missing = refused::<NewTopic>("{}");
        assert!(missing.starts_with("the body cannot be read: missing field `name`; as in {"), "{missing}");
        // It named `topic`, which is right.
        let missing = refused::<NewTerm>(r#"{"topic": "orders"}"#);
        assert!(missing.starts_with("the body cannot be read: missing field `partition`; as in {"), "{missing}");
        let inside = refused::<FaultPlan>(r#"{"api": "Fetch", "partition": {"topic": "orders"}, "steps": []}"#);
        assert!(inside.starts_with("the body cannot be read: `partition`: missing field `partition`"), "{inside}");
        let nested = refused::<FaultPlan>(r#"{"api": "Fetch", "steps": [{"do": "vanish"}]}"#);
        assert!(nested.starts_with("the body cannot be read: `steps`: "), "{nested}");
        assert!(refused::<NewTopic>("").contains("it is empty"), "it has no field");
        assert!(refused::<NewTopic>("{\"name\"").contains("it is no JSON"), "it has no field");
        assert!(refused::<NewTopic>("[]").contains("it is no object"), "it has no field");
    }
}
