//! The topics that an application makes for itself, and how many partitions they get.

use super::graph::changelog_base;
use super::{TopicRef, Topology, internal_name};
use millstream_protocol::TopicName;
use millstream_protocol::hash::HashMap;
use millstream_state::ChangelogOptions;

/// A topic of the application's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InternalTopic {
    /// Its name, with the application's id in front.
    pub name: TopicName,
    /// How many partitions it is to have; it must have as many if it exists.
    pub partitions: usize,
    /// What it is for.
    pub kind: InternalTopicKind,
    /// Its options, by Kafka's keys.
    pub config: Vec<(String, String)>,
}
/// What a topic is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InternalTopicKind {
    /// Between two sub-topologies, so that records of a key meet in one task.
    Repartition,
    /// What a store is restored from.
    Changelog,
}

impl Topology {
    /// The topics that the application is to make. `partition_count` says how many partitions a source topic has.
    ///
    /// A repartition topic has the partitions that the topology says, else the most that any topic read by its writers has; a
    /// changelog topic has one for each task of its store.
    ///
    /// # Errors
    /// The source topics that `partition_count` does not know.
    pub fn internal_topics(
        &self,
        application_id: &str,
        partition_count: impl Fn(&str) -> Option<usize>,
    ) -> Result<Vec<InternalTopic>, Vec<TopicName>> {
        let mut counts = self.source_counts(application_id, partition_count)?;
        self.settle_repartition_counts(application_id, &mut counts);
        Ok(self
            .repartition_topics(application_id, &counts)
            .chain(self.changelog_topics(application_id, &counts))
            .collect())
    }

    fn source_counts(
        &self,
        application_id: &str,
        partition_count: impl Fn(&str) -> Option<usize>,
    ) -> Result<HashMap<TopicName, usize>, Vec<TopicName>> {
        let (mut counts, mut missing) = (HashMap::default(), Vec::new());
        for topic in self.subtopologies().iter().flat_map(|each| each.source_topics()) {
            let name = topic.full_name(application_id);
            match if topic.is_internal { topic.partitions.or(Some(0)) } else { partition_count(name.as_str()) } {
                Some(count) => drop(counts.insert(name, count)),
                None => missing.push(name),
            }
        }
        if missing.is_empty() { Ok(counts) } else { Err(missing) }
    }
    /// One repartition topic may be fed from another, so this goes on until nothing changes.
    fn settle_repartition_counts(&self, application_id: &str, counts: &mut HashMap<TopicName, usize>) {
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for subtopology in self.subtopologies() {
                let most = most_partitions(subtopology.source_topics(), application_id, counts);
                let free = |topic: &&TopicRef| topic.is_internal && topic.partitions.is_none();
                for topic in subtopology.sink_topics().iter().filter(free) {
                    if let Some(count) = counts.get_mut(topic.full_name(application_id).as_str())
                        && *count < most
                    {
                        *count = most;
                        is_settled = false;
                    }
                }
            }
        }
    }
    fn repartition_topics<'a>(
        &'a self,
        application_id: &'a str,
        counts: &'a HashMap<TopicName, usize>,
    ) -> impl Iterator<Item = InternalTopic> + 'a {
        let sources = self.subtopologies().iter().flat_map(|each| each.source_topics());
        sources.filter(|topic| topic.is_internal).map(move |topic| {
            let name = topic.full_name(application_id);
            let partitions = counts.get(&name).copied().unwrap_or(0);
            let config = [
                ("cleanup.policy", "delete"),
                ("retention.ms", "-1"),
                ("segment.bytes", "52428800"),
                ("message.timestamp.type", "CreateTime"),
            ];
            InternalTopic { name, partitions, kind: InternalTopicKind::Repartition, config: owned(&config) }
        })
    }
    fn changelog_topics<'a>(
        &'a self,
        application_id: &'a str,
        counts: &'a HashMap<TopicName, usize>,
    ) -> impl Iterator<Item = InternalTopic> + 'a {
        self.subtopologies().iter().flat_map(move |subtopology| {
            let partitions = most_partitions(subtopology.source_topics(), application_id, counts);
            subtopology.stores().iter().filter_map(move |store| {
                let ChangelogOptions::On(options) = store.changelog() else { return None };
                let mut config = owned(&[("cleanup.policy", "compact"), ("message.timestamp.type", "CreateTime")]);
                config.retain(|(key, _)| !options.iter().any(|(other, _)| other == key));
                config.extend(options.iter().cloned());
                let name = internal_name(application_id, &changelog_base(store.name()));
                Some(InternalTopic { name, partitions, kind: InternalTopicKind::Changelog, config })
            })
        })
    }
}

fn most_partitions(topics: &[TopicRef], application_id: &str, counts: &HashMap<TopicName, usize>) -> usize {
    let count = |topic: &TopicRef| counts.get(topic.full_name(application_id).as_str()).copied();
    topics.iter().filter_map(count).max().unwrap_or(0)
}
fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
