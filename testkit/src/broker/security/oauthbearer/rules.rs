//! What is checked of a token: the options of Kafka's unsecured validator.

use super::Fault;
use super::token::{Token, millis};
use millstream_protocol::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    /// `unsecuredValidatorPrincipalClaimName`.
    pub(super) principal_claim: String,
    /// `unsecuredValidatorScopeClaimName`.
    pub(super) scope_claim: String,
    /// `unsecuredValidatorRequiredScope`: what must be there, separated by spaces.
    required_scope: String,
    /// `unsecuredValidatorAllowableClockSkewMs`.
    clock_skew: Duration,
}
impl Default for Rules {
    fn default() -> Self {
        Self {
            principal_claim: "sub".to_owned(),
            scope_claim: "scope".to_owned(),
            required_scope: String::new(),
            clock_skew: Duration::ZERO,
        }
    }
}
impl Rules {
    /// From the options of a `sasl.jaas.config`.
    pub(crate) fn from_options(options: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut rules = Self::default();
        for (name, value) in options {
            match name.as_str() {
                "unsecuredValidatorPrincipalClaimName" => rules.principal_claim.clone_from(value),
                "unsecuredValidatorScopeClaimName" => rules.scope_claim.clone_from(value),
                "unsecuredValidatorRequiredScope" => rules.required_scope.clone_from(value),
                "unsecuredValidatorAllowableClockSkewMs" => rules.clock_skew = skew(value)?,
                _ => {}
            }
        }
        Ok(rules)
    }
    /// Whether a token holds now.
    pub(super) fn check(&self, token: &Token, now: Timestamp) -> Result<(), Fault> {
        let is_issued = token.issued_at.is_none_or(|at| millis(at) <= (now + self.clock_skew).as_millis());
        let is_current = token.expires() + self.clock_skew > now;
        let is_consistent = token.issued_at.is_none_or(|at| token.expiration > at);
        if !(is_issued && is_current && is_consistent) {
            return Err(Fault::InvalidToken);
        }
        let mut required = self.required_scope.split_whitespace();
        if required.all(|scope| token.scopes.iter().any(|granted| granted == scope)) {
            Ok(())
        } else {
            Err(Fault::InsufficientScope(self.required_scope.clone()))
        }
    }
}
fn skew(value: &str) -> Result<Duration, String> {
    let millis = value.parse().map_err(|_| format!("unsecuredValidatorAllowableClockSkewMs cannot be `{value}`"));
    millis.map(Duration::from_millis)
}
