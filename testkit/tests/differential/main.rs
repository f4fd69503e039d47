//! The embedded broker beside a real Kafka: seeded random requests, valid and not, go to both, and their answers are the same but for ids and
//! times. `MILLSTREAM_SEED` repeats a run, `MILLSTREAM_STEPS` makes it longer, `MILLSTREAM_BOOTSTRAP` takes a Kafka that is up already (it is
//! to be a fresh one).
//!
//! An API takes part by a row in [`table`]: its key and a function that makes one random exchange.

mod acls;
mod admin;
mod chance;
mod cluster;
mod configs;
mod data;
mod ids;
mod pair;
mod quotas;
#[path = "../services/real_kafka.rs"]
mod real_kafka;
mod sasl;
mod scram;
mod secured;
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

/// How many steps a run has. A test of all of them takes less than two minutes.
const STEPS: usize = 500;
/// After so many differences a run is given up.
const MOST_DIFFERENCES: usize = 60;
/// The seed of a run that is given none.
const SEED: u64 = 6;
/// That of the run with few rights; being odd, nothing is allowed that no rule allows.
const SECURED_SEED: u64 = 1;

fn table() -> Vec<(ApiKey, Step)> {
    [
        data::table(),
        transactions::table(),
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

/// The embedded cluster as the launcher sets the real one up.
fn builder() -> TestClusterBuilder {
    TestCluster::builder()
        .config("auto.create.topics.enable", "false")
        .config("offsets.topic.num.partitions", "4")
        .config("transaction.state.log.num.partitions", "4")
        .config("min.insync.replicas", "1")
        .config("group.consumer.heartbeat.interval.ms", "500")
        .config("group.consumer.min.heartbeat.interval.ms", "100")
        .config("group.consumer.session.timeout.ms", "10000")
        .config("group.consumer.min.session.timeout.ms", "1000")
        .acls()
        .config("allow.everyone.if.no.acl.found", "true")
        .super_user("User:ANONYMOUS")
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn the_embedded_broker_answers_as_kafka_does() {
    let seed = number("MILLSTREAM_SEED").unwrap_or(SEED);
    let given = std::env::var("MILLSTREAM_BOOTSTRAP").ok();
    let kafka = if given.is_none() { Some(RealKafka::up(&[])) } else { None };
    let bootstrap = given.or_else(|| kafka.as_ref().map(|kafka| kafka.bootstrap.clone())).expect("a Kafka");
    let mut pair = Pair::begin(builder(), &bootstrap, seed, [None; CLIENTS + 1]);
    admin::prepare(&mut pair);
    run(&mut pair, &table(), seed);
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn the_embedded_broker_guards_what_kafka_does() {
    let seed = number("MILLSTREAM_SEED").unwrap_or(SECURED_SEED);
    let options = secured::options(seed);
    let kafka = RealKafka::up(&options.iter().map(String::as_str).collect::<Vec<_>>());
    let mut pair = Pair::begin(secured::builder(seed), &kafka.bootstrap, seed, secured::LOGINS);
    pair.only = Some(ADMINISTRATOR);
    admin::prepare(&mut pair);
    secured::prepare(&mut pair);
    pair.only = None;
    run(&mut pair, &[secured::table(), table()].concat(), seed);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Every row in its API's oldest version, every row in the newest, then whatever comes.
fn run(pair: &mut Pair, table: &[(ApiKey, Step)], seed: u64) {
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
        step(pair, &mut chance);
        assert!(pair.differences < MOST_DIFFERENCES, "seed {seed}: too many differences");
    }
    println!("answered alike: {:?}", pair.answered);
    assert_eq!(pair.differences, 0, "seed {seed}: the answers above differ");
    let served = pair.served();
    let lacking = |(api, min, max): &(ApiKey, i16, i16)| {
        pair.answered.get(api).map_or(0, BTreeSet::len) < if min == max { 1 } else { 2 }
    };
    let missing: Vec<_> = served.into_iter().filter(|served| lacking(served)).map(|(api, ..)| api).collect();
    println!("served, but not answered in several versions: {missing:?}");
}
