//! `millstream consume`: records to standard output.

use crate::connection::Connection;
use crate::failure::Failure;
use clap::Args;
use millstream::TopicPartition;
use millstream::client::{Client, Consumer, Properties, RecordRef, Records};
use millstream_testkit::server::signalled;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Kafka's keys that the flags stand for.
const GROUP: &str = "group.id";
const RESET: &str = "auto.offset.reset";

/// Prints a topic's records, a line each: key, tab, value. Bytes that are not text are shown with U+FFFD.
///
/// Without a group it reads all partitions, from their ends unless told otherwise (--from-beginning, auto.offset.reset). With a group
/// (--group, group.id) it reads its share from the group's committed offsets, and commits what it has printed. Ends on SIGINT or SIGTERM,
/// or after --max records.
#[derive(Debug, Args)]
pub(crate) struct Consume {
    /// The topic
    topic: String,
    /// Joins this group and commits
    #[arg(long)]
    group: Option<String>,
    /// Starts at the first record, where no committed offset says otherwise
    #[arg(long)]
    from_beginning: bool,
    /// Ends after this many records
    #[arg(long, value_name = "N")]
    max: Option<u64>,
    /// Prints records as JSON objects with topic, partition, offset, timestamp, key, value and headers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Consume {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut consumer = self.consumer().await?;
        let printed = tokio::select! {
            printed = self.print_all(&mut consumer) => printed,
            signal = signalled() => signal.map_err(|error| Failure::new("wait for a signal", error)),
        };
        consumer.close(Duration::from_secs(5)).await?;
        printed
    }

    async fn consumer(&self) -> Result<Consumer, Failure> {
        let properties = self.settings()?;
        let builder = Consumer::from_properties(&properties);
        if properties.value_of(GROUP).is_some() {
            // What is committed is what was printed, also with --max.
            return Ok(builder.enable_auto_commit(false).topics([self.topic.as_str()]).build().await?);
        }
        let partitions = self.partitions(&Client::from_properties(&properties).build().await?).await?;
        let mut consumer = builder.build().await?;
        consumer.assign(partitions);
        Ok(consumer)
    }

    /// The keys of all flags; `--group` and `--from-beginning` go before what a file says of the same.
    fn settings(&self) -> Result<Properties, Failure> {
        let mut properties = self.connection.properties()?;
        if let Some(group) = &self.group {
            properties.insert(GROUP, group);
        }
        if self.from_beginning {
            properties.insert(RESET, "earliest");
        }
        Ok(properties)
    }

    async fn partitions(&self, client: &Client) -> Result<Vec<TopicPartition>, Failure> {
        let described = client.admin().topics().describe([self.topic.as_str()]).await?.all()?;
        let partitions = described.into_values().flat_map(|topic| topic.partitions);
        Ok(partitions.map(|each| TopicPartition::new(self.topic.as_str(), each.partition)).collect())
    }

    async fn print_all(&self, consumer: &mut Consumer) -> Result<(), Failure> {
        let mut left = self.max.unwrap_or(u64::MAX);
        let is_member = self.settings()?.value_of(GROUP).is_some();
        while left > 0 {
            let records = consumer.poll().await?;
            let printed = self.print(&records, &mut left)?;
            if is_member {
                consumer.commit_offsets(&printed).await?;
            }
        }
        Ok(())
    }

    /// Prints up to `left` records, and gives the offsets after those printed.
    fn print(&self, records: &Records, left: &mut u64) -> std::io::Result<millstream::client::Offsets> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut offsets = millstream::client::Offsets::new();
        for batch in records.partitions() {
            let mut whole = true;
            let mut last = None;
            for record in batch.iter() {
                if *left == 0 {
                    whole = false;
                    break;
                }
                *left -= 1;
                self.print_one(&mut out, &record)?;
                last = Some(record.offset());
            }
            match last {
                Some(_) if whole => offsets.add(batch.topic_partition().clone(), batch.next_offset()),
                Some(offset) => offsets.add(batch.topic_partition().clone(), offset.next()),
                None => {}
            }
        }
        out.flush()?;
        Ok(offsets)
    }

    fn print_one(&self, out: &mut impl Write, record: &RecordRef<'_>) -> std::io::Result<()> {
        if self.json {
            return writeln!(out, "{}", as_json(record));
        }
        if let Some(key) = record.key() {
            write!(out, "{}\t", String::from_utf8_lossy(key))?;
        }
        writeln!(out, "{}", record.value().map_or("null".into(), String::from_utf8_lossy))
    }
}

fn as_json(record: &RecordRef<'_>) -> serde_json::Value {
    let headers: Vec<_> =
        record.headers().map(|header| json!({ "name": header.name, "value": header.value.map(text) })).collect();
    json!({
        "topic": record.topic().as_str(),
        "partition": record.partition().get(),
        "offset": record.offset().get(),
        "timestamp": record.timestamp().as_millis(),
        "key": record.key().map(text),
        "value": record.value().map(text),
        "headers": headers,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        consume: Consume,
    }

    fn settings(flags: &[&str]) -> Properties {
        let line = ["consume", "orders", "--bootstrap", "localhost:9092"].iter().chain(flags);
        Line::parse_from(line).consume.settings().unwrap()
    }

    #[test]
    fn flags_go_before_the_keys_of_a_file() {
        let file = ["--set", "group.id=from-file", "--set", "auto.offset.reset=latest"];
        let all = settings(&file);
        assert_eq!((all.value_of(GROUP), all.value_of(RESET)), (Some("from-file"), Some("latest")));
        let all = settings(&[&file[..], &["--group", "mine", "--from-beginning"]].concat());
        assert_eq!((all.value_of(GROUP), all.value_of(RESET)), (Some("mine"), Some("earliest")));
        let all = settings(&[]);
        assert_eq!((all.value_of(GROUP), all.value_of(RESET)), (None, None));
    }
}
