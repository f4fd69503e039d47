//! Reads a task's changelogs, read_committed, up to P.

use super::{TaskStores, unblock};
use crate::shared::Shared;
use crate::stop_point::{StopPoint, reached};
use crate::{RestoreEvent, StreamsError, StreamsErrorKind};
use millstream_client::OffsetSpec;
use millstream_client::runtime::timeout_at;
use millstream_client::runtime_consumer::{FetchOptions, FetchedPartition, Fetcher};
use millstream_processor_core::restore::{ReadTo, StorePlan};
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::{CrcCheck, RecordError};
use millstream_protocol::{Decompressor, Offset, Timestamp, TopicPartition};
use millstream_state::{ChangelogPosition, ChangelogRecord, StoreError, WriteBatch};
use std::sync::Arc;
use std::time::Duration;

/// One changelog that is being read.
#[derive(Debug)]
struct Reading {
    /// The store, by its place among the task's.
    store: usize,
    next: Offset,
    end: Offset,
    restored: u64,
}

/// Reads what the plans say into the stores; answers P of each store, which is where it stands when nothing is to be read.
pub(super) async fn read(
    shared: &Arc<Shared>,
    stores: &Arc<TaskStores>,
    plans: &[StorePlan],
    since: Timestamp,
) -> Result<Vec<Offset>, StreamsError> {
    let ends = offsets(shared, stores, plans, OffsetSpec::Latest).await?;
    let begins = offsets(shared, stores, plans, OffsetSpec::Earliest).await?;
    let mut positions: Vec<Offset> = plans.iter().map(|plan| plan.from).collect();
    let mut readings = HashMap::default();
    for (at, plan) in plans.iter().enumerate() {
        let Some(partition) = stores.stores[at].changelog.as_ref() else { continue };
        let log_end = ends.get(partition).copied();
        let end = match plan.to {
            ReadTo::Nothing => continue,
            ReadTo::Position(end) => end,
            ReadTo::End => log_end.unwrap_or(plan.from),
        };
        if log_end.is_some_and(|log_end| log_end < end) {
            return Err(lost(stores, at, partition, end, log_end));
        }
        positions[at] = end;
        if plan.from < end {
            let begin = begins.get(partition).copied().unwrap_or(plan.from);
            let next = begin_at(shared, stores, at, plan.from, begin).await?;
            if next < end {
                readings.insert(partition.clone(), Reading { store: at, next, end, restored: 0 });
            }
        }
    }
    if !readings.is_empty() {
        drain(shared, stores, &mut readings, since).await?;
    }
    Ok(positions)
}

/// Where a store begins to read. If the log no longer has what the store has not read, the store begins anew: tombstones may be gone too.
async fn begin_at(
    shared: &Shared,
    stores: &Arc<TaskStores>,
    at: usize,
    from: Offset,
    begin: Offset,
) -> Result<Offset, StreamsError> {
    if from >= begin || from == Offset::new(0) {
        return Ok(from.max(begin));
    }
    let (task, inside) = (stores.task, Arc::clone(stores));
    tracing::warn!(%task, store = stores.stores[at].name, "its changelog begins behind what it has: it is restored anew");
    let cleared = shared.jobs.run(move || inside.stores[at].base.clear()).await;
    let failed =
        |why: Box<dyn std::error::Error + Send + Sync>| StreamsError::state(format!("restore task {task}"), why);
    cleared.ok_or_else(|| failed("the thread for stores has ended".into()))?.map_err(|error| failed(error.into()))?;
    shared.counters.stores_cleared.add(1);
    Ok(begin)
}

/// Where the logs that are read begin or end now; the end counts records of open transactions.
async fn offsets(
    shared: &Shared,
    stores: &TaskStores,
    plans: &[StorePlan],
    spec: OffsetSpec,
) -> Result<HashMap<TopicPartition, Offset>, StreamsError> {
    let read = stores.stores.iter().zip(plans).filter(|(_, plan)| plan.reads());
    let specs: Vec<_> = read.filter_map(|(store, _)| Some((store.changelog.clone()?, spec))).collect();
    let failed =
        |error| StreamsError::client(format!("find where the changelogs of task {} begin and end", stores.task), error);
    let found = super::offsets_of(shared, specs).await.map_err(failed)?;
    Ok(found.into_iter().filter_map(|(partition, end)| Some((partition, end?))).collect())
}

fn lost(
    stores: &TaskStores,
    at: usize,
    partition: &TopicPartition,
    end: Offset,
    log_end: Option<Offset>,
) -> StreamsError {
    let log_end = log_end.map_or(-1, Offset::get);
    let text = format!(
        "restore store `{}` of task {} from {partition}: the last commit reaches up to offset {end}, and the log ends at {log_end}: \
         the changelog has lost data; reset the application, or restore the topic",
        stores.stores[at].name, stores.task
    );
    StreamsError::new(text, StreamsErrorKind::State)
}

