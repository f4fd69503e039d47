//! Simulates seeds: `simulate [count] [first]`. Each is a workload under faults in virtual time; what must hold is checked, and of the seeds for
//! which it does not the one with the fewest faults is shrunk and shown, with the variables that replay it. `MILLSTREAM_SEED` runs one seed
//! alone, `MILLSTREAM_FAULTS` (their numbers with commas, or nothing at all) with these faults alone. It writes what happened to the files that
//! `MILLSTREAM_REQUEST_LOG`, `MILLSTREAM_EVENTS` and `MILLSTREAM_FRAMES` name.

use millstream_testkit::checkers::Frame;
use millstream_testkit::simulation::FaultCounts;
use millstream_testkit::simulation::workload::{Report, Workload, run, run_with, shrink};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let done = match variable("MILLSTREAM_SEED") {
        Some(text) => number("MILLSTREAM_SEED", &text).and_then(one),
        None => range().and_then(|(first, count)| many(first, count)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

// --- what is asked for

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
fn number<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}`, given as {name}, is not a whole number from 0 on"))
}
/// The first seed, and how many there are.
fn range() -> Result<(u64, u64), String> {
    if variable("MILLSTREAM_FAULTS").is_some() {
        return Err("MILLSTREAM_FAULTS chooses among the faults of one seed: say which by MILLSTREAM_SEED".to_owned());
    }
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(500), |text| number("count", &text))?;
    let first = arguments.next().map_or(Ok(1), |text| number("first", &text))?;
    match arguments.next() {
        Some(more) => Err(format!("`{more}` is one argument too many: simulate [count] [first]")),
        None => Ok((first, count)),
    }
}
/// The faults that are to be kept; all, if nothing is said.
fn kept_faults() -> Result<Option<Vec<usize>>, String> {
    let Some(text) = variable("MILLSTREAM_FAULTS") else { return Ok(None) };
    let numbers = text.split(',').filter(|number| !number.trim().is_empty());
    numbers.map(|text| number("MILLSTREAM_FAULTS", text)).collect::<Result<_, _>>().map(Some)
}

// --- one seed

fn one(seed: u64) -> Result<bool, String> {
    let (workload, kept) = (Workload::of_seed(seed), kept_faults()?);
    let report = match &kept {
        Some(kept) => run_with(workload, seed, &|number| kept.contains(&number)),
        None => run(workload, seed),
    };
    let unknown = |number: &&usize| report.faults.iter().all(|(known, ..)| known != *number);
    if let Some(number) = kept.iter().flatten().find(unknown) {
        return Err(format!(
            "seed {seed} has no fault of number {number}: MILLSTREAM_SEED={seed} alone shows all it has"
        ));
    }
    write_down(&report)?;
    println!("{report}");
    println!("{}", if report.is_good() { "nothing is wrong" } else { "it fails" });
    Ok(report.is_good())
}
/// Writes what happened to the files that are asked for.
fn write_down(report: &Report) -> Result<(), String> {
    let write = |name: &str, text: &dyn Fn() -> String| {
        let Some(file) = variable(name) else { return Ok(()) };
        std::fs::write(&file, text()).map_err(|error| format!("cannot write to `{file}`, given as {name}: {error}"))
    };
    write("MILLSTREAM_REQUEST_LOG", &|| report.request_log.to_string())?;
    write("MILLSTREAM_EVENTS", &|| {
        report.history.events().map(|(at, client, event)| format!("{at:?} {client:?} {event:?}\n")).collect()
    })?;
    write("MILLSTREAM_FRAMES", &|| report.history.frames().iter().map(line_of).collect())
}
fn line_of(frame: &Frame) -> String {
    let Frame { at, client, connection, node, kind, api, version, payload, .. } = frame;
    format!("{at:?} {client:?} c{connection} {kind:?} {node} {api:?} v{version} {} B\n", payload.len())
}

// --- many

/// How much of its own time a run takes at least; one that is shorter has not done what it is there for.
const LEAST: Duration = Duration::from_secs(600);
/// From so many seeds on each kind of fault has to occur.
const ENOUGH: u64 = 100;

/// What all threads know.
struct Progress {
    next: AtomicU64,
    end: u64,
    sum: Mutex<Sum>,
}

#[derive(Default)]
struct Sum {
    counts: FaultCounts,
    /// Of how many transactions it is not known how they ended, by the cause.
    doubts: BTreeMap<String, u64>,
    /// The shortest run, in its own time.
    shortest: Option<Duration>,
    failed: Vec<Report>,
}

impl Progress {
    fn sum(&self) -> MutexGuard<'_, Sum> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn many(first: u64, count: u64) -> Result<bool, String> {
    let began = Instant::now();
    let end = first.checked_add(count).ok_or_else(|| format!("there are no {count} seeds from {first} on"))?;
    let progress = Progress { next: AtomicU64::new(first), end, sum: Mutex::default() };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // A panic inside is a finding; its text is in the report.
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(|| work(&progress))));
    let Sum { counts, doubts, shortest, failed } = std::mem::take(&mut *progress.sum());
    println!("{count} seeds from {first} on, in {:?}; what went wrong, and how often:\n{counts}", began.elapsed());
    println!("transactions of which it is not known how they ended, by the cause:");
    doubts.iter().for_each(|(cause, count)| println!("{count:>9} × {cause}"));
    let missing = if count < ENOUGH { Vec::new() } else { counts.missing() };
    missing.iter().for_each(|kind| println!("no {kind} in all these seeds: that is a failure, too"));
    let is_short = shortest.is_some_and(|shortest| shortest < LEAST);
    println!("each took {:?} of its own time, or more", shortest.unwrap_or_default());
    println!("{} of {count} seeds failed", failed.len());
    let is_good = failed.is_empty() && missing.is_empty() && !is_short;
    explain(failed);
    Ok(is_good)
}
/// Says how each that failed is run again, and shows one of them made short, which takes as many runs as that has faults, about.
fn explain(failed: Vec<Report>) {
    for report in &failed {
        let (seed, faults) = (report.seed, report.faults.len());
        println!("again, with all its {faults} faults: MILLSTREAM_SEED={seed} just simulate");
    }
    let Some(report) = failed.into_iter().min_by_key(|report| report.faults.len()) else { return };
    let (workload, seed) = (report.workload, report.seed);
    println!("\nseed {seed} with as few faults as it still fails with in the same way:");
    let shortest = shrink(report, &|keeps| run_with(workload, seed, keeps));
    let kept: Vec<String> = shortest.faults.iter().map(|(number, ..)| number.to_string()).collect();
    println!("{shortest}again: MILLSTREAM_SEED={seed} MILLSTREAM_FAULTS={} just simulate", kept.join(","));
}

fn work(progress: &Progress) {
    loop {
        let seed = progress.next.fetch_add(1, Ordering::Relaxed);
        if seed >= progress.end {
            return;
        }
        let report = run(Workload::of_seed(seed), seed);
        let mut sum = progress.sum();
        sum.counts.merge(&report.counts);
        report.doubts.iter().for_each(|(cause, count)| *sum.doubts.entry(cause.clone()).or_default() += count);
        sum.shortest = Some(sum.shortest.map_or(report.simulated, |shortest| shortest.min(report.simulated)));
        if !report.is_good() {
            println!("seed {seed} fails: {}", report.problem().unwrap_or_default());
            sum.failed.push(report);
        }
    }
}
