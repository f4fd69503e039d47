//! An exhaustive model of the commit protocol: every interleaving of a few processes, a broker and faults within small bounds.
//! The corrected protocol holds in every state of every scenario, and the model sees each single departure from it.
//!
//! Read `rules` (what can be varied), `model`, `commit` and `coordinators` (the moves), `check` (what must hold), `scenarios`
//! (what is run). Not modelled: more than one task in a lane, more than one input partition, standbys, `Retry`, requests other
//! than EndTxn that arrive late, torn journals, the classic protocol's Join and Sync apart, TV2's epoch on every EndTxn.
//!
//! `MILLSTREAM_MODEL=part of a name` limits the large runs to some scenarios; each prints what it found.

mod broker;
mod check;
mod commit;
mod coordinators;
mod list;
mod model;
mod process;
mod rules;
mod scenarios;
mod search;

use rules::Guarantee;
use scenarios::{Scenario, Size, sound, unsound};
use search::explore;

#[test]
fn protocol_holds_in_small_scenarios() {
    sound().iter().filter(|scenario| scenario.size == Size::Small).for_each(holds);
}

#[test]
fn departures_are_seen_in_small_scenarios() {
    unsound().iter().filter(|scenario| scenario.size == Size::Small).for_each(fails);
}

#[test]
#[ignore = "needs minutes and --release"]
fn protocol_holds_at_least_once() {
    large(sound()).iter().filter(|scenario| scenario.config.guarantee == Guarantee::AtLeastOnce).for_each(holds);
}

#[test]
#[ignore = "needs minutes and --release"]
fn protocol_holds_exactly_once() {
    large(sound()).iter().filter(|scenario| scenario.config.guarantee == Guarantee::ExactlyOnce).for_each(holds);
}

#[test]
#[ignore = "needs minutes and --release"]
fn every_departure_is_seen() {
    large(unsound()).iter().for_each(fails);
}

fn large(scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let wanted = std::env::var("MILLSTREAM_MODEL").unwrap_or_default();
    scenarios.into_iter().filter(|scenario| scenario.size == Size::Large && scenario.name.contains(&wanted)).collect()
}

fn holds(scenario: &Scenario) {
    let report = explore(&scenario.config);
    println!("{}: {} states, {} steps, depth {}", scenario.name, report.states, report.steps, report.depth);
    assert!(report.violation.is_none(), "{}: {:?}", scenario.name, report.violation);
}

fn fails(scenario: &Scenario) {
    let report = explore(&scenario.config);
    assert!(report.violation.is_some(), "{} went unseen in {} states", scenario.name, report.states);
    println!(
        "{}: seen after {} states: {:?}",
        scenario.name,
        report.states,
        report.violation.map(|(found, moves, _)| (found, moves))
    );
}
