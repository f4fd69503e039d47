//! How much is asked for and held, and in which order.

use super::*;

// C-15
#[test]
fn what_is_buffered_and_asked_for_never_passes_the_budget_but_for_one_batch() {
    let mut bench = Bench::new(|config| {
        config.max_bytes = 300;
        config.max_partition_bytes = 300;
    });
    bench.fetcher.add_at(place(0), Position::at(Offset::new(0)));
    assert_eq!(bench.fetch().max_bytes, 300);
    assert!(bench.try_fetch().is_none(), "one request at a time");
    let records = plain(0, 20);
    let size = records.len();
    bench.answer(1, vec![data(0, vec![records])]);
    assert_eq!(bench.fetcher.buffered_bytes(), size);
    let left = 300_usize.saturating_sub(size);
    let next = bench.try_fetch().map_or(0, |request| usize::try_from(request.max_bytes).expect("a size"));
    assert_eq!(next, left);
}

// C-15: partition 0 was first and has the whole answer; the next request starts with another.
#[test]
fn the_order_of_partitions_rotates() {
    let mut bench = Bench::new(|_| {});
    (0..3).for_each(|partition| bench.fetcher.add_at(place(partition), Position::at(Offset::new(0))));
    let first = |request: &FetchRequest| request.topics[0].partitions[0].partition;
    assert_eq!(first(&bench.fetch()), 0);
    bench.answer(0, Vec::new());
    assert_eq!(first(&bench.fetch()), 1);
}

#[test]
fn a_mostly_dead_response_is_copied_out_so_that_it_can_go() {
    let mut bench = Bench::at(0);
    bench.fetcher.add_at(place(1), Position::at(Offset::new(0)));
    bench.fetch();
    let (large, small) = (plain(0, 20_000), plain(0, 1));
    let (whole, rest) = (large.len() + small.len(), small.len());
    bench.answer(0, vec![data(0, vec![large]), data(1, vec![small])]);
    assert_eq!(bench.fetcher.buffered_bytes(), whole);
    assert!(bench.fetcher.take(bench.now, |id| *id == place(0)).is_some());
    assert_eq!(bench.fetcher.buffered_bytes(), rest);
    assert_eq!(bench.take(), [(vec![0], 1)]);
    assert_eq!(bench.fetcher.buffered_bytes(), 0);
}
