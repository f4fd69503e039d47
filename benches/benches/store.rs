//! The paths of a store that every record takes, and every commit and restart: time, and allocations per operation.
#![expect(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use millstream_benches::allocations::{Counting, allocations_of};
use millstream_benches::store::{Bench, KEYS};
use millstream_state::fs::DiskFs;
use millstream_state::{JournalOptions, JournaledStore, MemoryStore, OrderedStore};
use std::path::PathBuf;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

fn get_and_put(c: &mut Criterion) {
    let mut group = c.benchmark_group("get+put");
    group.throughput(Throughput::Elements(1));
    let mut task = Bench::in_memory();
    task.records(KEYS);
    group.bench_function("in the epoch", |b| b.iter(|| task.record()));
    report("get+put in the epoch", || task.records(KEYS));
    let mut task = Bench::in_memory();
    task.records(KEYS);
    task.commit();
    let mut records = 0_u32;
    group.bench_function("a commit every 100k records", |b| {
        b.iter(|| {
            task.record();
            records += 1;
            if records.is_multiple_of(KEYS) {
                task.commit();
            }
        });
    });
    report("get+put with a commit", || {
        task.records(KEYS);
        task.commit();
    });
    group.bench_function("a commit every 1k records", |b| {
        b.iter(|| {
            task.record();
            records += 1;
            if records.is_multiple_of(1000) {
                task.commit();
            }
        });
    });
    group.finish();
}

fn read_all(c: &mut Criterion) {
    let mut group = c.benchmark_group("all");
    group.throughput(Throughput::Elements(u64::from(KEYS)));
    group.sample_size(20);
    let mut task = Bench::in_memory();
    task.records(KEYS);
    task.commit();
    group.bench_function("committed", |b| {
        b.iter(|| task.store.all().filter_map(Result::ok).map(|(_, sum)| sum).sum::<i64>())
    });
    task.records(KEYS);
    group.bench_function("all in the epoch", |b| {
        b.iter(|| task.store.all().filter_map(Result::ok).map(|(_, sum)| sum).sum::<i64>())
    });
    group.finish();
}

fn freeze_and_apply(c: &mut Criterion) {
    let mut group = c.benchmark_group("freeze+prepare+apply");
    group.throughput(Throughput::Elements(u64::from(KEYS)));
    group.sample_size(20);
    let folder = Folder::new();
    for (name, mut task) in [("in memory", Bench::in_memory()), ("journaled", Bench::over(Arc::new(folder.open())))] {
        task.records(KEYS);
        task.commit();
        group.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                (0..iterations)
                    .map(|_| {
                        task.records(KEYS);
                        let start = std::time::Instant::now();
                        task.commit();
                        start.elapsed()
                    })
                    .sum()
            });
        });
    }
    group.finish();
}

fn restore(c: &mut Criterion) {
    let mut group = c.benchmark_group("restore");
    group.throughput(Throughput::Elements(u64::from(KEYS)));
    group.sample_size(20);
    let task = Bench::in_memory();
    let fill = |base: &dyn OrderedStore| {
        for keys in task.keys.chunks(1000) {
            task.restore(keys, base);
        }
    };
    group.bench_function("in memory", |b| {
        b.iter_batched(
            || MemoryStore::new("sums"),
            |store| {
                fill(&store);
                store
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("journaled", |b| {
        b.iter_batched(
            Folder::new,
            |folder| {
                fill(&folder.open());
                folder
            },
            BatchSize::PerIteration,
        );
    });
    report("restore in memory", || fill(&MemoryStore::new("sums")));
    let folder = Folder::new();
    fill(&folder.open());
    group.bench_function("open what is there", |b| b.iter(|| folder.open().approximate_len()));
    group.finish();
}

/// Prints how many allocations `run`, which does something for each key, makes for each.
fn report(name: &str, run: impl FnOnce()) {
    println!("{name}: {:.4} allocations per key", allocations_of(run) as f64 / f64::from(KEYS));
}

/// A folder that goes with this.
struct Folder(PathBuf);
impl Folder {
    fn new() -> Self {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("millstream-bench-{}-{number}", std::process::id())))
    }
    fn open(&self) -> JournaledStore {
        JournaledStore::open(Arc::new(DiskFs), &self.0, "sums", JournalOptions::default()).expect("opens")
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

criterion_group!(benches, get_and_put, read_all, freeze_and_apply, restore);
criterion_main!(benches);
