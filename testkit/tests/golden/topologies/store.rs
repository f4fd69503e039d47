//! Stores as processors and queries see them.

use super::logic::Logic;
use super::{Setup, Text, TextRecord, nodes, shown, text};
use millstream_processor_core::{NoOutput, Record, StoreRef};
use millstream_state::{Entries, KeyValueStore, key_value, timestamped};
use millstream_testkit::TopologyTestDriver;
use serde_json::{Value, json};
use std::cell::Cell;
use std::ops::Bound;
use std::time::Duration;

pub(crate) fn build(case: &str) -> Option<Setup> {
    Some(match case {
        "store-key-value-in-memory-reads" => texts(),
        "store-long-keys-order-by-bytes" => longs(),
        "store-timestamped-key-value" => nodes(|topology, _| {
            let store = topology.add_state_store(timestamped::<Text, Text>("ts"));
            let source = topology.add_source::<Text, Text>("s", "in");
            let old = topology.add_processor_with("p", &source, &store, |mut store| {
                Logic::<TextRecord, TextRecord>::new(move |record, ctx| {
                    let old = store.get_with_time(&record.key)?;
                    let old = old.map(|(value, time)| format!("{}@{}", shown(&value), time.as_millis()));
                    ctx.forward(record.clone().with_value(old.or_else(|| text("none"))));
                    let later = record.timestamp + Duration::from_secs(1);
                    if record.value.is_some() {
                        store.put(&record.key, &record.value, later)?;
                    } else {
                        store.delete(&record.key)?;
                    }
                    Ok(())
                })
            });
            topology.add_sink("k", &old, "out");
        }),
        _ => return None,
    })
}

fn texts() -> Setup {
    let handle = Cell::new(None);
    let mut setup = nodes(|topology, _| {
        let store = topology.add_state_store(key_value::<String, Text>("st").in_memory());
        let source = topology.add_source::<String, Text>("s", "in");
        topology.add_processor_with("p", &source, &store, |mut store| {
            Logic::<Record<String, Text>, NoOutput>::new(move |record, _| Ok(store.put(&record.key, &record.value)?))
        });
        handle.set(Some(store));
    });
    let store: StoreRef<KeyValueStore<String, Text>> = handle.take().expect("set above");
    setup.query = Some(Box::new(move |driver, call| {
        let parse = |bound: &str| Some(bound.trim_matches('"').to_owned());
        answer(driver, &store, call, parse, |key| json!(key))
    }));
    setup
}
fn longs() -> Setup {
    let handle = Cell::new(None);
    let mut setup = nodes(|topology, _| {
        let store = topology.add_state_store(key_value::<i64, Text>("st"));
        let source = topology.add_source::<i64, Text>("s", "in");
        topology.add_processor_with("p", &source, &store, |mut store| {
            Logic::<Record<i64, Text>, NoOutput>::new(move |record, _| Ok(store.put(&record.key, &record.value)?))
        });
        handle.set(Some(store));
    });
    let store: StoreRef<KeyValueStore<i64, Text>> = handle.take().expect("set above");
    setup.query =
        Some(Box::new(move |driver, call| answer(driver, &store, call, |bound| bound.parse().ok(), |key| json!(key))));
    setup
}

/// Does a call by the words of a case: `range("b", null)`.
fn answer<K: 'static>(
    driver: &TopologyTestDriver,
    store: &StoreRef<KeyValueStore<K, Text>>,
    call: &str,
    parse: impl Fn(&str) -> Option<K>,
    show: impl Fn(&K) -> Value,
) -> Value {
    let store = driver.store(store);
    let (name, arguments) = call.trim_end_matches(')').split_once('(').expect("a call");
    let arguments: Vec<&str> = arguments.split(", ").filter(|argument| !argument.is_empty()).collect();
    let bound = |place: usize| match arguments[place] {
        "null" => Bound::Unbounded,
        text => parse(text).map_or(Bound::Unbounded, Bound::Included),
    };
    let entry = |entry: Result<(K, Text), _>| {
        let (key, value): (K, Text) = entry.unwrap_or_else(|error: millstream_state::StoreError| panic!("{error}"));
        json!({"key": show(&key), "value": value})
    };
    let all = |entries: Entries<'_, K, Text>| entries.map(entry).collect::<Vec<_>>();
    let mut found = match name {
        "get" => {
            let key = parse(arguments[0]).expect("a key");
            return json!(store.get(&key).expect("memory does not fail").flatten());
        }
        "approximateNumEntries" | "approximate_num_entries" => return json!(store.approximate_len()),
        "all" | "reverse_all" => all(store.all()),
        "range" | "reverse_range" => all(store.range((bound(0), bound(1)))),
        "prefix_scan" => all(store.prefix(arguments[0].trim_matches('"').as_bytes())),
        other => panic!("no case that is built calls {other}"),
    };
    if name.starts_with("reverse") {
        found.reverse();
    }
    Value::from(found)
}
