//! The flags of a cluster as a process, and its life: start, one line that says it is ready, end.

use super::control::ControlServer;
use crate::broker::MAX_PARTITIONS;
use crate::{SecurityProtocol, StartError, TestCluster, TestClusterBuilder};
use clap::Args;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
#[cfg(feature = "tls")]
use std::path::PathBuf;
use std::sync::Arc;

/// Serves an embedded Kafka cluster on loopback until SIGINT or SIGTERM.
///
/// Everything is kept in memory. When it is ready, one line is printed: bootstrap=HOST:PORT, control=URL after it if there is a control port, and
/// listener.NAME=HOST:PORT for each listener after the first. Options are Kafka's, with Kafka's defaults: topics appear by being used, unless told
/// not to with --set auto.create.topics.enable=false.
#[derive(Debug, Clone, Args)]
pub struct BrokerArguments {
    /// The first broker's port; the next ones take the ports after it. 0: any that are free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The address to listen on; any but loopback lets other machines in
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Where clients are told to connect, if not where the brokers listen: behind a proxy, in a container. PORT is the first broker's
    #[arg(long, value_name = "HOST[:PORT]", value_parser = place)]
    advertise: Option<(String, Option<u16>)>,
    /// A listener of every broker: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, by a name of its own if it has one; may be repeated. The second
    /// ones' ports follow the first ones'. Default: one, as --sasl and --tls say
    #[arg(long = "listener", value_name = "[NAME=]PROTOCOL", value_parser = listener)]
    listeners: Vec<(String, SecurityProtocol)>,
    /// How many brokers
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    brokers: u16,
    /// The brokers' racks, from the first again when there are more brokers
    #[arg(long, value_name = "RACK", value_delimiter = ',')]
    racks: Vec<String>,
    /// A topic that is there from the start: NAME or NAME:PARTITIONS; may be repeated
    #[arg(long = "topic", value_name = "NAME[:PARTITIONS]", value_parser = topic)]
    topics: Vec<(String, usize)>,
    /// A broker option by Kafka's key; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    settings: Vec<(String, String)>,
    /// A user of SASL; may be repeated
    #[arg(long = "user", value_name = "NAME=PASSWORD", value_parser = key_and_value)]
    users: Vec<(String, String)>,
    /// Clients authenticate by one of these mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER
    #[arg(long, value_name = "MECHANISM", value_delimiter = ',')]
    sasl: Vec<String>,
    /// Connections are encrypted, with certificates of an authority of the cluster's own, which are written into this folder
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FOLDER")]
    tls: Option<PathBuf>,
    /// Rules say who may do what (Kafka's ACLs): without one, nobody but super users may do anything
    #[arg(long)]
    acls: bool,
    /// Who may do everything, as in User:admin; may be repeated
    #[arg(long = "super-user", value_name = "PRINCIPAL")]
    super_users: Vec<String>,
    /// Speaks as this Kafka release, as in 2.8: its APIs, versions and features
    #[arg(long = "as-version", value_name = "RELEASE")]
    release: Option<String>,
    /// Where ids, names and jitter come from: with the same seed they are the same
    #[arg(long)]
    seed: Option<u64>,
    /// Opens a control port (HTTP and JSON) for faults, topology, time, requests and logs; 0: any that is free
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// Prints the ready line as JSON: {"bootstrap":"HOST:PORT","control":"URL","listeners":{"NAME":"HOST:PORT"}}
    #[arg(long)]
    json: bool,
    /// Ends when standard input closes, too: with the process that started it
    #[arg(long)]
    with_parent: bool,
}

/// Why a cluster could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The cluster did not start.
    #[error("serve {brokers} broker(s) from port {port}: {source}")]
    Start {
        /// How many there were to be.
        brokers: u16,
        /// The first one's port.
        port: u16,
        /// Why.
        source: StartError,
    },
    /// The control port could not be opened.
    #[error("open the control port {0}: {1}")]
    Control(u16, io::Error),
    /// The certificates could not be written.
    #[error("write the certificates into {folder}: {source}")]
    Certificates {
        /// The folder.
        folder: String,
        /// Why.
        source: io::Error,
    },
    /// The ready line could not be written, or nobody lets this process wait for signals.
    #[error("say that it is ready and wait for the end: {0}")]
    Io(#[from] io::Error),
}

