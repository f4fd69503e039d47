//! The program of the kill tests: sums per key with a store of one's choice, sent on by wall clock.
//!
//! ```text
//! millstream-sums --bootstrap HOST:PORT --application-id ID --state-dir DIR [--store plain|timestamped] [--memory] [--no-changelog]
//!                 [--set KEY=VALUE]…
//! ```
//! It reads `ID-numbers` (UTF-8 keys, 8-byte longs) and writes what its store has to `ID-sums` every 50 ms; a store that is empty has
//! its task do, and commit, nothing until there is input. Lines on standard output:
//! `state RUNNING` and the like, `restored N` whenever all tasks run, `sum KEY N` when a store has a new sum, and `stopped at step-3`
//! where `MILLSTREAM_STOP_AT` says so. Its log goes to standard error. It closes cleanly when standard input ends.

use futures_core::Stream;
use millstream::{Schedule, State, prelude::*, stores};
use std::collections::HashMap;
use std::future::poll_fn;
use std::io::Read;
use std::pin::pin;
use std::time::Duration;

/// Sums, in either kind of store.
struct Sums<S> {
    sums: S,
    output: String,
    /// What was printed last.
    printed: HashMap<String, i64>,
    /// The next look at the store, if one is to come.
    look: Option<Schedule>,
}

impl<S> Sums<S> {
    fn new(sums: S, output: &str) -> Self {
        Self { sums, output: output.to_owned(), printed: HashMap::new(), look: None }
    }
}

impl<S: SumStore> Sums<S> {
    fn look_often(&mut self, ctx: &mut Context<'_, Self>) {
        self.look.get_or_insert_with(|| ctx.schedule(Duration::from_millis(50), PunctuationType::WallClockTime));
    }
}

/// What the two kinds have in common here.
#[expect(clippy::ptr_arg, reason = "stores take keys as they are")]
trait SumStore: Send + 'static {
    fn sum(&self, key: &String) -> Result<Option<i64>, stores::StoreError>;
    fn set(&mut self, key: &String, sum: i64, time: Timestamp) -> Result<(), stores::StoreError>;
    fn sums(&self) -> Result<Vec<(String, i64)>, stores::StoreError>;
}

impl SumStore for KeyValueStore<String, i64> {
    fn sum(&self, key: &String) -> Result<Option<i64>, stores::StoreError> {
        self.get(key)
    }
    fn set(&mut self, key: &String, sum: i64, _time: Timestamp) -> Result<(), stores::StoreError> {
        self.put(key, &sum)
    }
    fn sums(&self) -> Result<Vec<(String, i64)>, stores::StoreError> {
        self.all().collect()
    }
}

impl SumStore for stores::TimestampedStore<String, i64> {
    fn sum(&self, key: &String) -> Result<Option<i64>, stores::StoreError> {
        self.get(key)
    }
    fn set(&mut self, key: &String, sum: i64, time: Timestamp) -> Result<(), stores::StoreError> {
        self.put(key, &sum, time)
    }
    fn sums(&self) -> Result<Vec<(String, i64)>, stores::StoreError> {
        self.all().collect()
    }
}

impl<S: SumStore> Processor for Sums<S> {
    type In = Record<String, i64>;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        self.look_often(ctx);
        Ok(())
    }

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        self.look_often(ctx);
        let sum = self.sums.sum(&record.key)?.unwrap_or(0) + record.value;
        Ok(self.sums.set(&record.key, sum, record.timestamp)?)
    }

    fn punctuate(&mut self, _at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let sums = self.sums.sums()?;
        if sums.is_empty() {
            self.look.take().iter().for_each(Schedule::cancel);
        }
        for (key, sum) in sums {
            ctx.send(self.output.as_str(), &key, &sum);
            if self.printed.get(&key) != Some(&sum) {
                println!("sum {key} {sum}");
                self.printed.insert(key, sum);
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Arguments {
    bootstrap: String,
    application_id: String,
    options: Vec<(String, String)>,
    timestamped: bool,
    memory: bool,
    no_changelog: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--bootstrap" => arguments.bootstrap = value()?,
                "--application-id" => arguments.application_id = value()?,
                "--state-dir" => arguments.options.push(("state.dir".to_owned(), value()?)),
                "--store" => arguments.timestamped = value()? == "timestamped",
                "--memory" => arguments.memory = true,
                "--no-changelog" => arguments.no_changelog = true,
                "--set" => {
                    let option = value()?;
                    let (key, value) = option.split_once('=').ok_or(format!("`{option}` is not KEY=VALUE"))?;
                    arguments.options.push((key.to_owned(), value.to_owned()));
                }
                _ => return Err(format!("{word} is not known")),
            }
        }
        Ok(arguments)
    }

    fn topology(&self) -> Result<Topology, TopologyError> {
        let mut topology = Topology::builder();
        let topic = |name: &str| format!("{}-{name}", self.application_id);
        let numbers = topology.add_source::<String, i64>("numbers", topic("numbers").as_str());
        let output = topic("sums");
        if self.timestamped {
            let store = topology.add_state_store(self.store(stores::timestamped("sums")));
            topology.add_processor_with("sum", &numbers, &store, move |sums| Sums::new(sums, &output));
        } else {
            let store = topology.add_state_store(self.store(stores::key_value("sums")));
            topology.add_processor_with("sum", &numbers, &store, move |sums| Sums::new(sums, &output));
        }
        topology.build()
    }

    fn store<S: stores::StateStore>(&self, store: stores::StoreBuilder<S>) -> stores::StoreBuilder<S> {
        let store = if self.memory { store.in_memory() } else { store };
        if self.no_changelog { store.changelog(stores::ChangelogOptions::Off) } else { store }
    }

    fn config(&self) -> StreamsConfig {
        let config = StreamsConfig::new(&self.application_id, &self.bootstrap);
        self.options.iter().fold(config, |config, (key, value)| config.set(key, value))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn,millstream=info".into());
    tracing_subscriber::fmt().with_env_filter(log).with_ansi(false).with_writer(std::io::stderr).init();
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let streams = Streams::start(arguments.topology()?, arguments.config()).await?;
    let watched = streams.clone();
    let watcher = tokio::spawn(async move {
        let mut states = pin!(watched.states());
        while let Some(state) = poll_fn(|cx| states.as_mut().poll_next(cx)).await {
            println!("state {state}");
            if state == State::Running {
                println!("restored {}", watched.metrics().value_of("restore-records-total").unwrap_or(0.0));
            }
        }
    });
    let input_ends = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    streams.run_until(input_ends).await?;
    watcher.await?;
    Ok(())
}
