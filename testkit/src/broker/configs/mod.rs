//! Options that are set while the cluster runs, for everything that has some but topics: brokers, groups, subscriptions to clients' metrics,
//! loggers. What does not change how this broker behaves is stored and shown all the same.

pub(crate) mod client_metrics;
pub(crate) mod loggers;
pub(crate) mod meant;
pub(crate) mod options;

use crate::broker::bounds::{text_weight, values_weight};
use crate::broker::settings::Settings;
use millstream_protocol::NodeId;
use std::collections::BTreeMap;

/// Values by option.
pub(crate) type Values = BTreeMap<String, String>;

/// What a resource is, with the numbers of AlterConfigs and DescribeConfigs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Topic,
    Broker,
    Logger,
    ClientMetrics,
    Group,
}
impl Kind {
    /// In the order in which ListConfigResources shows them.
    pub(crate) const ALL: [Self; 5] = [Self::Group, Self::ClientMetrics, Self::Logger, Self::Broker, Self::Topic];

    pub(crate) fn numbered(number: i8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
    pub(crate) fn number(self) -> i8 {
        match self {
            Self::Topic => 2,
            Self::Broker => 4,
            Self::Logger => 8,
            Self::ClientMetrics => 16,
            Self::Group => 32,
        }
    }
}

pub(crate) const MIN_ISR: &str = "min.insync.replicas";

/// All that was set.
#[derive(Debug, Default)]
pub(crate) struct Configs {
    /// Of all brokers.
    pub(crate) cluster: Values,
    pub(crate) brokers: BTreeMap<NodeId, Values>,
    pub(crate) groups: BTreeMap<String, Values>,
    pub(crate) client_metrics: BTreeMap<String, Values>,
    /// Levels by node and logger.
    pub(crate) loggers: BTreeMap<NodeId, Values>,
}
impl Configs {
    /// With what eligible leader replicas (KIP-966) set for all brokers.
    pub(crate) fn new(settings: &Settings) -> Self {
        let default = settings.topic_defaults.get(MIN_ISR).cloned();
        let cluster = Values::from([(MIN_ISR.to_owned(), default.unwrap_or_else(|| "1".to_owned()))]);
        Self { cluster, ..Self::default() }
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        let named = self.groups.iter().chain(&self.client_metrics);
        let named = named.map(|(name, values)| size_of::<Values>() + text_weight(name) + values_weight(values));
        let of_nodes = self.brokers.values().chain(self.loggers.values()).chain([&self.cluster]);
        named.chain(of_nodes.map(values_weight)).sum()
    }
    /// Replaces what a resource has; a group or subscription without options is no resource any more.
    pub(crate) fn replace(all: &mut BTreeMap<String, Values>, name: &str, values: Values) {
        if values.is_empty() {
            all.remove(name);
        } else {
            all.insert(name.to_owned(), values);
        }
    }
}
