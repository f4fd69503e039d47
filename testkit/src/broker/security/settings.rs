//! The options that have to do with security, by Kafka's keys.

use super::jaas;
use super::mapping::Mapping;
use super::mechanism::Mechanism;
use super::oauthbearer::Rules;
use std::collections::BTreeSet;
use std::time::Duration;

/// Whether clients show a certificate: `ssl.client.auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    None,
    Requested,
    Required,
}

/// What a cluster's security goes by.
#[derive(Debug, Clone)]
pub(crate) struct SecuritySettings {
    /// `sasl.enabled.mechanisms`, in the order given.
    pub(crate) mechanisms: Vec<Mechanism>,
    /// `connections.max.reauth.ms`; none: identities last as long as connections.
    pub(crate) max_reauth: Option<Duration>,
    /// `connection.failed.authentication.delay.ms`.
    pub(crate) failure_delay: Duration,
    /// `sasl.server.max.receive.size`, in bytes.
    pub(crate) max_receive_size: usize,
    /// `super.users`.
    pub(crate) super_users: BTreeSet<String>,
    /// `allow.everyone.if.no.acl.found`.
    pub(crate) allow_everyone_without_acl: bool,
    /// `authorizer.class.name` names one.
    pub(crate) has_authorizer: bool,
    /// `ssl.client.auth`.
    pub(crate) client_auth: ClientAuth,
    /// `ssl.principal.mapping.rules`.
    pub(crate) mapping: Mapping,
    /// From `sasl.jaas.config`, and for signed tokens.
    pub(crate) oauth: Rules,
}

impl Default for SecuritySettings {
    fn default() -> Self {
        Self {
            mechanisms: vec![Mechanism::Plain],
            max_reauth: None,
            failure_delay: Duration::from_millis(100),
            max_receive_size: 524_288,
            super_users: BTreeSet::new(),
            allow_everyone_without_acl: false,
            has_authorizer: false,
            client_auth: ClientAuth::None,
            mapping: Mapping::default(),
            oauth: Rules::default(),
        }
    }
}

impl SecuritySettings {
    /// Sets an option; false when it is none of these.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "sasl.enabled.mechanisms" => self.mechanisms = mechanisms(value)?,
            "connections.max.reauth.ms" => {
                let lifetime = millis(key, value)?;
                self.max_reauth = (!lifetime.is_zero()).then_some(lifetime);
            }
            "connection.failed.authentication.delay.ms" => self.failure_delay = millis(key, value)?,
            "sasl.server.max.receive.size" => self.max_receive_size = value.parse().map_err(|_| wrong(key, value))?,
            "super.users" => self.super_users = users(value),
            "allow.everyone.if.no.acl.found" => {
                self.allow_everyone_without_acl = value.parse().map_err(|_| wrong(key, value))?;
            }
            "authorizer.class.name" => self.has_authorizer = authorizer(value)?,
            "ssl.client.auth" => self.client_auth = client_auth(value).ok_or_else(|| wrong(key, value))?,
            "ssl.principal.mapping.rules" => self.mapping = Mapping::parse(value)?,
            "sasl.jaas.config" => self.oauth.take_options(&jaas::options(value))?,
            _ => return self.oauth.set(key, value),
        }
        Ok(true)
    }
}

fn wrong(key: &str, value: &str) -> String {
    format!("the broker option `{key}` cannot be `{value}`")
}
fn millis(key: &str, value: &str) -> Result<Duration, String> {
    value.parse().map(Duration::from_millis).map_err(|_| wrong(key, value))
}
fn mechanisms(value: &str) -> Result<Vec<Mechanism>, String> {
    let known = |name: &str| {
        let names = Mechanism::ALL.map(Mechanism::name).join(", ");
        Mechanism::find(name)
            .ok_or_else(|| format!("`{name}` is no SASL mechanism of the test cluster; it has {names}"))
    };
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(known).collect()
}
fn users(value: &str) -> BTreeSet<String> {
    value.split(';').map(str::trim).filter(|user| !user.is_empty()).map(str::to_owned).collect()
}
fn authorizer(value: &str) -> Result<bool, String> {
    match value {
        "" => Ok(false),
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer" => Ok(true),
        _ => Err(format!(
            "`authorizer.class.name` cannot be `{value}`: the test cluster has `org.apache.kafka.metadata.authorizer.StandardAuthorizer`"
        )),
    }
}
fn client_auth(value: &str) -> Option<ClientAuth> {
    match value {
        "none" => Some(ClientAuth::None),
        "requested" => Some(ClientAuth::Requested),
        "required" => Some(ClientAuth::Required),
        _ => None,
    }
}
