//! All topics, by name and by id.

pub(crate) mod config;
pub(crate) mod partition;
pub(crate) mod reassignment;
pub(crate) mod topic;
mod wanted;

use super::nodes::Nodes;
use super::settings::Settings;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::{StrBytes, Uuid};
use millstream_protocol::{ErrorCode, NodeId};
use partition::Partition;
use std::collections::{BTreeMap, BTreeSet};
use topic::Topic;

pub use wanted::TestTopic;
#[cfg(feature = "server")]
pub(crate) use wanted::TopicRefusal;

/// Where Kafka keeps groups and committed offsets.
pub(crate) const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// Where Kafka keeps transactional ids.
pub(crate) const TRANSACTIONS_TOPIC: &str = "__transaction_state";

/// Kafka's limit for a topic's name.
const MAX_NAME_LENGTH: usize = 249;

/// A partition by its topic's id: what a topic of the same name made later is not.
pub(crate) type PartitionKey = (Uuid, i32);

/// The topics of the cluster.
#[derive(Debug)]
pub(crate) struct Topics {
    by_name: BTreeMap<StrBytes, Topic>,
    names: HashMap<Uuid, StrBytes>,
    /// Makes ids differ between clusters.
    seed: u64,
    /// How many ids were given out, some to topics that then were not made.
    drafted: u64,
    created: u64,
    /// Of all topics.
    partitions: usize,
    /// Topics that are being made because somebody asked for them.
    pub(crate) awaited: usize,
    /// All names as metrics have them, each with its topic's.
    plain_names: BTreeSet<(String, StrBytes)>,
}
impl Topics {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            by_name: BTreeMap::new(),
            names: HashMap::default(),
            seed,
            drafted: 0,
            created: 0,
            partitions: 0,
            awaited: 0,
            plain_names: BTreeSet::new(),
        }
    }
    pub(crate) fn find(&self, name: &str) -> Option<&Topic> {
        self.by_name.get(name.as_bytes())
    }
    pub(crate) fn find_mut(&mut self, name: &str) -> Option<&mut Topic> {
        self.by_name.get_mut(name.as_bytes())
    }
    /// How many topics there have ever been.
    pub(crate) fn created(&self) -> i64 {
        i64::try_from(self.created).unwrap_or(i64::MAX)
    }
    pub(crate) fn name_of(&self, id: Uuid) -> Option<&StrBytes> {
        self.names.get(&id)
    }
    pub(crate) fn find_id(&self, id: Uuid) -> Option<&Topic> {
        self.find(self.name_of(id)?)
    }
    pub(crate) fn find_id_mut(&mut self, id: Uuid) -> Option<&mut Topic> {
        let name = self.names.get(&id)?.clone();
        self.find_mut(&name)
    }
    pub(crate) fn all(&self) -> impl Iterator<Item = &Topic> {
        self.by_name.values()
    }
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Topic> {
        self.by_name.values_mut()
    }
    /// Adds a topic whose name and layout have been checked.
    pub(crate) fn create(
        &mut self,
        name: &str,
        layout: Vec<Vec<NodeId>>,
        configs: BTreeMap<String, String>,
        settings: &Settings,
        nodes: &Nodes,
    ) -> &Topic {
        let draft = self.draft(name, layout, configs, settings, nodes);
        self.insert(draft)
    }
    /// A topic that is not there yet, with an id that no other has.
    pub(crate) fn draft(
        &mut self,
        name: &str,
        layout: Vec<Vec<NodeId>>,
        configs: BTreeMap<String, String>,
        settings: &Settings,
        nodes: &Nodes,
    ) -> Topic {
        self.drafted += 1;
        let id = Uuid::from_u64_pair(self.seed >> 1, (1 << 63) | self.drafted);
        let name = StrBytes::from_string(name.to_owned());
        let partitions: Vec<Partition> = layout.into_iter().map(|replicas| Partition::new(replicas, nodes)).collect();
        Topic { name, id, partitions, configs, defaults: settings.topic_defaults.clone() }
    }
    pub(crate) fn insert(&mut self, topic: Topic) -> &Topic {
        self.created += 1;
        self.partitions += topic.partitions.len();
        self.plain_names.insert((plain(&topic.name), topic.name.clone()));
        self.names.insert(topic.id, topic.name.clone());
        self.by_name.entry(topic.name.clone()).insert_entry(topic).into_mut()
    }
    pub(crate) fn delete(&mut self, name: &str) -> Option<Topic> {
        let topic = self.by_name.remove(name.as_bytes())?;
        self.names.remove(&topic.id);
        self.plain_names.remove(&(plain(name), topic.name.clone()));
        self.partitions -= topic.partitions.len();
        Some(topic)
    }
    /// Adds partitions to a topic.
    pub(crate) fn extend(&mut self, name: &str, layout: Vec<Vec<NodeId>>, nodes: &Nodes) {
        let Some(topic) = self.by_name.get_mut(name.as_bytes()) else { return };
        self.partitions += layout.len();
        topic.partitions.extend(layout.into_iter().map(|replicas| Partition::new(replicas, nodes)));
    }
    /// How many partitions all topics have.
    pub(crate) fn partition_count(&self) -> usize {
        self.partitions
    }
    /// A topic whose name is the same in metrics, where a dot and an underscore are one.
    pub(crate) fn collides_with(&self, name: &str) -> Option<&StrBytes> {
        let plain = plain(name);
        let (found, other) = self.plain_names.range((plain.clone(), StrBytes::new())..).next()?;
        (*found == plain).then_some(other)
    }
}

/// A topic's name as metrics have it, where a dot and an underscore are the same: no two topics share one.
pub(crate) fn plain(name: &str) -> String {
    name.replace('.', "_")
}

/// Kafka's rules for a topic's name (`Topic.validate`), with its words.
pub(crate) fn check_name(name: &str) -> Result<(), (ErrorCode, String)> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let reason = match name {
        "" => "the empty string is not allowed".to_owned(),
        "." | ".." => format!("'{name}' is not allowed"),
        _ if name.len() > MAX_NAME_LENGTH => {
            format!("the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}")
        }
        _ if !name.chars().all(is_legal) => {
            format!("'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'")
        }
        _ => return Ok(()),
    };
    Err((ErrorCode::INVALID_TOPIC_EXCEPTION, format!("Topic name is invalid: {reason}")))
}

/// How many partitions a request may ask for, as Kafka's controller has it.
pub(crate) const MAX_PARTITIONS: usize = 10_000;

/// Refuses more of these than one request may ask for.
pub(crate) fn check_count(count: usize, of: &str) -> Result<(), (ErrorCode, String)> {
    if count <= MAX_PARTITIONS {
        return Ok(());
    }
    Err((ErrorCode::POLICY_VIOLATION, format!("Excessively large number of {of} per request.")))
}

/// Spreads partitions over the nodes, from the `first` index on.
pub(crate) fn layout(name: &str, first: usize, count: usize, factor: usize, nodes: &Nodes) -> Vec<Vec<NodeId>> {
    (first..first + count).map(|index| nodes.replicas(name, index, factor)).collect()
}
