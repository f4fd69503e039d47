//! Every hot path, 1000 records at a time: time, and allocations per record.
#![expect(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use millstream_benches::allocations::{Counting, allocations_of};
use millstream_benches::{PATHS, RECORDS, path};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

fn paths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("paths");
    group.throughput(Throughput::Elements(RECORDS as u64));
    for name in PATHS {
        let mut run = path(name).expect("it has a name of the list");
        (0..3).for_each(|_| run());
        let allocations = allocations_of(&mut run) as f64;
        println!("paths/{name}: {:.3} allocations per record", allocations / RECORDS as f64);
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, paths);
criterion_main!(benches);
