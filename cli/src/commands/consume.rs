//! `millstream consume`: records to standard output.

use crate::connection::Connection;
use crate::failure::Failure;
use crate::shutdown::signalled;
use clap::Args;
use millstream::TopicPartition;
use millstream::client::{Client, Consumer, OffsetReset, OffsetSpec, RecordRef, Records};
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Prints a topic's records, a line each: key, tab, value. Bytes that are not text are shown with U+FFFD.
///
/// Without a group it reads all partitions, from their ends unless told otherwise. With a group it reads its share from the group's
/// committed offsets, and commits what it has printed. Ends on SIGINT or SIGTERM, or after --max records.
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
        let reset = if self.from_beginning { OffsetReset::Earliest } else { OffsetReset::Latest };
        let mut properties = self.connection.properties()?;
        if let Some(group) = &self.group {
            properties.insert("group.id", group);
            let builder = Consumer::from_properties(&properties).auto_offset_reset(reset);
            // What is committed is what was printed, also with --max.
            return Ok(builder.enable_auto_commit(false).topics([self.topic.as_str()]).build().await?);
        }
        let client = Client::from_properties(&properties).build().await?;
        let mut consumer = client.consumer().auto_offset_reset(reset).build().await?;
        let partitions = self.partitions(&client).await?;
        consumer.assign(partitions.clone());
        for partition in partitions {
            let place = if self.from_beginning { OffsetSpec::Earliest } else { OffsetSpec::Latest };
            consumer.seek(partition, place)?;
        }
        Ok(consumer)
    }

    async fn partitions(&self, client: &Client) -> Result<Vec<TopicPartition>, Failure> {
        let described = client.admin().topics().describe([self.topic.as_str()]).await?.all()?;
        let partitions = described.into_values().flat_map(|topic| topic.partitions);
        Ok(partitions.map(|each| TopicPartition::new(self.topic.as_str(), each.partition)).collect())
    }

    async fn print_all(&self, consumer: &mut Consumer) -> Result<(), Failure> {
        let mut left = self.max.unwrap_or(u64::MAX);
        while left > 0 {
            let records = consumer.poll().await?;
            let printed = self.print(&records, &mut left)?;
            if self.group.is_some() {
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
