//! An unsecured JSON web signature (RFC 7515, appendix A.5): `header.claims.`, and no signature.

use super::Rules;
use base64::Engine;
use base64::engine::GeneralPurposeConfig;
use base64::engine::{DecodePaddingMode, GeneralPurpose};
use millstream_protocol::Timestamp;
use serde_json::{Map, Value};

/// What a token says.
#[derive(Debug, PartialEq)]
pub(super) struct Token {
    pub(super) principal: String,
    /// Seconds.
    pub(super) expiration: f64,
    /// Seconds.
    pub(super) issued_at: Option<f64>,
    pub(super) scopes: Vec<String>,
}
impl Token {
    /// Reads one; none if it is no such token, or a claim has a wrong type.
    pub(super) fn parse(text: &str, rules: &Rules) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let [header, claims, ""] = parts.as_slice() else { return None };
        let (header, claims) = (object(header)?, object(claims)?);
        let is_unsecured = header.get("alg")?.as_str()?.eq_ignore_ascii_case("none");
        let principal = claims.get(&rules.principal_claim)?.as_str().filter(|name| !name.trim().is_empty())?;
        let issued_at = match claims.get("iat") {
            None => None,
            Some(at) => Some(at.as_f64()?),
        };
        is_unsecured.then_some(Self {
            principal: principal.to_owned(),
            expiration: claims.get("exp")?.as_f64()?,
            issued_at,
            scopes: scopes(claims.get(&rules.scope_claim))?,
        })
    }
    /// When it ends.
    pub(super) fn expires(&self) -> Timestamp {
        Timestamp::from_millis(millis(self.expiration))
    }
}

/// Milliseconds of a time in seconds, with the fraction below cut off.
#[expect(clippy::cast_possible_truncation, reason = "`as` from a float ends at the type's bounds, and that is meant")]
pub(super) fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0) as i64
}
fn object(part: &str) -> Option<Map<String, Value>> {
    // With padding or without, as Java reads it.
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&base64::alphabet::URL_SAFE, config).decode(part).ok()?;
    match serde_json::from_slice(&bytes).ok()? {
        Value::Object(map) => Some(map),
        _ => None,
    }
}
/// One scope, or a list of them.
fn scopes(claim: Option<&Value>) -> Option<Vec<String>> {
    let words = |text: &str| text.trim().to_owned();
    match claim {
        None => Some(Vec::new()),
        Some(Value::String(scope)) => Some(vec![words(scope)]),
        Some(Value::Array(all)) => all.iter().map(|scope| scope.as_str().map(words)).collect(),
        Some(_) => None,
    }
}
