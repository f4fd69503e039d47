//! A task's stores: opened, and brought to what recovery decides.

use crate::StreamsError;
use crate::shared::Shared;
use millstream_processor_core::restore::{BaseVerdict, Mark, StateSource, StoreFacts, StorePlan};
use millstream_processor_core::{StoreInfo, TaskId};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use millstream_state::{
    Applied, ChangelogPosition, CommitId, JournalOptions, JournaledStore, LayeredStore, Medium, MemoryStore,
    OrderedStore, Prepared, RecordScope, StoreError,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A task's stores, open, in the order of its sub-topology. Dropping it closes them.
#[derive(Debug)]
pub(crate) struct TaskStores {
    pub(crate) task: TaskId,
    pub(crate) stores: Vec<OpenStore>,
}

/// One store.
#[derive(Debug)]
pub(crate) struct OpenStore {
    pub(crate) name: String,
    pub(crate) base: Arc<dyn OrderedStore>,
    /// The task's partition of its changelog, if it has one.
    pub(crate) changelog: Option<TopicPartition>,
    /// Writes changelog records in the store's form.
    pub(crate) restoring: LayeredStore,
    delete_retention: Duration,
}

impl TaskStores {
    /// Opens a task's stores. Blocks: journals are read.
    pub(crate) fn open(shared: &Shared, task: TaskId, folder: &Path) -> Result<Self, StreamsError> {
        let subtopology =
            shared.topology.subtopologies().iter().find(|subtopology| subtopology.id() == task.subtopology);
        let infos = subtopology.map(|subtopology| subtopology.stores()).unwrap_or_default();
        let open = |info: &StoreInfo| {
            let opened = OpenStore::open(shared, task, info, folder);
            opened.map_err(|error| StreamsError::state(format!("open store `{}` of task {task}", info.name()), error))
        };
        Ok(Self { task, stores: infos.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// What recovery asks.
    pub(crate) fn facts(&self) -> Vec<StoreFacts> {
        self.stores.iter().map(OpenStore::facts).collect()
    }

    /// Decides prepared batches and empties bases, as planned; answers how many were emptied. Blocks.
    pub(crate) fn settle(&self, plans: &[StorePlan]) -> Result<u64, StreamsError> {
        let mut cleared = 0;
        for (store, plan) in self.stores.iter().zip(plans) {
            let settled = store.settle(self.task, plan);
            cleared += u64::from(settled.map_err(|error| self.failed("recover", store, error))?);
        }
        Ok(cleared)
    }

    /// Notes that the stores now equal a commit. Blocks.
    pub(crate) fn adopt(&self, commit: CommitId, positions: &[Offset], since: Timestamp) -> Result<(), StreamsError> {
        for (store, position) in self.stores.iter().zip(positions) {
            let is_there = store.base.applied().is_some_and(|applied| applied.commit == Some(commit));
            if !is_there {
                let position = ChangelogPosition::new(*position, since);
                store.base.adopt(commit, &position).map_err(|error| self.failed("recover", store, error))?;
            }
        }
        Ok(())
    }

    fn failed(&self, doing: &str, store: &OpenStore, error: StoreError) -> StreamsError {
        StreamsError::state(format!("{doing} store `{}` of task {}", store.name, self.task), error)
    }
}

impl OpenStore {
    fn open(shared: &Shared, task: TaskId, info: &StoreInfo, folder: &Path) -> Result<Self, StoreError> {
        let base: Arc<dyn OrderedStore> = match info.medium() {
            Medium::Memory => Arc::new(MemoryStore::new(info.name())),
            _ => Arc::new(JournaledStore::open(
                Arc::clone(&shared.fs),
                &folder.join(info.name()),
                info.name(),
                JournalOptions::default(),
            )?),
        };
        let topic = info.changelog_topic(&shared.application_id);
        let retention = topic.as_ref().and_then(|topic| shared.delete_retention.get(topic)).copied();
        let named = topic.clone().unwrap_or_else(|| info.name().into());
        Ok(Self {
            name: info.name().to_owned(),
            restoring: LayeredStore::new(info.spec().clone(), Arc::clone(&base), named, RecordScope::new()),
            base,
            changelog: topic.map(|topic| TopicPartition::new(topic, task.partition)),
            delete_retention: retention.unwrap_or(Duration::from_secs(24 * 60 * 60)),
        })
    }

    fn facts(&self) -> StoreFacts {
        let source = match self.changelog {
            Some(_) => StateSource::Changelog { delete_retention: self.delete_retention },
            None => StateSource::Nowhere,
        };
        let of = |commit, position: &ChangelogPosition| Mark {
            commit,
            position: position.changelog_end(),
            time: position.time(),
        };
        StoreFacts {
            name: self.name.clone(),
            source,
            mark: self.base.applied().map(|Applied { commit, position, .. }| of(commit, &position)),
            prepared: self
                .base
                .prepared()
                .iter()
                .map(|Prepared { commit, position, .. }| of(Some(*commit), position))
                .collect(),
        }
    }

    /// True if what was in it is gone.
    fn settle(&self, task: TaskId, plan: &StorePlan) -> Result<bool, StoreError> {
        for Prepared { commit, .. } in self.base.prepared() {
            if plan.applies == Some(commit) { self.base.apply(commit)? } else { self.base.discard(commit)? }
        }
        let store = &self.name;
        match plan.base {
            BaseVerdict::Keep => return Ok(false),
            BaseVerdict::StartsEmpty => {
                tracing::warn!(%task, store, "its changelog is off and nothing is left of its state here: it starts empty");
                return Ok(true);
            }
            BaseVerdict::ClearForeign => {
                tracing::warn!(%task, store, "its changelog is off and the task has run elsewhere meanwhile: it starts empty");
            }
            BaseVerdict::ClearTooOld => {
                tracing::info!(%task, store, "it is older than its changelog keeps tombstones: it is restored from the beginning");
            }
            BaseVerdict::ClearAhead => {
                tracing::warn!(%task, store, "it is ahead of what is committed (offsets were reset?): it is restored from the beginning");
            }
        }
        self.base.clear().map(|()| true)
    }
}
