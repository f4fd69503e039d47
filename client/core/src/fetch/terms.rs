//! In which leaders' terms what was read was written, as a replica knows it of its own log. The term of the last record alone does not tell
//! where a log parts from what was read, when its leader has never heard of that term:
//!
//! ```text
//!  read    │ 3 3 3 │ 5 5 5 ▲ position, of term 5
//!  leader  │ 3 3 3 │ 4 4 4 4 4 …     up to term 5 it ends behind the position, but 4 4 4 was never read
//! ```

use super::Position;
use millstream_protocol::LeaderEpoch;
use std::collections::VecDeque;

/// Terms in their order, each with the first offset that was read of it.
#[derive(Debug, Default)]
pub(super) struct Terms(VecDeque<(LeaderEpoch, i64)>);

impl Terms {
    /// From `first` on this term was read.
    pub(super) fn note(&mut self, epoch: LeaderEpoch, first: i64) {
        if self.0.back().is_some_and(|(last, _)| *last == epoch) {
            return;
        }
        self.0.push_back((epoch, first));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }
    /// Notes what was read after that.
    pub(super) fn extend(&mut self, later: Self) {
        later.0.into_iter().for_each(|(epoch, first)| self.note(epoch, first));
    }
    /// What was read before an offset.
    #[must_use]
    pub(super) fn up_to(mut self, offset: i64) -> Self {
        self.0.retain(|(_, first)| *first < offset);
        self
    }
    /// Where what was read parts at the latest from a log that has this term up to there and has not heard of later ones.
    pub(super) fn parting(&self, log: Position) -> Position {
        let is_later = |epoch: LeaderEpoch| log.epoch.is_some_and(|known| epoch > known);
        let unknown = self.0.iter().find(|(epoch, _)| is_later(*epoch)).map(|(_, first)| *first);
        let offset = unknown.map_or(log.offset, |first| first.min(log.offset));
        let before = self.0.iter().rfind(|(_, first)| *first < offset).map(|(epoch, _)| *epoch);
        Position { offset, epoch: before.or(log.epoch) }
    }
}

/// How many terms are remembered. Whose log parts before all of them is read again from the first of them on.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(terms: &[(i32, i64)]) -> Terms {
        let mut read = Terms::default();
        terms.iter().for_each(|(epoch, first)| read.note(LeaderEpoch::new(*epoch), *first));
        read
    }
    fn at(offset: i64, epoch: i32) -> Position {
        Position { offset, epoch: Some(LeaderEpoch::new(epoch)) }
    }

    #[test]
    fn a_log_parts_where_a_term_begins_that_it_has_not_heard_of() {
        let terms = read(&[(3, 10), (3, 12), (5, 20), (7, 30)]);
        for (log, parts) in [
            (at(90, 7), at(90, 7)),
            (at(90, 6), at(30, 5)),
            (at(90, 5), at(30, 5)),
            (at(25, 5), at(25, 5)),
            (at(90, 4), at(20, 3)),
            (at(15, 4), at(15, 3)),
            // What lies before was not read: the leader's word is all there is.
            (at(90, 2), at(10, 2)),
            (at(5, 2), at(5, 2)),
        ] {
            assert_eq!(terms.parting(log), parts, "{log:?}");
        }
    }

    #[test]
    fn what_was_read_behind_a_place_is_forgotten_when_reading_goes_back_to_it() {
        let terms = read(&[(3, 10), (5, 20)]).up_to(20);
        assert_eq!(terms.parting(at(90, 4)), at(90, 3));
    }

    #[test]
    fn a_log_that_parts_before_all_that_is_remembered_is_read_from_there_on() {
        let terms = (0..100).map(|term| (term, i64::from(term) * 10)).collect::<Vec<_>>();
        assert_eq!(read(&terms).parting(at(2000, 7)), at(360, 7));
    }
}
