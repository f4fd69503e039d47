//! The small binary `millstream-broker`: a Kafka cluster for tests in any language, and nothing else.

use clap::Parser;
use millstream_testkit::server::{BrokerArguments, StderrLog, signalled_or_parent_gone};
use std::process::ExitCode;
use tracing_subscriber::filter::LevelFilter;

// Its flags bring their help along.
#[derive(Debug, Parser)]
#[command(name = "millstream-broker", version)]
struct Arguments {
    #[command(flatten)]
    broker: BrokerArguments,
}

fn main() -> ExitCode {
    let Arguments { broker } = Arguments::parse();
    let log = match StderrLog::start() {
        Ok(log) => log,
        Err(error) => return failed(&error),
    };
    let lines = log.lines();
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_ansi(false)
        .with_writer(move || lines.clone())
        .init();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let outcome = runtime.block_on(async {
        let stop = signalled_or_parent_gone(broker.ends_with_parent());
        broker.run(stop).await
    });
    // Standard input may be held by a thread that waits for a line: it is not waited for.
    runtime.shutdown_background();
    drop(log);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    let why = error.source().map(|why| format!(": {why}")).unwrap_or_default();
    eprintln!("millstream-broker: {error}{why}");
    ExitCode::FAILURE
}
