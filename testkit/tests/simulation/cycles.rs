//! K-8 on histories that are right, and on such as Kafka never lets come about.

use millstream_protocol::TopicPartition;
use millstream_testkit::checkers::{Checker, Ended, Event, History, Read, check};
use std::time::Duration;

/// A partition by its number, and an offset.
type Place = (i32, i64);

/// Transactions, told step by step, a second apart.
#[derive(Default)]
struct Told(History);
impl Told {
    fn then(mut self, event: Event) -> Self {
        let at = Duration::from_secs(self.0.events().count() as u64);
        // What one client does in which order other checkers look at.
        self.0.add(at, at.as_secs(), event);
        self
    }
    fn wrote(self, transaction: u64, place: Place) -> Self {
        let (value, partition) = (value_at(place), partition(place));
        let sent = Event::Send { value, partition, transaction: Some(transaction.into()), bytes: 10 };
        self.then(sent).then(Event::Taken { value }).then(Event::Acked { value, offset: Some(place.1) })
    }
    fn read(self, transaction: u64, places: &[Place]) -> Self {
        self.read_as(transaction, places, true)
    }
    fn read_as(self, transaction: u64, places: &[Place], read_committed: bool) -> Self {
        let read = |place: &Place| Read::new(partition(*place), place.1, value_at(*place));
        let records = places.iter().map(read).collect();
        self.then(Event::Polled { records, transaction: Some(transaction.into()), read_committed })
    }
    fn committed(self, transaction: u64) -> Self {
        let (transaction, outcome) = (transaction.into(), Ended::Committed);
        self.then(Event::Ending { transaction, commit: true }).then(Event::Ended { transaction, outcome })
    }
    /// What K-8 finds.
    fn circles(self) -> Vec<&'static str> {
        let found = check(&self.0);
        let own = found.iter().filter(|violation| violation.checker() == Checker::K8);
        own.map(|violation| violation.name()).collect()
    }
}
fn partition((index, _): Place) -> TopicPartition {
    TopicPartition::new("t", index)
}
fn value_at((index, offset): Place) -> u64 {
    u64::try_from(offset).expect("it is a place") * 10 + u64::from(index.unsigned_abs())
}

#[test]
fn transactions_that_read_each_other_are_a_circle() {
    let one_way = || Told::default().wrote(1, (0, 0)).wrote(2, (1, 0)).read(2, &[(0, 0)]);
    assert!(one_way().committed(1).committed(2).circles().is_empty());
    assert_eq!(one_way().read(1, &[(1, 0)]).committed(1).committed(2).circles(), ["G1c"]);
    let uncommitted = one_way().read_as(1, &[(1, 0)], false).committed(1).committed(2);
    assert!(uncommitted.circles().is_empty(), "readers of all records see what is not committed");
}

#[test]
fn three_may_be_in_a_circle() {
    let told = Told::default().wrote(1, (0, 0)).wrote(2, (1, 0)).wrote(3, (2, 0));
    let told = told.read(2, &[(0, 0)]).read(3, &[(1, 0)]).read(1, &[(2, 0)]);
    assert_eq!(told.committed(1).committed(2).committed(3).circles(), ["G1c"]);
}

#[test]
fn a_transaction_reads_nothing_behind_what_is_open_in_the_same_partition() {
    // The second writes behind the first, which is open, and commits; the first reads that.
    let told = |own, read| Told::default().wrote(1, own).wrote(2, read).committed(2).read(1, &[read]).committed(1);
    assert_eq!(told((0, 0), (0, 1)).circles(), ["G1c"]);
    assert!(told((0, 1), (0, 0)).circles().is_empty(), "what lies before it may be read");
    let third = Told::default().wrote(1, (0, 0)).wrote(2, (0, 1)).wrote(3, (1, 0));
    // The third has read past the first one, so that this one is over, and has not read the third.
    let third = third.committed(2).read(3, &[(0, 1)]).committed(3).read(1, &[(1, 0)]).committed(1);
    assert_eq!(third.circles(), ["G1c"]);
}

#[test]
fn writes_of_transactions_lie_between_each_other_in_kafka() {
    let writes = Told::default().wrote(1, (0, 0)).wrote(2, (0, 1)).wrote(2, (1, 0)).wrote(1, (1, 1));
    assert!(writes.committed(1).committed(2).circles().is_empty(), "G0");
    // The first wrote first, and reads elsewhere what the second one wrote.
    let both = Told::default().wrote(1, (0, 0)).wrote(2, (0, 1)).wrote(2, (1, 0)).committed(2);
    assert!(both.read(1, &[(1, 0)]).committed(1).circles().is_empty(), "G1c with a ww edge of another partition");
}

#[test]
fn a_poll_may_end_before_a_record_that_is_there() {
    let base = || Told::default().wrote(9, (0, 0)).wrote(9, (1, 0)).committed(9);
    // Each reads up to where the other one writes.
    let skew = base().read(1, &[(0, 0)]).read(2, &[(1, 0)]).wrote(1, (1, 1)).wrote(2, (0, 1));
    assert!(skew.committed(1).committed(2).circles().is_empty(), "G2 over records");
    // The first reads one write of the second, and not the other one.
    let half = base().read(1, &[(0, 0)]).wrote(2, (0, 1)).wrote(2, (1, 1)).committed(2).read(1, &[(1, 0), (1, 1)]);
    assert!(half.committed(1).circles().is_empty(), "G-single over records");
}

#[test]
fn two_do_not_consume_from_one_position() {
    let base = || Told::default().wrote(9, (0, 0)).wrote(9, (0, 1)).committed(9);
    let both = |second: &[Place]| base().read(1, &[(0, 0)]).read(2, second).committed(1).committed(2);
    assert!(both(&[(0, 1)]).circles().is_empty());
    assert_eq!(both(&[(0, 0), (0, 1)]).circles(), ["G2"]);
    let aborted = base().read(1, &[(0, 0)]).read(2, &[(0, 0), (0, 1)]).committed(2);
    assert!(aborted.circles().is_empty(), "one that is not committed consumes nothing");
}

#[test]
fn nobody_reads_what_is_written_by_one_that_consumes_after_it() {
    let told = Told::default().wrote(9, (0, 0)).wrote(9, (0, 1)).committed(9);
    let told = told.read(1, &[(0, 0)]).read(2, &[(0, 1)]).wrote(2, (1, 0)).read(1, &[(1, 0)]);
    assert_eq!(told.committed(1).committed(2).circles(), ["G2"]);
}
