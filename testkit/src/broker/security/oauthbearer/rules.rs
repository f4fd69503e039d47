//! What is checked of a token: the options of Kafka's unsecured validator, and those of the one for signed tokens.

use super::Fault;
use super::keys::Keys;
use super::token::{Token, millis};
use millstream_protocol::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// Kafka's default of `sasl.oauthbearer.clock.skew.seconds`.
const SIGNED_SKEW: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    /// `unsecuredValidatorPrincipalClaimName`.
    pub(super) principal_claim: String,
    /// `unsecuredValidatorScopeClaimName`.
    pub(super) scope_claim: String,
    /// `unsecuredValidatorRequiredScope`: what must be there, separated by spaces.
    required_scope: String,
    /// `unsecuredValidatorAllowableClockSkewMs`, `sasl.oauthbearer.clock.skew.seconds`.
    clock_skew: Option<Duration>,
    /// By which tokens have to be signed; without any they must not be.
    pub(super) keys: Keys,
    /// `sasl.oauthbearer.expected.audience`: one of these; empty: any.
    audiences: Vec<String>,
    /// `sasl.oauthbearer.expected.issuer`.
    issuer: Option<String>,
}
impl Default for Rules {
    fn default() -> Self {
        Self {
            principal_claim: "sub".to_owned(),
            scope_claim: "scope".to_owned(),
            required_scope: String::new(),
            clock_skew: None,
            keys: Keys::default(),
            audiences: Vec::new(),
            issuer: None,
        }
    }
}
impl Rules {
    /// Takes the options of a `sasl.jaas.config`.
    pub(crate) fn take_options(&mut self, options: &BTreeMap<String, String>) -> Result<(), String> {
        for (name, value) in options {
            match name.as_str() {
                "unsecuredValidatorPrincipalClaimName" => self.principal_claim.clone_from(value),
                "unsecuredValidatorScopeClaimName" => self.scope_claim.clone_from(value),
                "unsecuredValidatorRequiredScope" => self.required_scope.clone_from(value),
                "unsecuredValidatorAllowableClockSkewMs" => self.clock_skew = Some(skew(value)?),
                _ => {}
            }
        }
        Ok(())
    }
    /// Sets an option for signed tokens; false when it is none of these.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "millstream.oauthbearer.secret" => self.keys.set_secret(value),
            "millstream.oauthbearer.public.key" => self.keys.set_public_key(value)?,
            "sasl.oauthbearer.expected.audience" => {
                self.audiences = value.split(',').map(|part| part.trim().to_owned()).collect();
            }
            "sasl.oauthbearer.expected.issuer" => self.issuer = Some(value.to_owned()),
            "sasl.oauthbearer.sub.claim.name" => value.clone_into(&mut self.principal_claim),
            "sasl.oauthbearer.scope.claim.name" => value.clone_into(&mut self.scope_claim),
            "sasl.oauthbearer.clock.skew.seconds" => {
                let seconds = value.parse().map_err(|_| format!("{key} cannot be `{value}`"))?;
                self.clock_skew = Some(Duration::from_secs(seconds));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
    /// Whether a token holds now.
    pub(super) fn check(&self, token: &Token, now: Timestamp) -> Result<(), Fault> {
        let skew = self.allowed_skew();
        let is_issued = token.issued_at.is_none_or(|at| millis(at) <= (now + skew).as_millis());
        let is_current = token.expires() + skew > now;
        let is_consistent = token.issued_at.is_none_or(|at| token.expiration > at);
        if !(is_issued && is_current && is_consistent && self.is_meant(token)) {
            return Err(Fault::InvalidToken);
        }
        let mut required = self.required_scope.split_whitespace();
        if required.all(|scope| token.scopes.iter().any(|granted| granted == scope)) {
            Ok(())
        } else {
            Err(Fault::InsufficientScope(self.required_scope.clone()))
        }
    }
    /// How far the issuer's clock may be from this one: Kafka's two validators differ in it.
    fn allowed_skew(&self) -> Duration {
        let default = if self.keys.are_given() { SIGNED_SKEW } else { Duration::ZERO };
        self.clock_skew.unwrap_or(default)
    }
    /// Whether it was issued by whom, and for whom, it should be.
    fn is_meant(&self, token: &Token) -> bool {
        let is_for_us = self.audiences.is_empty() || token.audiences.iter().any(|each| self.audiences.contains(each));
        is_for_us && (self.issuer.is_none() || token.issuer == self.issuer)
    }
}
fn skew(value: &str) -> Result<Duration, String> {
    let millis = value.parse().map_err(|_| format!("unsecuredValidatorAllowableClockSkewMs cannot be `{value}`"));
    millis.map(Duration::from_millis)
}
