//! The embedded broker beside a real Kafka: seeded random requests, valid and not, go to both, and their answers are the same but for ids and
//! times. `MILLSTREAM_SEED` repeats a run, `MILLSTREAM_STEPS` makes it longer, `MILLSTREAM_BOOTSTRAP` takes a Kafka that is up already (it is
//! to be a fresh one).
//!
//! An API takes part by a row in [`table`]: its key and a function that makes one random exchange.

mod admin;
mod chance;
mod data;
mod ids;
mod pair;
#[path = "../services/real_kafka.rs"]
mod real_kafka;
mod transactions;
mod wire;

use chance::Chance;
use millstream_protocol::ApiKey;
use pair::Pair;
use real_kafka::RealKafka;

/// One random exchange of an API.
type Step = fn(&mut Pair, &mut Chance);

/// How many steps a run has. A test of all of them takes less than two minutes.
const STEPS: usize = 500;
/// The seed of a run that is given none.
const SEED: u64 = 1;

fn table() -> Vec<(ApiKey, Step)> {
    [data::table(), transactions::table(), admin::table()].concat()
}

#[test]
#[ignore = "needs java and Kafka's jars"]
fn the_embedded_broker_answers_as_kafka_does() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("MILLSTREAM_SEED").unwrap_or(SEED);
    let steps = number("MILLSTREAM_STEPS").and_then(|steps| usize::try_from(steps).ok()).unwrap_or(STEPS);
    println!("MILLSTREAM_SEED={seed} MILLSTREAM_STEPS={steps}");
    let given = std::env::var("MILLSTREAM_BOOTSTRAP").ok();
    let kafka = if given.is_none() { Some(RealKafka::up(&[])) } else { None };
    let bootstrap = given.or_else(|| kafka.as_ref().map(|kafka| kafka.bootstrap.clone())).expect("a Kafka");
    let mut pair = Pair::begin(&bootstrap, seed);
    let mut chance = Chance::new(seed);
    admin::prepare(&mut pair);
    let table = table();
    // Every API once, in the table's order, then whatever comes.
    for at in 0..steps.max(table.len()) {
        let (api, step) = if at < table.len() { &table[at] } else { chance.pick(&table) };
        pair.step = at;
        pair.api = Some(*api);
        step(&mut pair, &mut chance);
        assert!(pair.differences < 25, "seed {seed}: too many differences");
    }
    let missing: Vec<ApiKey> = pair.served().into_iter().filter(|api| !pair.asked.contains_key(api)).collect();
    println!("asked: {:?}\nserved, but in no row of the table: {missing:?}", pair.asked);
    assert_eq!(pair.differences, 0, "seed {seed}: the answers above differ");
}
