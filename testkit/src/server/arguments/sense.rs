//! What flags mean together: one that would do nothing beside the others is refused, with what to add.

use super::flags::Flags;
use crate::{SecurityProtocol, TestTopic};
use std::collections::BTreeSet;

/// Options that have flags of their own, which would count instead.
const OF_FLAGS: [(&str, &str); 3] =
    [("sasl.enabled.mechanisms", "--sasl"), ("super.users", "--super-user"), ("authorizer.class.name", "--acls")];

impl Flags {
    /// Why these flags cannot stand beside each other.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_names()?;
        self.check_topics()?;
        self.check_ports()?;
        self.check_settings()?;
        self.check_tls()?;
        self.check_sasl()?;
        self.check_users()?;
        self.check_rules()
    }
    /// The protocols of all listeners, those that are not named too.
    fn protocols(&self) -> Vec<SecurityProtocol> {
        if !self.listeners.is_empty() {
            return self.listeners.iter().map(|(_, protocol)| *protocol).collect();
        }
        vec![match (!self.sasl.is_empty(), self.certificates().is_some()) {
            (false, false) => SecurityProtocol::Plaintext,
            (false, true) => SecurityProtocol::Ssl,
            (true, false) => SecurityProtocol::SaslPlaintext,
            (true, true) => SecurityProtocol::SaslSsl,
        }]
    }
    fn uses(&self, is_used: fn(SecurityProtocol) -> bool) -> bool {
        self.protocols().into_iter().any(is_used)
    }
    /// The SASL mechanisms, those that are not named too.
    fn mechanisms(&self) -> Vec<&str> {
        match self.setting("sasl.enabled.mechanisms") {
            _ if !self.sasl.is_empty() => self.sasl.clone(),
            Some(named) => named.split(',').map(str::trim).collect(),
            None => vec!["PLAIN"],
        }
    }

    fn check_names(&self) -> Result<(), String> {
        if let Some(name) = repeated(self.topics.iter().map(|topic| &topic.name)) {
            return Err(format!("--topic {name} is there twice; leave one out"));
        }
        if let Some(name) = repeated(self.users.iter().map(|(name, _)| name)) {
            return Err(format!("--user {name}=… is there twice, and a user has one password; leave one out"));
        }
        if self.racks.len() > usize::from(self.brokers) {
            let (racks, brokers) = (self.racks.len(), self.brokers);
            return Err(format!(
                "--racks names {racks} racks for {brokers} broker(s); add --brokers {racks}, or leave racks out"
            ));
        }
        match repeated(self.listeners.iter().map(|(name, _)| name)) {
            Some(name) => Err(format!(
                "two of --listener have the name {name}; give them names of their own, as in --listener OTHER=PLAINTEXT"
            )),
            None => Ok(()),
        }
    }
    fn check_topics(&self) -> Result<(), String> {
        let brokers = usize::from(self.brokers);
        let mut factors = self.topics.iter().filter_map(|topic| Some((topic, topic.replication_factor?)));
        match factors.find(|(_, count)| *count > brokers) {
            Some((TestTopic { name, partitions, .. }, count)) => Err(format!(
                "--topic {name}:{partitions}:{count} asks for {count} replicas, each on a broker of its own, and there are {brokers} broker(s); \
                 add --brokers {count}, or ask for fewer"
            )),
            None => Ok(()),
        }
    }
    fn check_ports(&self) -> Result<(), String> {
        let count = usize::from(self.brokers) * self.listeners.len().max(1);
        let (first, last) = (usize::from(self.port), usize::from(self.port) + count - 1);
        match self.control_port {
            Some(control) if self.port > 0 && (first..=last).contains(&usize::from(control)) => Err(format!(
                "--control-port {control} is a port of the brokers, which --port {first} gives {first} to {last}; choose another, or 0 for any that \
                 is free"
            )),
            _ => Ok(()),
        }
    }
    fn check_settings(&self) -> Result<(), String> {
        let is_given = |flag: &str| match flag {
            "--sasl" => !self.sasl.is_empty(),
            "--super-user" => !self.super_users.is_empty(),
            _ => self.acls,
        };
        match OF_FLAGS.into_iter().find(|(key, flag)| self.setting(key).is_some() && is_given(flag)) {
            Some((key, flag)) => {
                Err(format!("--set {key}=… does nothing beside {flag}, which says the same; leave one out"))
            }
            None => Ok(()),
        }
    }
    fn check_tls(&self) -> Result<(), String> {
        match (self.uses(SecurityProtocol::uses_tls), self.certificates()) {
            (true, None) if cfg!(feature = "tls") => Err(
                "a --listener with SSL or SASL_SSL needs --tls FOLDER, where the certificate is written that clients are to trust; add it"
                    .to_owned(),
            ),
            (false, Some(_)) => Err(
                "--tls does nothing: no --listener uses TLS; make one SSL or SASL_SSL, as in --listener SSL, or leave --listener out"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
    fn check_sasl(&self) -> Result<(), String> {
        if self.uses(SecurityProtocol::uses_sasl) {
            return Ok(());
        }
        if !self.sasl.is_empty() {
            return Err(
                "--sasl does nothing: no --listener uses SASL; make one SASL_PLAINTEXT or SASL_SSL, as in --listener SASL_PLAINTEXT, or leave \
                 --listener out"
                    .to_owned(),
            );
        }
        if !self.users.is_empty() {
            return Err("--user does nothing without SASL; add --sasl SCRAM-SHA-256 (or PLAIN), or a --listener with SASL_PLAINTEXT or SASL_SSL"
                .to_owned());
        }
        Ok(())
    }
    /// Whether somebody can authenticate, and by what was said.
    fn check_users(&self) -> Result<(), String> {
        if !self.uses(SecurityProtocol::uses_sasl) {
            return Ok(());
        }
        let mechanisms = self.mechanisms();
        let has = |prefix: &str| mechanisms.iter().any(|name| name.starts_with(prefix));
        let (takes_tokens, takes_passwords) = (has("OAUTHBEARER"), has("PLAIN") || has("SCRAM"));
        if !self.users.is_empty() && !takes_passwords {
            return Err("--user does nothing with OAUTHBEARER alone, whose tokens say who somebody is; add --sasl SCRAM-SHA-256 (or PLAIN)"
                .to_owned());
        }
        // Where clients come in without a password, they can make users of SCRAM.
        let can_be_made = has("SCRAM") && self.uses(|protocol| !protocol.uses_sasl());
        if self.users.is_empty() && takes_passwords && !takes_tokens && !can_be_made {
            return Err(format!(
                "nobody could authenticate by {}: there are no users; add --user NAME=PASSWORD",
                mechanisms.join(", ")
            ));
        }
        Ok(())
    }
    fn check_rules(&self) -> Result<(), String> {
        let has_authorizer = self.acls || self.setting("authorizer.class.name").is_some_and(|class| !class.is_empty());
        let needs =
            |what: &str| format!("{what} does nothing without rules, since everybody may do everything; add --acls");
        if !has_authorizer && !self.super_users.is_empty() {
            return Err(needs("--super-user"));
        }
        match self.setting("allow.everyone.if.no.acl.found") {
            Some(_) if !has_authorizer => Err(needs("--set allow.everyone.if.no.acl.found=…")),
            _ => Ok(()),
        }
    }
}

fn repeated<'n>(names: impl Iterator<Item = &'n String>) -> Option<&'n String> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
