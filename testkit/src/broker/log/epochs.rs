//! Which leader wrote what: the first offset of each leader epoch (Kafka's `LeaderEpochFileCache`).

/// The epochs of a log, oldest first; both numbers rise from entry to entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Epochs(Vec<(i32, i64)>);

impl Epochs {
    /// An epoch begins at an offset. One in which nothing was written makes room for it.
    pub(crate) fn begin(&mut self, epoch: i32, start: i64) {
        if self.0.last().is_some_and(|(last, _)| *last >= epoch) {
            return;
        }
        self.0.retain(|(_, at)| *at < start);
        self.0.push((epoch, start));
    }
    /// The log ends earlier.
    pub(crate) fn truncate(&mut self, end: i64) {
        self.0.retain(|(_, start)| *start < end);
    }
    /// The log starts later.
    pub(crate) fn forget_before(&mut self, offset: i64) {
        let first = self.0.partition_point(|(_, start)| *start <= offset).saturating_sub(1);
        self.0.drain(..first);
        if let Some((_, start)) = self.0.first_mut() {
            *start = (*start).max(offset);
        }
    }
    /// The largest epoch not above the one asked for, and where it ends (KIP-320); none when the log has never heard of one so new.
    pub(crate) fn end_of(&self, asked: i32, log_end: i64) -> Option<(i32, i64)> {
        let after = self.0.partition_point(|(epoch, _)| *epoch <= asked);
        let known = after.checked_sub(1).and_then(|at| self.0.get(at));
        match (known, self.0.get(after)) {
            (Some((epoch, _)), None) => (*epoch == asked).then_some((asked, log_end)),
            (Some((epoch, _)), Some((_, end))) => Some((*epoch, *end)),
            (None, Some((_, end))) => Some((asked, *end)),
            (None, None) => None,
        }
    }
    /// The epoch in which an offset was written.
    pub(crate) fn at(&self, offset: i64) -> Option<i32> {
        let after = self.0.partition_point(|(_, start)| *start <= offset);
        after.checked_sub(1).and_then(|at| self.0.get(at)).map(|(epoch, _)| *epoch)
    }
    /// The newest.
    pub(crate) fn latest(&self) -> Option<i32> {
        self.0.last().map(|(epoch, _)| *epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_ends_where_the_next_one_starts() {
        let mut epochs = Epochs::default();
        epochs.begin(1, 0);
        epochs.begin(4, 10);
        let cases = [(0, Some((0, 0))), (1, Some((1, 10))), (3, Some((1, 10))), (4, Some((4, 15))), (5, None)];
        for (asked, expected) in cases {
            assert_eq!(epochs.end_of(asked, 15), expected, "epoch {asked}");
        }
        assert_eq!((epochs.at(9), epochs.at(10)), (Some(1), Some(4)));
    }

    #[test]
    fn an_epoch_without_records_is_forgotten() {
        let mut epochs = Epochs::default();
        epochs.begin(0, 0);
        epochs.begin(1, 5);
        epochs.begin(2, 5);
        assert_eq!(epochs.end_of(1, 9), Some((0, 5)));
        epochs.truncate(5);
        assert_eq!(epochs.latest(), Some(0));
    }

    #[test]
    fn a_log_that_starts_later_keeps_the_epoch_it_starts_in() {
        let mut epochs = Epochs::default();
        epochs.begin(0, 0);
        epochs.begin(1, 5);
        epochs.begin(2, 8);
        epochs.forget_before(6);
        assert_eq!((epochs.at(5), epochs.at(6), epochs.at(8)), (None, Some(1), Some(2)));
    }
}
