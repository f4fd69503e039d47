//! What is measured side by side: contestants that do the same work, run in turn.

pub mod c;

#[path = "../../../src/allocations.rs"]
pub mod allocations;
#[path = "../../../src/payload.rs"]
pub mod payload;

use allocations::allocations_of;
use millstream_protocol::record::{BatchBuilder, SealedBatch};
use millstream_protocol::{Compressor, Headers, Timestamp};
use std::time::Duration;

/// How many records of 100 bytes a batch has: about a megabyte.
pub const RECORDS: usize = 9000;
/// The first record's time; every sixteenth is a millisecond later.
pub const NOW: i64 = 1_790_000_000_000;

/// Somebody who does the work.
pub struct Contestant<'a> {
    pub name: String,
    pub run: Box<dyn FnMut() + 'a>,
}

/// One who does `run`, once a call.
pub fn contestant<'a>(name: impl Into<String>, run: impl FnMut() + 'a) -> Contestant<'a> {
    Contestant { name: name.into(), run: Box::new(run) }
}

/// A record's time.
pub fn timestamp(index: usize) -> i64 {
    NOW + (index / 16) as i64
}

/// All values in one batch of ours.
pub fn fill(values: &[Vec<u8>], mut builder: BatchBuilder) -> BatchBuilder {
    let headers = Headers::new();
    for (index, value) in values.iter().enumerate() {
        let at = Timestamp::from_millis(timestamp(index));
        builder.append(at, None, Some(value), &headers).expect("it fits");
    }
    builder
}

/// The same, uncompressed and closed.
pub fn sealed(values: &[Vec<u8>]) -> SealedBatch {
    fill(values, BatchBuilder::new()).seal(&mut Compressor::none()).expect("nothing to compress")
}

/// CPU time of this thread so far: a busy machine changes it less than wall time.
fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs all in turn, `rounds` times, and prints each one's median time and allocations per record, and the median of its ratio to the first in the same round.
pub fn race(title: &str, rounds: usize, contestants: &mut [Contestant<'_>]) {
    let mut times = vec![Vec::new(); contestants.len()];
    contestants.iter_mut().for_each(|each| (each.run)());
    for round in 0..rounds {
        for turn in 0..contestants.len() {
            // Each begins a round as often as the others.
            let index = (turn + round) % contestants.len();
            let before = cpu();
            (contestants[index].run)();
            times[index].push((cpu() - before).as_nanos() as f64 / RECORDS as f64);
        }
    }
    println!("{title}");
    for (contestant, own) in contestants.iter_mut().zip(&times) {
        let ratios = own.iter().zip(&times[0]).map(|(own, first)| own / first).collect();
        let allocations = allocations_of(&mut contestant.run) as f64 / RECORDS as f64;
        let (name, time, ratio) = (&contestant.name, median(own.clone()), median(ratios));
        println!("  {name:44} {time:8.1} ns   x{ratio:5.2}   {allocations:7.3} allocations");
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// `PROGRAM [FILTER]` races what has the filter in its title; `PROGRAM only NAME TIMES` runs one contestant for a profiler.
pub fn main(races: &mut [(String, Vec<Contestant<'_>>)]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [only, name, times] = &arguments[..] {
        assert_eq!(only, "only", "PROGRAM [FILTER] or PROGRAM only NAME TIMES");
        let named = |(title, all): &'_ mut (String, Vec<Contestant<'_>>)| {
            all.iter().position(|each| format!("{title}/{}", each.name).starts_with(name.as_str()))
        };
        let found = races.iter_mut().find_map(|race| named(race).map(|place| &mut race.1[place]));
        let found = found.expect("one whose title/name begins like this");
        (0..times.parse().expect("a number")).for_each(|_: u32| (found.run)());
        return;
    }
    let filter = arguments.first().map_or("", String::as_str);
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(41);
    for (title, contestants) in races.iter_mut().filter(|(title, _)| title.contains(filter)) {
        race(title, rounds, contestants);
    }
}
