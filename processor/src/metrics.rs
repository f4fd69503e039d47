//! Measurements, under Kafka Streams' names.

use std::sync::atomic::{AtomicU64, Ordering};

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// Kafka's group.
    pub group: &'static str,
    /// Kafka's name.
    pub name: &'static str,
    /// Kafka's tags.
    pub tags: Vec<(&'static str, String)>,
    /// The value.
    pub value: f64,
}

/// All measurements at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics(Vec<Metric>);

impl Metrics {
    /// Each.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.0.iter()
    }

    /// The value of the first of this name.
    #[must_use]
    pub fn value_of(&self, name: &str) -> Option<f64> {
        self.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }

    /// As text that Prometheus reads: names with underscores after the prefix `kafka_streams_`.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for metric in self.iter() {
            let tags: Vec<String> =
                metric.tags.iter().map(|(key, value)| format!("{}=\"{}\"", underscored(key), escaped(value))).collect();
            text += &format!("kafka_streams_{}{{{}}} {}\n", underscored(metric.name), tags.join(","), metric.value);
        }
        text
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $group:literal, $name:literal;)*) => {
        /// What the runtime counts, for the life of the process.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($(#[$doc])* pub(crate) $field: Counter,)*
        }

        impl Counters {
            /// All of them now.
            pub(crate) fn read(&self, application: &str) -> Metrics {
                let metric = |group, name, counter: &Counter| Metric {
                    group,
                    name,
                    tags: vec![("application-id", application.to_owned())],
                    value: counter.as_f64(),
                };
                Metrics(vec![$(metric($group, $name, &self.$field),)*])
            }
        }
    };
}

counters! {
    /// Changelog records that were read to restore stores. None after a restart that found its files.
    restored_records = "stream-state-updater-metrics", "restore-records-total";
    /// Input records that tasks have processed.
    processed_records = "stream-thread-metrics", "process-total";
    /// Input records that a handler, or a time that is none, left out.
    dropped_records = "stream-task-metrics", "dropped-records-total";
    /// Commits of lanes that are known to be committed.
    commits = "stream-thread-metrics", "commit-total";
    /// Commits that were aborted or fenced.
    aborted_commits = "stream-thread-metrics", "abort-total";
    /// Changelog records written.
    changelog_records = "stream-state-metrics", "changelog-records-total";
    /// Tasks that came.
    tasks_created = "stream-thread-metrics", "task-created-total";
    /// Tasks that went.
    tasks_closed = "stream-thread-metrics", "task-closed-total";
    /// Tasks that were given up, since one of their records took too long.
    tasks_given_up = "stream-thread-metrics", "task-given-up-total";
    /// Stores that were emptied, since what they had could not be brought forward.
    stores_cleared = "stream-state-metrics", "stores-cleared-total";
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Exact up to 2^53, which a counter of records does not reach.
    fn as_f64(&self) -> f64 {
        let value = self.0.load(Ordering::Relaxed);
        let [high, low] = [value >> 32, value & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(u32::MAX));
        f64::from(high) * 4_294_967_296.0 + f64::from(low)
    }
}

fn underscored(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_by_kafkas_names_and_as_prometheus_text() {
        let counters = Counters::default();
        counters.restored_records.add(5_000_000_000);
        let metrics = counters.read("a\"b");
        assert_eq!(metrics.value_of("restore-records-total"), Some(5e9));
        assert_eq!(metrics.value_of("process-total"), Some(0.0));
        let text = metrics.to_prometheus();
        assert!(
            text.starts_with("kafka_streams_restore_records_total{application_id=\"a\\\"b\"} 5000000000\n"),
            "{text}"
        );
    }
}
