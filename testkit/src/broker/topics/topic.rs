//! A topic and its options.

use super::partition::Partition;
use super::{OFFSETS_TOPIC, TRANSACTIONS_TOPIC, config};
use crate::broker::bounds::{text_weight, values_weight};
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::BTreeMap;

/// One topic.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: StrBytes,
    pub(crate) id: Uuid,
    pub(crate) partitions: Vec<Partition>,
    /// What was set for this topic.
    pub(crate) configs: BTreeMap<String, String>,
    /// What topics of this cluster inherit.
    pub(crate) defaults: BTreeMap<String, String>,
}
impl Topic {
    pub(crate) fn partition(&self, index: i32) -> Option<&Partition> {
        self.partitions.get(usize::try_from(index).ok()?)
    }
    pub(crate) fn partition_mut(&mut self, index: i32) -> Option<&mut Partition> {
        self.partitions.get_mut(usize::try_from(index).ok()?)
    }
    /// With their indexes.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (i32, &Partition)> {
        (0..).zip(&self.partitions)
    }
    /// An option's value in force.
    pub(crate) fn config(&self, name: &str) -> &str {
        self.configs.get(name).map_or_else(|| self.inherited(name), String::as_str)
    }
    /// An option's value if the topic sets none.
    pub(crate) fn inherited(&self, name: &str) -> &str {
        config::inherited(&self.defaults, name)
    }
    pub(crate) fn max_message_bytes(&self) -> usize {
        self.config("max.message.bytes").parse().unwrap_or(usize::MAX)
    }
    pub(crate) fn has_append_time(&self) -> bool {
        self.config("message.timestamp.type") == "LogAppendTime"
    }
    pub(crate) fn is_compacted(&self) -> bool {
        self.config("cleanup.policy").contains("compact")
    }
    /// About how many bytes it takes without its records.
    pub(crate) fn weight(&self) -> usize {
        let own = size_of::<Self>() + 2 * text_weight(&self.name);
        own + values_weight(&self.configs) + values_weight(&self.defaults) + self.partitions.len() * PARTITION
    }
    pub(crate) fn is_internal(&self) -> bool {
        matches!(self.name.as_str(), OFFSETS_TOPIC | TRANSACTIONS_TOPIC)
    }
}

/// The minima of topics as they were before a request's first change: the controller reckons all of one request by them.
#[derive(Debug, Default)]
pub(crate) struct Minima(BTreeMap<Uuid, MinIsr>);
impl Minima {
    /// That of a topic, which is asked for before any of its partitions is changed.
    pub(crate) fn of(&mut self, topic: &Topic, rules: InSyncRules) -> MinIsr {
        *self.0.entry(topic.id).or_insert_with(|| topic.min_isr(rules))
    }
}

/// How many replicas must be in sync (`min.insync.replicas`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct MinIsr {
    /// What is set.
    pub(crate) configured: usize,
    /// What the controller reckons with, for which all partitions are as large as the first.
    pub(crate) of_controller: usize,
    pub(crate) rules: InSyncRules,
}

/// What Kafka's releases do differently when replicas in sync are few.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InSyncRules {
    /// Who leaves then may lead later (KIP-966), as long as the feature `eligible.leader.replicas.version` is on.
    pub(crate) keeps_eligible: bool,
    /// Since Kafka 3.7 nothing is acknowledged below the minimum, whatever its producer asked for; and the minimum is no more than there are
    /// replicas, so that it can be met.
    pub(crate) is_strict: bool,
}

/// About how many bytes a partition takes without its records: with its replicas and its place in indexes.
const PARTITION: usize = size_of::<Partition>() + 512;

/// DescribeConfigs' numbers for where a value comes from.
const FROM_TOPIC: i8 = 1;
pub(crate) const FROM_CLUSTER: i8 = 3;
const FROM_BROKER: i8 = 4;
const FROM_DEFAULT: i8 = 5;

impl Topic {
    /// Where an option's value comes from, by DescribeConfigs' numbers.
    pub(crate) fn source_of(&self, name: &str) -> i8 {
        match (self.configs.contains_key(name), self.defaults.contains_key(name)) {
            (true, _) => FROM_TOPIC,
            (false, _) if is_set_by_cluster(name) => FROM_CLUSTER,
            (false, true) => FROM_BROKER,
            (false, false) => FROM_DEFAULT,
        }
    }
}

/// With eligible leader replicas (KIP-966), on by default in Kafka 4.1, this option is one of the cluster's.
fn is_set_by_cluster(name: &str) -> bool {
    name == "min.insync.replicas"
}
