//! Simulates seeds: `simulate [count] [first]`. Each is a workload under faults in virtual time; what must hold is checked, and the first
//! seed for which it does not is shrunk and printed. `MILLSTREAM_SEED` runs one seed alone, `MILLSTREAM_FAULTS` (numbers with commas) with
//! these faults alone. It writes what happened to the files that `MILLSTREAM_REQUEST_LOG`, `MILLSTREAM_EVENTS` and `MILLSTREAM_FRAMES` name.

use millstream_testkit::checkers::Frame;
use millstream_testkit::simulation::FaultCounts;
use millstream_testkit::simulation::workload::{Report, Workload, run, run_with, shrink};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    if let Some(seed) = number("MILLSTREAM_SEED") {
        return one(seed);
    }
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let count = arguments.next().unwrap_or(500);
    let first = arguments.next().unwrap_or(1);
    many(first, count)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn one(seed: u64) -> ExitCode {
    let workload = Workload::of_seed(seed);
    let kept: Option<Vec<usize>> =
        std::env::var("MILLSTREAM_FAULTS").ok().map(|text| text.split(',').filter_map(|n| n.parse().ok()).collect());
    let report = match kept {
        Some(kept) => run_with(workload, seed, &|number| kept.contains(&number)),
        None => run(workload, seed),
    };
    if let Ok(file) = std::env::var("MILLSTREAM_REQUEST_LOG")
        && let Err(error) = std::fs::write(&file, &report.request_log)
    {
        eprintln!("the request log cannot be written to {file}: {error}");
    }
    if let Ok(file) = std::env::var("MILLSTREAM_EVENTS") {
        let lines = report.history.events().map(|(at, client, event)| format!("{at:?} {client:?} {event:?}\n"));
        if let Err(error) = std::fs::write(&file, lines.collect::<String>()) {
            eprintln!("the events cannot be written to {file}: {error}");
        }
    }
    if let Ok(file) = std::env::var("MILLSTREAM_FRAMES") {
        let line = |frame: &Frame| {
            let Frame { at, client, connection, node, kind, api, version, payload, .. } = frame;
            format!("{at:?} {client:?} c{connection} {kind:?} {node} {api:?} v{version} {} B\n", payload.len())
        };
        if let Err(error) = std::fs::write(&file, report.history.frames().iter().map(line).collect::<String>()) {
            eprintln!("the frames cannot be written to {file}: {error}");
        }
    }
    println!("{report}");
    if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How much of its own time a run takes at least; one that is shorter has not done what it is there for.
const LEAST: Duration = Duration::from_secs(600);

/// What all threads know.
struct Progress {
    next: AtomicU64,
    end: u64,
    counts: Mutex<FaultCounts>,
    /// The shortest run, in its own time.
    shortest: Mutex<Duration>,
    failed: Mutex<Vec<Report>>,
}

fn many(first: u64, count: u64) -> ExitCode {
    let began = Instant::now();
    let progress = Progress {
        next: AtomicU64::new(first),
        end: first + count,
        counts: Mutex::default(),
        shortest: Mutex::new(Duration::MAX),
        failed: Mutex::default(),
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // A panic inside is a finding; its text is in the report.
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(|| work(&progress))));
    let counts = progress.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed = progress.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{count} seeds from {first} on, in {:?}; what went wrong:\n{counts}", began.elapsed());
    let missing = if count < 100 { Vec::new() } else { counts.missing() };
    for kind in &missing {
        println!("no {kind} in all these seeds");
    }
    println!("{} of {count} seeds failed", failed.len());
    let shortest = progress.shortest.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("each took {shortest:?} of its own time, or more");
    let is_good = failed.is_empty() && missing.is_empty() && shortest >= LEAST;
    for report in &failed {
        println!("MILLSTREAM_SEED={} fails:\n{report}", report.seed);
    }
    // One of them is made short; each takes as many runs as it has faults, about.
    let shortest = failed.into_iter().min_by_key(|report| report.faults.len()).map(|report| {
        let (workload, seed) = (report.workload, report.seed);
        shrink(report, &|keeps| run_with(workload, seed, keeps))
    });
    if let Some(shortest) = shortest {
        let kept: Vec<String> = shortest.faults.iter().map(|(number, ..)| number.to_string()).collect();
        println!("MILLSTREAM_SEED={} MILLSTREAM_FAULTS={} is enough:\n{shortest}", shortest.seed, kept.join(","));
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn work(progress: &Progress) {
    loop {
        let seed = progress.next.fetch_add(1, Ordering::Relaxed);
        if seed >= progress.end {
            return;
        }
        let report = run(Workload::of_seed(seed), seed);
        progress.counts.lock().unwrap_or_else(PoisonError::into_inner).merge(&report.counts);
        let mut shortest = progress.shortest.lock().unwrap_or_else(PoisonError::into_inner);
        *shortest = report.simulated.min(*shortest);
        drop(shortest);
        if !report.is_good() {
            let first = report.violations.first().map_or_else(|| format!("{:?}", report.error), ToString::to_string);
            println!("seed {seed} fails: {first}");
            progress.failed.lock().unwrap_or_else(PoisonError::into_inner).push(report);
        }
    }
}