impl BrokerArguments {
    /// Whether it is to end with the process that started it.
    #[must_use]
    pub fn ends_with_parent(&self) -> bool {
        self.with_parent
    }
    /// Serves until `stop` completes.
    ///
    /// # Errors
    ///
    /// When the cluster or its control port cannot start, or the ready line cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it ends all.
    pub async fn run(self, stop: impl Future<Output = io::Result<()>> + Send) -> Result<(), ServeError> {
        let (brokers, port) = (self.brokers, self.port);
        let started = self.builder().try_start().map_err(|source| ServeError::Start { brokers, port, source });
        let cluster = Arc::new(started?);
        self.write_certificates(&cluster)?;
        let control = match self.control_port {
            None => None,
            Some(port) => {
                let server = ControlServer::start(Arc::clone(&cluster), port).await;
                Some(server.map_err(|error| ServeError::Control(port, error))?)
            }
        };
        self.announce(&cluster, control.as_ref().map(ControlServer::url).as_deref())?;
        stop.await?;
        Ok(())
    }
    fn builder(&self) -> TestClusterBuilder {
        let mut builder = TestCluster::builder().brokers(usize::from(self.brokers)).host(self.host).port(self.port);
        builder = builder.racks(self.racks.iter().map(String::as_str));
        if let Some((host, port)) = &self.advertise {
            builder = builder.advertise(host, *port);
        }
        builder = self.listeners.iter().fold(builder, |builder, (name, protocol)| builder.listener(name, *protocol));
        // Clients of others are tested with what a real Kafka tells them.
        builder = builder.config("millstream.auto.create.delay.ms", "50");
        builder = self.settings.iter().fold(builder, |builder, (key, value)| builder.config(key, value));
        builder = self.topics.iter().fold(builder, |builder, (name, partitions)| builder.topic(name, *partitions));
        builder = self.users.iter().fold(builder, |builder, (name, password)| builder.user(name, password));
        if !self.sasl.is_empty() {
            let mechanisms: Vec<&str> = self.sasl.iter().map(String::as_str).collect();
            builder = builder.sasl(&mechanisms);
        }
        if self.acls {
            builder = builder.acls();
        }
        builder = self.super_users.iter().fold(builder, |builder, principal| builder.super_user(principal));
        if let Some(release) = &self.release {
            builder = builder.kafka_version(release);
        }
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            builder = builder.tls();
        }
        match self.seed {
            Some(seed) => builder.seed(seed),
            None => builder,
        }
    }
    #[cfg(feature = "tls")]
    fn write_certificates(&self, cluster: &TestCluster) -> Result<(), ServeError> {
        let Some(folder) = &self.tls else { return Ok(()) };
        let written = std::fs::create_dir_all(folder).and_then(|()| cluster.tls().write_to(folder));
        written.map(drop).map_err(|source| ServeError::Certificates { folder: folder.display().to_string(), source })
    }
    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "with TLS it has something to do")]
    fn write_certificates(&self, _: &TestCluster) -> Result<(), ServeError> {
        Ok(())
    }
    fn announce(&self, cluster: &TestCluster, control: Option<&str>) -> io::Result<()> {
        let (bootstrap, listeners) = (cluster.bootstrap_servers(), cluster.listeners());
        let mut out = io::stdout().lock();
        if self.json {
            let by_name: BTreeMap<_, _> = listeners.iter().cloned().collect();
            let mut ready = serde_json::json!({ "bootstrap": bootstrap, "listeners": by_name });
            if let Some(control) = control {
                ready["control"] = control.into();
            }
            writeln!(out, "{ready}")?;
        } else {
            let control = control.map(|control| format!(" control={control}")).unwrap_or_default();
            let others = listeners.iter().skip(1).map(|(name, at)| format!(" listener.{name}={at}"));
            writeln!(out, "bootstrap={bootstrap}{control}{}", others.collect::<String>())?;
        }
        out.flush()
    }
}

fn place(text: &str) -> Result<(String, Option<u16>), String> {
    let wrong = || format!("`{text}` is not HOST or HOST:PORT, as in localhost:9092");
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an address without brackets are its own.
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => (text, None),
        Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
        None => (text, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port)) }
}
fn listener(text: &str) -> Result<(String, SecurityProtocol), String> {
    let (name, protocol) = text.split_once('=').unwrap_or((text, text));
    let protocol = protocol.parse::<SecurityProtocol>().map_err(|error| error.to_string())?;
    Ok((name.to_owned(), protocol))
}
fn topic(text: &str) -> Result<(String, usize), String> {
    let (name, partitions) = text.split_once(':').unwrap_or((text, "1"));
    match partitions.parse() {
        Ok(count) if (1..=MAX_PARTITIONS).contains(&count) && !name.is_empty() => Ok((name.to_owned(), count)),
        _ => {
            Err(format!("`{text}` is not NAME or NAME:PARTITIONS with 1 to {MAX_PARTITIONS} of them, as in orders:12"))
        }
    }
}
fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not KEY=VALUE, as in num.partitions=3")),
    }
}
