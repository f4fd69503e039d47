//! Brings a task that has come to this process to what is committed, and finds where it goes on.

mod reader;
mod stores;
mod unblock;

pub(crate) use stores::{OpenStore, TaskStores};

use crate::group::Group;
use crate::shared::Shared;
use crate::slot::CommittedState;
use crate::stop_point::{StopPoint, reached};
use crate::{StreamsError, StreamsErrorKind};
use millstream_client::OffsetSpec;
use millstream_client::runtime::sleep_until;
use millstream_processor_core::restore::{Committed, Recovery, RecoveryOrder, StorePlan};
use millstream_processor_core::task::TaskPosition;
use millstream_processor_core::{OffsetReset, TaskId};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A task that can run.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) stores: Arc<TaskStores>,
    pub(crate) committed: CommittedState,
}

/// What a recovery is of.
#[derive(Debug)]
pub(crate) struct Recovering {
    pub(crate) task: TaskId,
    pub(crate) inputs: Vec<TopicPartition>,
    pub(crate) folder: PathBuf,
    /// Stores that are open already: the task was here, and its lane was fenced.
    pub(crate) stores: Option<Arc<TaskStores>>,
}

/// Recovers a task. May be dropped at any moment, and begun again.
pub(crate) async fn recover(
    shared: Arc<Shared>,
    group: Group,
    recovering: Recovering,
) -> Result<Recovered, StreamsError> {
    let Recovering { task, inputs, .. } = &recovering;
    let stores = open(&shared, &recovering).await?;
    let mut recovery = Recovery::new(stores.facts());
    let mut order = RecoveryOrder::Fetch;
    let mut positions = Vec::new();
    let (committed, since) = loop {
        let now = shared.wall_clock();
        order = match order {
            RecoveryOrder::Fetch => {
                let committed = group.committed(*task, inputs).await?;
                reached(StopPoint::Fetched);
                recovery.fetched(now, committed)
            }
            RecoveryOrder::Restore(plans) => {
                positions = restore(&shared, &stores, plans, now).await?;
                reached(StopPoint::Restored);
                recovery.restored(&positions)
            }
            RecoveryOrder::Run(committed) => break (committed, now),
            other => return Err(unknown(*task, &other)),
        };
    };
    adopt(&shared, &stores, &committed, positions.clone(), since).await?;
    let positions_of_inputs = starts(&shared, *task, inputs, &committed).await?;
    Ok(Recovered { stores, committed: CommittedState { positions: positions_of_inputs, changelog_ends: positions } })
}

async fn open(shared: &Arc<Shared>, recovering: &Recovering) -> Result<Arc<TaskStores>, StreamsError> {
    if let Some(stores) = &recovering.stores {
        return Ok(Arc::clone(stores));
    }
    let task = recovering.task;
    let mut looks = 0_u32;
    loop {
        let (folder, inside) = (recovering.folder.clone(), Arc::clone(shared));
        let opened = shared.jobs.run(move || TaskStores::open(&inside, task, &folder)).await;
        match opened.unwrap_or_else(|| Err(gone(task))) {
            // The task was here before, and a record of it is still in a processor, however long that takes.
            Err(error) if error.is_of_locked_store() => {
                if looks.is_multiple_of(LOOKS) {
                    tracing::info!(%task, "its stores are still in use here, by a record that is being processed");
                }
                looks = looks.wrapping_add(1);
                sleep_until(shared.runtime().as_ref(), shared.runtime().now() + BETWEEN_LOOKS).await;
            }
            opened => return opened.map(Arc::new),
        }
    }
}

async fn restore(
    shared: &Arc<Shared>,
    stores: &Arc<TaskStores>,
    plans: Vec<StorePlan>,
    since: Timestamp,
) -> Result<Vec<Offset>, StreamsError> {
    let (inside, settled) = (Arc::clone(stores), plans.clone());
    let cleared = shared.jobs.run(move || inside.settle(&settled)).await;
    shared.counters.stores_cleared.add(cleared.unwrap_or_else(|| Err(gone(stores.task)))?);
    reader::read(shared, stores, &plans, since).await
}

