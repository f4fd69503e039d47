//! `millstream broker`: the embedded cluster, for tests in any language.

use crate::failure::Failure;
use crate::shutdown::signalled_or_parent_gone;
use clap::Args;
use millstream_testkit::TestCluster;
use std::io::Write;

/// Serves an embedded Kafka cluster on loopback until SIGINT or SIGTERM.
///
/// Everything is kept in memory. When it is ready, one line is printed: bootstrap=HOST:PORT. Topics do not appear by being used, unless
/// told to with --set auto.create.topics.enable=true.
#[derive(Debug, Args)]
pub(crate) struct Broker {
    /// The first broker's port; the next ones take the ports after it. 0: any that are free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How many brokers
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    brokers: u16,
    /// A topic that is there from the start: NAME or NAME:PARTITIONS; may be repeated
    #[arg(long = "topic", value_name = "NAME[:PARTITIONS]", value_parser = topic)]
    topics: Vec<(String, usize)>,
    /// A broker option by Kafka's key; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = crate::connection::key_and_value)]
    settings: Vec<(String, String)>,
    /// Prints the ready line as JSON: {"bootstrap":"HOST:PORT"}
    #[arg(long)]
    json: bool,
    /// Ends when standard input closes, too: with the process that started it
    #[arg(long)]
    with_parent: bool,
}

impl Broker {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut builder = TestCluster::builder().brokers(usize::from(self.brokers)).port(self.port);
        builder = builder.config("auto.create.topics.enable", "false");
        for (key, value) in &self.settings {
            builder = builder.config(key, value);
        }
        for (name, partitions) in &self.topics {
            builder = builder.topic(name, *partitions);
        }
        let doing = format!("serve {} broker(s) from port {}", self.brokers, self.port);
        let cluster = builder.try_start().map_err(|error| Failure::new(doing, error))?;
        self.announce(&cluster.bootstrap_servers())?;
        signalled_or_parent_gone(self.with_parent).await.map_err(|error| Failure::new("wait for a signal", error))
    }

    fn announce(&self, bootstrap: &str) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({ "bootstrap": bootstrap }))?;
        } else {
            writeln!(out, "bootstrap={bootstrap}")?;
        }
        out.flush()
    }
}

fn topic(text: &str) -> Result<(String, usize), String> {
    let (name, partitions) = text.split_once(':').unwrap_or((text, "1"));
    match partitions.parse() {
        Ok(count) if count > 0 && !name.is_empty() => Ok((name.to_owned(), count)),
        _ => Err(format!("`{text}` is not NAME or NAME:PARTITIONS, as in orders:12")),
    }
}
