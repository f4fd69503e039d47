//! How every command says which Kafka it means.

use crate::failure::Failure;
use clap::Args;
use millstream::client::{Client, ClientBuilder, Properties};
use std::path::PathBuf;

/// Which Kafka, and how to reach it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Connection {
    /// Brokers to ask first: HOST:PORT, or several with commas between. Kafka's key: bootstrap.servers
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: Option<String>,
    /// A properties file with Kafka's keys, as a Java client takes it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One of Kafka's keys; may be repeated, and goes before the file's
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    settings: Vec<(String, String)>,
}

impl Connection {
    /// The keys of all three flags.
    pub(crate) fn properties(&self) -> Result<Properties, Failure> {
        let mut properties = match &self.config {
            Some(path) => Properties::read(path).map_err(millstream::client::Error::from)?,
            None => Properties::default(),
        };
        for (key, value) in &self.settings {
            properties.insert(key, value);
        }
        if let Some(bootstrap) = &self.bootstrap {
            properties.insert("bootstrap.servers", bootstrap);
        }
        if properties.value_of("bootstrap.servers").is_none() {
            return Err(Failure::because(
                "no Kafka to ask: give --bootstrap HOST:PORT, or bootstrap.servers in --config FILE or --set",
            ));
        }
        Ok(properties)
    }
    /// Whether a Kafka is named at all.
    pub(crate) fn is_given(&self) -> bool {
        self.bootstrap.is_some()
            || self.config.is_some()
            || self.settings.iter().any(|(key, _)| key == "bootstrap.servers")
    }
    /// The same settings, for another address.
    pub(crate) fn at(&self, bootstrap: &str) -> Self {
        Self { bootstrap: Some(bootstrap.to_owned()), ..self.clone() }
    }
    /// The flags that say the same to another process of this program.
    pub(crate) fn arguments(&self) -> Vec<std::ffi::OsString> {
        let mut arguments = Vec::new();
        if let Some(bootstrap) = &self.bootstrap {
            arguments.extend(["--bootstrap".into(), bootstrap.into()]);
        }
        if let Some(config) = &self.config {
            arguments.extend(["--config".into(), config.into()]);
        }
        for (key, value) in &self.settings {
            arguments.extend(["--set".into(), format!("{key}={value}").into()]);
        }
        arguments
    }
    /// The options of a client.
    pub(crate) fn client(&self) -> Result<ClientBuilder, Failure> {
        Ok(Client::from_properties(&self.properties()?))
    }
}

pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not KEY=VALUE, as in linger.ms=20")),
    }
}
