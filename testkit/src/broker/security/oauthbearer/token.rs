//! A JSON web signature (RFC 7515): `header.claims.signature`, or an unsecured one (appendix A.5) without the last.

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
    pub(super) audiences: Vec<String>,
    pub(super) issuer: Option<String>,
}
impl Token {
    /// Reads one; none if it is no such token, it is not signed as it must be, or a claim has a wrong type.
    pub(super) fn parse(text: &str, rules: &Rules) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let (header, claims) = (object(header)?, object(claims)?);
        let algorithm = header.get("alg")?.as_str()?;
        let is_genuine = if rules.keys.are_given() {
            rules.keys.have_signed(algorithm, signed.as_bytes(), &decoded(signature)?)
        } else {
            signature.is_empty() && algorithm.eq_ignore_ascii_case("none")
        };
        let principal = claims.get(&rules.principal_claim)?.as_str().filter(|name| !name.trim().is_empty())?;
        let issued_at = match claims.get("iat") {
            None => None,
            Some(at) => Some(at.as_f64()?),
        };
        is_genuine.then_some(Self {
            principal: principal.to_owned(),
            expiration: claims.get("exp")?.as_f64()?,
            issued_at,
            scopes: texts(claims.get(&rules.scope_claim))?,
            audiences: texts(claims.get("aud"))?,
            issuer: claims.get("iss").and_then(Value::as_str).map(str::to_owned),
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
fn decoded(part: &str) -> Option<Vec<u8>> {
    // With padding or without, as Java reads it.
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&base64::alphabet::URL_SAFE, config).decode(part).ok()
}
fn object(part: &str) -> Option<Map<String, Value>> {
    match serde_json::from_slice(&decoded(part)?).ok()? {
        Value::Object(map) => Some(map),
        _ => None,
    }
}
/// One text, or a list of them.
fn texts(claim: Option<&Value>) -> Option<Vec<String>> {
    let words = |text: &str| text.trim().to_owned();
    match claim {
        None => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![words(text)]),
        Some(Value::Array(all)) => all.iter().map(|text| text.as_str().map(words)).collect(),
        Some(_) => None,
    }
}
