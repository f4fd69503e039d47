//! The aggregates as they come, read from the start of their topic.

use super::input::Totals;
use crate::commands::demo_app::AGGREGATES;
use crate::failure::Failure;
use millstream::client::{Client, Consumer, OffsetReset, OffsetSpec, Records};
use millstream::{Timestamp, TopicPartition};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How often a line is printed.
const LINE: Duration = Duration::from_millis(500);

/// Reads aggregate-topic and keeps the last sum of each key.
#[derive(Debug)]
pub(super) struct Aggregates {
    consumer: Consumer,
    partitions: Vec<TopicPartition>,
    sums: BTreeMap<String, i64>,
    sent_at: HashMap<String, Timestamp>,
    records: u64,
    start: Instant,
    printed: Instant,
}

impl Aggregates {
    pub(super) async fn open(client: &Client) -> Result<Self, Failure> {
        let topic = client.admin().topics().describe([AGGREGATES]).await?.all()?;
        let partitions: Vec<_> = topic
            .into_values()
            .flat_map(|topic| topic.partitions)
            .map(|each| TopicPartition::new(AGGREGATES, each.partition))
            .collect();
        let mut consumer = client.consumer().auto_offset_reset(OffsetReset::Earliest).build().await?;
        consumer.assign(partitions.clone());
        for partition in &partitions {
            consumer.seek(partition.clone(), OffsetSpec::Earliest)?;
        }
        let now = Instant::now();
        Ok(Self {
            consumer,
            partitions,
            sums: BTreeMap::new(),
            sent_at: HashMap::new(),
            records: 0,
            start: now,
            printed: now,
        })
    }

    pub(super) fn sums(&self) -> &BTreeMap<String, i64> {
        &self.sums
    }
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Shows what comes, for so long.
    pub(super) async fn watch_for(&mut self, time: Duration) -> Result<(), Failure> {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if let Ok(records) = timeout(left, self.consumer.poll()).await {
                self.take(&records?)?;
            }
            self.print()?;
        }
        Ok(())
    }
    /// Shows what comes, until the first aggregates are there.
    pub(super) async fn watch_until_fed(&mut self, records: u64) -> Result<(), Failure> {
        let start = Instant::now();
        while self.sums.is_empty() && records > 0 {
            self.watch_for(Duration::from_millis(50)).await?;
            if start.elapsed() > super::PATIENCE {
                return Err(Failure::because(
                    "no aggregate came in a minute. The application's log may say why: RUST_LOG=info",
                ));
            }
        }
        Ok(())
    }
    /// Shows what comes, until every key has been sent after this time.
    pub(super) async fn watch_until_sent_after(&mut self, time: Timestamp, totals: &Totals) -> Result<(), Failure> {
        let start = Instant::now();
        while !totals.keys().all(|key| self.sent_at.get(key).is_some_and(|sent| *sent > time)) {
            self.watch_for(Duration::from_millis(50)).await?;
            if start.elapsed() > super::PATIENCE {
                return Err(Failure::because("no punctuation followed the last input within a minute"));
            }
        }
        Ok(())
    }
    /// Reads up to where the topic ends now.
    pub(super) async fn read_to_end(&mut self) -> Result<(), Failure> {
        let specs = self.partitions.iter().map(|each| (each.clone(), OffsetSpec::Latest)).collect::<Vec<_>>();
        let ends = self.consumer.resolve_offsets(specs).await?;
        let reached = |consumer: &Consumer| {
            let positions = consumer.positions();
            ends.iter().all(|(partition, end)| {
                let end = end.map_or(0, millstream::protocol::Offset::get);
                end == 0 || positions.of(partition).is_some_and(|position| position.offset.get() >= end)
            })
        };
        while !reached(&self.consumer) {
            if let Ok(records) = timeout(Duration::from_millis(100), self.consumer.poll()).await {
                self.take(&records?)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, records: &Records) -> Result<(), Failure> {
        for record in records {
            let number = record.value().and_then(|value| <[u8; 8]>::try_from(value).ok()).map(i64::from_be_bytes);
            let (Some(key), Some(sum)) = (record.key(), number) else {
                let place = format!("{}-{} at offset {}", record.topic(), record.partition(), record.offset());
                return Err(Failure::because(format!(
                    "{place} is no key with an 8-byte number: who else writes there?"
                )));
            };
            let key = String::from_utf8_lossy(key).into_owned();
            self.sent_at.insert(key.clone(), record.timestamp());
            self.sums.insert(key, sum);
            self.records += 1;
        }
        Ok(())
    }

    fn print(&mut self) -> std::io::Result<()> {
        if self.printed.elapsed() < LINE {
            return Ok(());
        }
        self.printed = Instant::now();
        let some: Vec<_> = self.sums.iter().take(4).map(|(key, sum)| format!("{key} = {sum}")).collect();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{:5.1} s  {} sums: {} …", self.start.elapsed().as_secs_f64(), self.sums.len(), some.join(", "))
    }
}
