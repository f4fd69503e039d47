//! Which schedules are due. Kafka Streams' rules: stream time fires at the first record and then on the epoch's grid, wall clock from
//! now; missed ticks become one call; the next is the first tick after the current time.

use crate::{Punctuation, PunctuationType, Schedule};
use millstream_protocol::Timestamp;
use std::time::Duration;

/// The schedules of a task, of both clocks.
#[derive(Debug, Default)]
pub(super) struct Schedules {
    stream_time: Clock,
    wall_clock: Clock,
    next_id: u64,
    /// Schedules from this on were made by the record in hand.
    first_of_record: u64,
}
#[derive(Debug, Default)]
struct Clock {
    entries: Vec<Entry>,
    /// The earliest of their due times, so that a record on which nothing fires costs one comparison.
    next_due: Option<i64>,
}
#[derive(Debug)]
struct Entry {
    schedule: Schedule,
    node: usize,
    due: i64,
    interval: i64,
}
/// A schedule that is due, and the node that made it.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) node: usize,
    pub(super) punctuation: Punctuation,
}

impl Schedules {
    /// Adds a schedule whose first tick is at `start`, or the first on its grid after `now` if that is past.
    pub(super) fn add(&mut self, node: usize, clock: PunctuationType, interval: Duration, start: Start) -> Schedule {
        let interval = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX).max(1);
        let due = match start {
            Start::At(time) => time.as_millis(),
            Start::OnGrid { anchor, now } => first_after(anchor.as_millis(), interval, now.as_millis()),
        };
        let schedule = Schedule::new(self.next_id);
        self.next_id += 1;
        self.clock(clock).push(Entry { schedule: schedule.clone(), node, due, interval });
        schedule
    }
    /// Takes the next schedule that is due at `now`, if there is one, and sets its next tick.
    pub(super) fn take_due(&mut self, clock: PunctuationType, now: Timestamp) -> Option<Due> {
        self.clock(clock).take_due(now.as_millis())
    }
    pub(super) fn begin_record(&mut self) {
        self.first_of_record = self.next_id;
    }
    /// Forgets the schedules that the record in hand has made, and takes its cancellations back. What was cancelled
    /// before it has left the list at its record's end, so all that are cancelled now are its own.
    pub(super) fn drop_record(&mut self) {
        for clock in [&mut self.stream_time, &mut self.wall_clock] {
            clock.entries.retain(|entry| entry.schedule.id() < self.first_of_record);
            clock.entries.iter().for_each(|entry| entry.schedule.revive());
            clock.find_next_due();
        }
    }
    /// Drops what is cancelled: the record in hand has ended.
    pub(super) fn end_record(&mut self) {
        for clock in [&mut self.stream_time, &mut self.wall_clock] {
            if clock.entries.iter().any(|entry| entry.schedule.is_cancelled()) {
                clock.entries.retain(|entry| !entry.schedule.is_cancelled());
                clock.find_next_due();
            }
        }
    }
    /// When the next wall-clock schedule is due.
    pub(super) fn next_wall_clock(&self) -> Option<Timestamp> {
        self.wall_clock.next_due.map(Timestamp::from_millis)
    }

    fn clock(&mut self, clock: PunctuationType) -> &mut Clock {
        match clock {
            PunctuationType::StreamTime => &mut self.stream_time,
            PunctuationType::WallClockTime => &mut self.wall_clock,
        }
    }
}
/// When a schedule first fires.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    /// Then.
    At(Timestamp),
    /// On the grid through `anchor`: at it, or the first tick after `now`.
    OnGrid { anchor: Timestamp, now: Timestamp },
}

impl Clock {
    fn push(&mut self, entry: Entry) {
        self.next_due = Some(self.next_due.map_or(entry.due, |due| due.min(entry.due)));
        self.entries.push(entry);
    }
    fn take_due(&mut self, now: i64) -> Option<Due> {
        if self.next_due.is_none_or(|due| due > now) {
            return None;
        }
        let entry =
            self.entries.iter_mut().filter(|entry| !entry.schedule.is_cancelled()).min_by_key(|entry| entry.due);
        let due = entry.filter(|entry| entry.due <= now).map(|entry| {
            entry.due = first_after(entry.due.saturating_add(entry.interval), entry.interval, now);
            let punctuation = Punctuation { schedule: entry.schedule.clone(), timestamp: Timestamp::from_millis(now) };
            Due { node: entry.node, punctuation }
        });
        self.find_next_due();
        due
    }
    fn find_next_due(&mut self) {
        self.next_due = self.entries.iter().filter(|entry| !entry.schedule.is_cancelled()).map(|entry| entry.due).min();
    }
}

/// `anchor` if it is after `now`, else the first tick of its grid that is.
fn first_after(anchor: i64, interval: i64, now: i64) -> i64 {
    if anchor > now {
        return anchor;
    }
    let missed = now.saturating_sub(anchor) / interval;
    anchor.saturating_add(missed.saturating_add(1).saturating_mul(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(schedules: &mut Schedules, clock: PunctuationType, now: i64) -> usize {
        std::iter::from_fn(|| schedules.take_due(clock, Timestamp::from_millis(now))).count()
    }

    #[test]
    fn missed_ticks_become_one_and_the_grid_stays() {
        let mut schedules = Schedules::default();
        let clock = PunctuationType::StreamTime;
        schedules.add(0, clock, Duration::from_millis(10), Start::At(Timestamp::EPOCH));
        let fired: Vec<_> = [4, 9, 10, 47, 49, 50].map(|now| fired(&mut schedules, clock, now)).into();
        assert_eq!(fired, [1, 0, 1, 1, 0, 1]);
    }
    #[test]
    fn undone_record_leaves_schedules_as_they_were() {
        let mut schedules = Schedules::default();
        let clock = PunctuationType::WallClockTime;
        let old = schedules.add(0, clock, Duration::from_millis(10), Start::At(Timestamp::from_millis(10)));
        schedules.begin_record();
        old.cancel();
        schedules.add(0, clock, Duration::from_millis(1), Start::At(Timestamp::from_millis(1)));
        schedules.drop_record();
        assert_eq!(fired(&mut schedules, clock, 9), 0, "what the record scheduled is gone");
        assert_eq!(fired(&mut schedules, clock, 10), 1, "what the record cancelled is back");
    }
}
