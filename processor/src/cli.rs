//! A topology as a program. Feature `cli`.

use crate::client::Properties;
use crate::{Streams, StreamsConfig, StreamsError};
use clap::{Args, Parser, Subcommand};
use futures_core::Stream;
use millstream_processor_core::Topology;
use std::error::Error;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::ExitCode;

type Failure = Box<dyn Error + Send + Sync>;

/// Turns a topology into a process with subcommands; exit code 0, or 1 with the failure and its causes on standard error.
///
/// - `run`: runs until SIGINT or SIGTERM (`--bootstrap`, `--application-id`, `--config FILE`, `--set KEY=VALUE`).
/// - `describe`: prints the topology.
///
/// The application's id is the program's name unless it is given.
pub fn main<E>(topology: impl FnOnce() -> Result<Topology, E>) -> ExitCode
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let command = Command::parse();
    match topology().map_err(Into::into).and_then(|topology| command.run(topology)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", with_causes(&*failure));
            ExitCode::FAILURE
        }
    }
}

/// Runs a stream processing application.
#[derive(Debug, Parser)]
#[command(version, about = "A stream processing application on Kafka")]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Runs until SIGINT or SIGTERM, then commits and leaves the group.
    Run(Run),
    /// Prints the topology: sub-topologies, nodes and stores.
    Describe,
}

#[derive(Debug, Args)]
struct Run {
    /// Where the cluster is: `host:port`, several with commas.
    #[arg(long)]
    bootstrap: Option<String>,
    /// The application: names its group, internal topics and state. Default: the program's name.
    #[arg(long)]
    application_id: Option<String>,
    /// A properties file with Kafka's keys.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// An option by Kafka's key, over the file's.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    options: Vec<(String, String)>,
}

impl Command {
    fn run(self, topology: Topology) -> Result<(), Failure> {
        match self.action {
            Action::Describe => {
                print!("{}", topology.describe());
                Ok(())
            }
            Action::Run(run) => {
                log_to_stderr();
                let config = run.config()?;
                let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
                runtime.block_on(until_signal(topology, config))
            }
        }
    }
}

impl Run {
    fn config(&self) -> Result<StreamsConfig, Failure> {
        let properties = self.config.as_ref().map(Properties::read).transpose()?.unwrap_or_default();
        let mut config = StreamsConfig::from_properties(&properties);
        let options = self.options.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let bootstrap = self.bootstrap.iter().map(|servers| ("bootstrap.servers", servers.as_str()));
        let id = self.application_id.iter().map(|id| ("application.id", id.as_str()));
        for (key, value) in options.chain(bootstrap).chain(id) {
            config = config.set(key, value);
        }
        Ok(config.or_application_id(&program_name()))
    }
}

async fn until_signal(topology: Topology, config: StreamsConfig) -> Result<(), Failure> {
    let mut stop = pin!(signal());
    let streams = tokio::select! {
        biased;
        started = Streams::start(topology, config) => started?,
        () = &mut stop => return Ok(()),
    };
    let mut states = streams.states();
    let shown = tokio::spawn(async move {
        while let Some(state) = std::future::poll_fn(|cx| Pin::new(&mut states).poll_next(cx)).await {
            eprintln!("state: {state}");
        }
    });
    let stopped: Result<(), StreamsError> = streams.run_until(stop).await;
    shown.abort();
    Ok(stopped?)
}

/// Listens from the call on, so that a signal that comes while it starts counts.
#[cfg(unix)]
fn signal() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

fn program_name() -> String {
    let program = std::env::args_os().next().map(PathBuf::from);
    let name = program.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "millstream".to_owned())
}

fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into());
    // A program that has set up its own logging keeps it.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
}

/// A failure and why, down to the first cause; what an error already says of its cause is not said twice.
fn with_causes(failure: &(dyn Error + 'static)) -> String {
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(why) = cause {
        let why_text = why.to_string();
        if !text.ends_with(&why_text) {
            text += &format!(": {why_text}");
        }
        cause = why.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str]) -> StreamsConfig {
        let command = Command::try_parse_from([&["app"], arguments].concat()).expect("the arguments are right");
        let Action::Run(run) = command.action else { panic!("it is not `run`") };
        run.config().expect("there is no file")
    }

    #[test]
    fn arguments_become_options() {
        let config = run(&["run", "--bootstrap", "b:1", "--application-id", "sums", "--set", "commit.interval.ms=70"]);
        assert_eq!(config.application_id, "sums");
        assert_eq!(config.options.commit_interval, std::time::Duration::from_millis(70));
        assert!(config.check().is_ok());
    }

    #[test]
    fn program_names_the_application() {
        assert_eq!(run(&["run", "--bootstrap", "b:1"]).application_id, program_name());
    }

    #[test]
    fn unknown_option_suggests_the_nearest() {
        let error =
            run(&["run", "--bootstrap", "b:1", "--set", "commit.intervall.ms=70"]).check().expect_err("it is unknown");
        assert!(error.to_string().contains("did you mean `commit.interval.ms`?"), "{error}");
    }

    #[test]
    fn command_line_is_sound() {
        <Command as clap::CommandFactory>::command().debug_assert();
    }
}
