//! The binary `millstream`: a demo, an embedded broker, and small tools for any Kafka.
//!
//! Exit codes: 0 when what was asked was done, 1 when it failed (the reason and its causes are on standard error), 2 when the command
//! line was wrong.

mod commands;
mod connection;
mod failure;

use clap::{Parser, Subcommand};
use commands::{broker, consume, decode, demo, demo_app, groups, produce, topics};
use failure::Failure;
use millstream_testkit::server::{LogLines, StderrLog};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Kafka from Rust: a demo, an embedded broker, and tools for any Kafka.
#[derive(Debug, Parser)]
#[command(name = "millstream", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Demo),
    Broker(broker::Broker),
    Produce(produce::Produce),
    Consume(consume::Consume),
    Topics(topics::Topics),
    Groups(groups::Groups),
    Decode(decode::Decode),
    #[command(hide = true)]
    DemoApp(demo_app::DemoApp),
}

impl Command {
    async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(command) => command.run().await,
            Self::Broker(command) => command.run().await,
            Self::Produce(command) => command.run().await,
            Self::Consume(command) => command.run().await,
            Self::Topics(command) => command.run().await,
            Self::Groups(command) => command.run().await,
            Self::Decode(command) => command.run(),
            Self::DemoApp(command) => command.run().await,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let log = match StderrLog::start() {
        Ok(log) => log,
        Err(error) => return Failure::new("start the log", error).report(),
    };
    log_to(log.lines());
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new("start the runtime", error).report(),
    };
    let outcome = runtime.block_on(arguments.command.run());
    // Standard input may be held by a thread that waits for a line: it is not waited for.
    runtime.shutdown_background();
    drop(log);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Errors, and what brokers of ours hang up on; or what `RUST_LOG` asks for.
fn log_to(lines: LogLines) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,millstream_testkit=warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(move || lines.clone())
        .init();
}