/// The stores are what was committed: they say so, so that a restart reads nothing.
async fn adopt(
    shared: &Arc<Shared>,
    stores: &Arc<TaskStores>,
    committed: &Committed,
    positions: Vec<Offset>,
    since: Timestamp,
) -> Result<(), StreamsError> {
    let Some(commit) = committed.commit() else { return Ok(()) };
    shared.numbers.raise(commit);
    let inside = Arc::clone(stores);
    let adopted = shared.jobs.run(move || inside.adopt(commit, &positions, since)).await;
    adopted.unwrap_or_else(|| Err(gone(stores.task)))
}

/// What the cluster answers to these; it is not asked for nothing.
async fn offsets_of(
    shared: &Shared,
    specs: Vec<(TopicPartition, OffsetSpec)>,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, millstream_client::Error> {
    if specs.is_empty() {
        return Ok(BTreeMap::new());
    }
    Ok(shared.client.admin().topics().offsets(specs).await?.all()?.into_iter().collect())
}

/// Where the inputs are read from: as committed, or as the reset policy says.
async fn starts(
    shared: &Shared,
    task: TaskId,
    inputs: &[TopicPartition],
    committed: &Committed,
) -> Result<Vec<TaskPosition>, StreamsError> {
    let without = inputs.iter().zip(committed.inputs()).filter(|(_, committed)| committed.is_none());
    let specs = without.map(|(input, _)| Ok((input.clone(), reset(shared, task, input)?)));
    let specs: Vec<(TopicPartition, OffsetSpec)> = specs.collect::<Result<_, StreamsError>>()?;
    let failed = |error| StreamsError::client(format!("find where task {task} begins"), error);
    let found = offsets_of(shared, specs.clone()).await.map_err(failed)?;
    let after_the_last = |(partition, offset): (&TopicPartition, &Option<Offset>)| {
        offset.is_none().then(|| (partition.clone(), OffsetSpec::Latest))
    };
    let specs: Vec<_> = found.iter().filter_map(after_the_last).collect();
    let ends = offsets_of(shared, specs).await.map_err(failed)?;
    let position =
        |(input, committed): (&TopicPartition, &Option<millstream_processor_core::restore::CommittedInput>)| {
            let (next, time) = match committed {
                Some(committed) => (Some(committed.offset), Some(committed.partition_time)),
                None => (found.get(input).copied().flatten().or_else(|| ends.get(input).copied().flatten()), None),
            };
            TaskPosition::new(input.clone(), next, time.filter(|time| *time != Timestamp::NONE))
        };
    Ok(inputs.iter().zip(committed.inputs()).map(position).collect())
}

fn reset(shared: &Shared, task: TaskId, input: &TopicPartition) -> Result<OffsetSpec, StreamsError> {
    let sources = shared.topology.source_topics(&shared.application_id);
    let of_source = sources.into_iter().find(|(topic, _)| *topic == input.topic).and_then(|(_, reset)| reset);
    match of_source.unwrap_or(shared.options.auto_offset_reset.0) {
        OffsetReset::Earliest => Ok(OffsetSpec::Earliest),
        OffsetReset::Latest => Ok(OffsetSpec::Latest),
        OffsetReset::ByDuration(back) => Ok(OffsetSpec::Since(shared.wall_clock() - back)),
        _ => {
            let text = format!(
                "find where task {task} begins: nothing is committed for {input}, and `auto.offset.reset` is `none`"
            );
            Err(StreamsError::new(text, StreamsErrorKind::Client))
        }
    }
}

fn gone(task: TaskId) -> StreamsError {
    StreamsError::state(format!("recover task {task}"), "the thread for stores has ended")
}

fn unknown(task: TaskId, order: &RecoveryOrder) -> StreamsError {
    StreamsError::new(format!("recover task {task}: {order:?} is not known here"), StreamsErrorKind::State)
}

/// Every so many looks at a store that is still in use, that is said.
const LOOKS: u32 = 500;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
