//! Names of what has none.

use millstream_protocol::hash::{HashMap, HashSet};

/// What an operator does: Kafka's prefix of its number, and our word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    kafka: &'static str,
    ours: &'static str,
}
macro_rules! kinds {
    ($($name:ident = $kafka:literal, $ours:literal;)*) => {
        impl Kind {
            $(pub(super) const $name: Self = Self { kafka: $kafka, ours: $ours };)*
        }
    };
}
kinds! {
    SOURCE = "KSTREAM-SOURCE-", "source";
    SINK = "KSTREAM-SINK-", "to";
    FILTER = "KSTREAM-FILTER-", "filter";
    MAP = "KSTREAM-MAP-", "map";
    MAP_VALUES = "KSTREAM-MAPVALUES-", "map-values";
    FLAT_MAP = "KSTREAM-FLATMAP-", "flat-map";
    FLAT_MAP_VALUES = "KSTREAM-FLATMAPVALUES-", "flat-map-values";
    SELECT_KEY = "KSTREAM-KEY-SELECT-", "select-key";
    PEEK = "KSTREAM-PEEK-", "peek";
    FOR_EACH = "KSTREAM-FOREACH-", "for-each";
    MERGE = "KSTREAM-MERGE-", "merge";
    PROCESS = "KSTREAM-PROCESSOR-", "process";
    PROCESS_VALUES = "KSTREAM-PROCESSVALUES-", "process-values";
    REPARTITION = "KSTREAM-REPARTITION-", "repartition";
    COUNT = "KSTREAM-AGGREGATE-", "count";
    AGGREGATE = "KSTREAM-AGGREGATE-", "aggregate";
    REDUCE = "KSTREAM-REDUCE-", "reduce";
    AGGREGATE_STORE = "KSTREAM-AGGREGATE-STATE-STORE-", "aggregate";
    REDUCE_STORE = "KSTREAM-REDUCE-STATE-STORE-", "reduce";
    TO_STREAM = "KTABLE-TOSTREAM-", "to-stream";
}

/// Who numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Scheme {
    /// Of the last name before, and the kind.
    #[default]
    Derived,
    /// As Kafka Streams: one count for all.
    Kafka,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    scheme: Scheme,
    count: u64,
    taken: HashSet<String>,
    last_of_base: HashMap<String, usize>,
}
impl Names {
    pub(super) fn new(scheme: Scheme) -> Self {
        Self { scheme, ..Self::default() }
    }
    pub(super) const fn scheme(&self) -> Scheme {
        self.scheme
    }
    /// A name for an operator after `anchor`. A name that is given takes a number all the same, as in Kafka Streams.
    pub(super) fn operator(&mut self, kind: Kind, anchor: &str, given: Option<&str>) -> String {
        let number = self.burn();
        match (given, self.scheme) {
            (Some(name), _) => name.to_owned(),
            (None, Scheme::Kafka) => format!("{}{number:010}", kind.kafka),
            (None, Scheme::Derived) => self.derived(&format!("{anchor}-{}", kind.ours)),
        }
    }
    /// A name for a source: that of its topics.
    pub(super) fn source(&mut self, topics: &str, given: Option<&str>) -> String {
        let number = self.burn();
        match (given, self.scheme) {
            (Some(name), _) => name.to_owned(),
            (None, Scheme::Kafka) => format!("{}{number:010}", Kind::SOURCE.kafka),
            (None, Scheme::Derived) => self.derived(topics),
        }
    }
    /// Takes a number for nothing, as Kafka Streams does here and there.
    pub(super) const fn burn(&mut self) -> u64 {
        self.count += 1;
        self.count - 1
    }

    /// The base, or the base with the first number behind it that makes it unique.
    fn derived(&mut self, base: &str) -> String {
        loop {
            let last = self.last_of_base.entry_ref(base).or_default();
            *last += 1;
            let name = if *last == 1 { base.to_owned() } else { format!("{base}-{last}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_of_another_kind_changes_no_name() {
        let names = |kinds: &[Kind]| {
            let mut names = Names::new(Scheme::Derived);
            kinds.iter().map(|kind| names.operator(*kind, "in", None)).collect::<Vec<_>>()
        };
        assert_eq!(names(&[Kind::COUNT, Kind::COUNT]), ["in-count", "in-count-2"]);
        assert_eq!(
            names(&[Kind::PEEK, Kind::COUNT, Kind::MAP, Kind::COUNT])[1..],
            ["in-count", "in-map", "in-count-2"]
        );
    }
    #[test]
    fn kafka_numbers_names_that_are_given_too() {
        let mut names = Names::new(Scheme::Kafka);
        assert_eq!(names.operator(Kind::FILTER, "in", Some("mine")), "mine");
        assert_eq!(names.operator(Kind::FILTER, "in", None), "KSTREAM-FILTER-0000000001");
    }
}
