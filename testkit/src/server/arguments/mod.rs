//! The flags of a cluster as a process, and its life: start, one line that says it is ready, end.

mod error;
mod flags;
mod sense;
mod values;

pub use error::{NotStarted, ServeError};

use super::control::ControlServer;
use crate::{TestCluster, TestClusterBuilder};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use flags::Flags;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;

/// What these flags are a command of, where they are not a program's.
const SUBCOMMAND: &str = "broker";

/// The flags of a cluster as a process, with their help: those of `millstream broker` and of `millstream-broker`.
///
/// Flags that do nothing beside each other are an error of the command line, as one that cannot be read is.
#[derive(Debug, Clone)]
pub struct BrokerArguments(Flags);

impl Args for BrokerArguments {
    fn augment_args(command: Command) -> Command {
        let command = Flags::augment_args(command);
        let program = if command.get_name() == SUBCOMMAND { "millstream broker" } else { "millstream-broker" };
        let examples = flags::EXAMPLES.replace("PROGRAM", program);
        command.about(flags::ABOUT).long_about(flags::LONG_ABOUT).after_long_help(examples)
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
impl FromArgMatches for BrokerArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }
    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        let flags = Flags::from_arg_matches_mut(matches)?;
        match flags.check() {
            Ok(()) => Ok(Self(flags)),
            Err(reason) => Err(clap::Error::raw(ErrorKind::ArgumentConflict, reason)),
        }
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl BrokerArguments {
    /// Whether it is to end with the process that started it.
    #[must_use]
    pub fn ends_with_parent(&self) -> bool {
        self.0.with_parent
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
        let started = self.start().await;
        let (_cluster, _control) = started.map_err(|source| ServeError::Start { brokers: self.0.brokers, source })?;
        stop.await.map_err(ServeError::Stop)
    }
    async fn start(&self) -> Result<(Arc<TestCluster>, Option<ControlServer>), NotStarted> {
        if self.0.with_parent && has_no_input() {
            return Err(NotStarted::NoParent);
        }
        let cluster = Arc::new(self.builder().try_start()?);
        self.write_certificates(&cluster)?;
        let control = match self.0.control_port {
            None => None,
            Some(port) => {
                let server = ControlServer::start(Arc::clone(&cluster), port).await;
                Some(server.map_err(|source| NotStarted::Control { port, source })?)
            }
        };
        let url = control.as_ref().map(ControlServer::url);
        if let Some(limit) = super::files::for_connections() {
            cluster.limit_connections(limit);
        }
        self.announce(&cluster, url.as_deref()).map_err(NotStarted::Ready)?;
        Ok((cluster, control))
    }
    fn builder(&self) -> TestClusterBuilder {
        let flags = &self.0;
        let mut builder = TestCluster::builder().brokers(usize::from(flags.brokers)).host(flags.host).port(flags.port);
        builder = builder.racks(flags.racks.iter().map(String::as_str));
        if let Some((host, port)) = &flags.advertise {
            builder = builder.advertise(host, *port);
        }
        builder = flags.listeners.iter().fold(builder, |builder, (name, protocol)| builder.listener(name, *protocol));
        // Clients of others are tested with what a real Kafka tells them.
        builder = builder.config("millstream.auto.create.delay.ms", "50");
        builder = flags.settings.iter().fold(builder, |builder, (key, value)| builder.config(key, value));
        builder = flags.topics.iter().cloned().fold(builder, TestClusterBuilder::topic_with);
        builder = flags.users.iter().fold(builder, |builder, (name, password)| builder.user(name, password));
        if !flags.sasl.is_empty() {
            builder = builder.sasl(&flags.sasl);
        }
        if flags.acls {
            builder = builder.acls();
        }
        builder = flags.super_users.iter().fold(builder, |builder, principal| builder.super_user(principal));
        if let Some(release) = &flags.release {
            builder = builder.kafka_version(&release.to_string());
        }
        #[cfg(feature = "tls")]
        if flags.tls.is_some() {
            builder = builder.tls();
        }
        match flags.seed {
            Some(seed) => builder.seed(seed),
            None => builder,
        }
    }
    fn write_certificates(&self, cluster: &TestCluster) -> Result<(), NotStarted> {
        #[cfg(feature = "tls")]
        if let Some(folder) = self.0.certificates() {
            let written = cluster.tls().write_to(folder);
            let failed = |source| NotStarted::Certificates { folder: folder.to_owned(), source };
            written.map_err(failed)?;
        }
        let _ = cluster;
        Ok(())
    }
    fn announce(&self, cluster: &TestCluster, control: Option<&str>) -> io::Result<()> {
        let (bootstrap, listeners) = (cluster.bootstrap_servers(), cluster.listeners());
        let mut out = io::stdout().lock();
        if self.0.json {
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

/// Whether standard input is one that nobody can end; where the system does not tell, it is taken for one that somebody can.
fn has_no_input() -> bool {
    std::fs::read_link("/proc/self/fd/0").is_ok_and(|input| input.as_os_str() == "/dev/null")
}