/// Reads until each is at its end. While the last stable offset lags behind, transactions of former owners are looked for and ended.
async fn drain(
    shared: &Arc<Shared>,
    stores: &Arc<TaskStores>,
    readings: &mut HashMap<TopicPartition, Reading>,
    since: Timestamp,
) -> Result<(), StreamsError> {
    for (partition, reading) in &*readings {
        let remaining = reading.end.get().saturating_sub(reading.next.get()).unsigned_abs();
        let store = stores.stores[reading.store].name.clone();
        shared.view.tell_restore(&RestoreEvent::Started { store, partition: partition.clone(), remaining });
    }
    let starts = readings.iter().map(|(partition, reading)| (partition.clone(), reading.next)).collect::<Vec<_>>();
    let failed = |error| StreamsError::client(format!("read the changelogs of task {}", stores.task), error);
    let fetcher = Fetcher::start(&shared.client, starts, &FetchOptions::default());
    let mut said = false;
    while !readings.is_empty() {
        let ready =
            timeout_at(shared.runtime().as_ref(), shared.runtime().now() + PATIENCE, fetcher.feed().ready()).await;
        if ready.is_none() {
            let partitions: Vec<TopicPartition> = readings.keys().cloned().collect();
            if !std::mem::replace(&mut said, true) {
                tracing::info!(task = %stores.task, ?partitions, "waits for changelog records whose transactions are not decided");
            }
            unblock::free(shared, partitions).await;
        }
        for fetched in fetcher.feed().take_batches(FETCH_BYTES).map_err(failed)? {
            let Some(mut reading) = readings.remove(&fetched.topic_partition) else { continue };
            let partition = fetched.topic_partition.clone();
            (reading.next, reading.restored) = restore(shared, stores, &reading, fetched, since).await?;
            if reading.next < reading.end {
                readings.insert(partition, reading);
            } else {
                fetcher.feed().remove([&partition]);
                finished(shared, stores, partition, &reading);
            }
        }
    }
    Ok(())
}

fn finished(shared: &Shared, stores: &TaskStores, partition: TopicPartition, reading: &Reading) {
    let store = stores.stores[reading.store].name.clone();
    tracing::info!(task = %stores.task, store, %partition, restored = reading.restored, "restored");
    shared.view.tell_restore(&RestoreEvent::Finished { store, partition, restored: reading.restored });
}

/// Writes what was fetched into the store, on the thread for that; answers how far it is, and how many records were read in all.
async fn restore(
    shared: &Arc<Shared>,
    stores: &Arc<TaskStores>,
    reading: &Reading,
    fetched: FetchedPartition,
    since: Timestamp,
) -> Result<(Offset, u64), StreamsError> {
    let (at, from, end) = (reading.store, reading.next, reading.end);
    let partition = fetched.topic_partition.clone();
    let task = stores.task;
    let (stores, next) = (Arc::clone(stores), fetched.next_offset.min(end));
    let written =
        shared.jobs.run(move || write(&stores, at, &fetched, (from, end), &ChangelogPosition::new(next, since))).await;
    let failed = |why: Box<dyn std::error::Error + Send + Sync>| {
        StreamsError::state(format!("restore task {task} from {partition}"), why)
    };
    let written = written.ok_or_else(|| failed("the thread for stores has ended".into()))?;
    let count = written.map_err(failed)?;
    shared.counters.restored_records.add(count);
    reached(StopPoint::Reading);
    Ok((next, reading.restored + count))
}

fn write(
    stores: &TaskStores,
    at: usize,
    fetched: &FetchedPartition,
    (from, end): (Offset, Offset),
    position: &ChangelogPosition,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let store = &stores.stores[at];
    let (mut batch, mut decompressor, mut count) = (WriteBatch::default(), Decompressor::new(), 0);
    for records in &fetched.batches {
        let decoded =
            records.decode(&mut decompressor, CrcCheck::Check).map_err(|error: RecordError| Box::new(error))?;
        for record in decoded.iter().filter(|record| (from..end).contains(&record.offset)) {
            // Kafka's changelogs have no records without a key; one would be no entry.
            let Some(key) = record.key else { continue };
            store.restoring.push_changelog(&mut batch, &ChangelogRecord::new(key, record.value, record.timestamp));
            count += 1;
        }
    }
    store.base.restore(batch, position).map_err(|error: StoreError| Box::new(error))?;
    Ok(count)
}

const FETCH_BYTES: usize = 4 << 20;
/// How long nothing comes before that is said.
const PATIENCE: Duration = Duration::from_secs(2);
