//! The batches of a log, in order, with a sum of what they take: it is asked for whenever a cluster is full, however many they are.

use super::batch::Batch;
use std::collections::VecDeque;
use std::ops::Deref;

/// Batches, which are read as a queue.
#[derive(Debug, Default)]
pub(super) struct Batches {
    queue: VecDeque<Batch>,
    weight: usize,
}
impl Batches {
    pub(super) fn push_back(&mut self, batch: Batch) {
        self.weight += batch.weight();
        self.queue.push_back(batch);
    }
    /// Takes the first, if it may go.
    pub(super) fn pop_front_if(&mut self, may_go: impl FnOnce(&Batch) -> bool) -> Option<Batch> {
        let batch = self.queue.pop_front_if(|batch| may_go(batch))?;
        self.weight -= batch.weight();
        Some(batch)
    }
    /// Takes those from an index on.
    pub(super) fn split_off(&mut self, at: usize) -> VecDeque<Batch> {
        let lost = self.queue.split_off(at);
        self.weight -= lost.iter().map(Batch::weight).sum::<usize>();
        lost
    }
    /// Puts something else in the place of one; says whether there is one.
    pub(super) fn replace(&mut self, index: usize, with: impl FnOnce(&Batch) -> Batch) -> bool {
        let Some(batch) = self.queue.get_mut(index) else { return false };
        let replacement = with(batch);
        self.weight = self.weight - batch.weight() + replacement.weight();
        *batch = replacement;
        true
    }
    /// About how many bytes of memory they take.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}
impl Deref for Batches {
    type Target = VecDeque<Batch>;
    fn deref(&self) -> &VecDeque<Batch> {
        &self.queue
    }
}
impl From<VecDeque<Batch>> for Batches {
    fn from(queue: VecDeque<Batch>) -> Self {
        Self { weight: queue.iter().map(Batch::weight).sum(), queue }
    }
}
impl IntoIterator for Batches {
    type Item = Batch;
    type IntoIter = std::collections::vec_deque::IntoIter<Batch>;
    fn into_iter(self) -> Self::IntoIter {
        self.queue.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::with_header;
    use super::*;

    #[test]
    fn the_sum_is_that_of_what_is_there() {
        let batch = |offset| with_header(1, 0, |header| header.base_offset = offset);
        let assert_summed = |batches: &Batches| {
            assert_eq!(batches.weight(), batches.iter().map(Batch::weight).sum::<usize>());
        };
        let mut batches = Batches::default();
        (0..10).for_each(|offset| batches.push_back(batch(offset)));
        assert!(batches.weight() > 10 * batch(0).size());
        assert_summed(&batches);
        assert!(batches.pop_front_if(|batch| batch.base_offset == 0).is_some());
        assert_eq!(batches.split_off(5).len(), 4);
        assert!(batches.replace(0, |batch| batch.spoilt()) && !batches.replace(5, Batch::clone));
        assert_summed(&batches);
        let rest: VecDeque<Batch> = batches.into_iter().collect();
        assert_summed(&Batches::from(rest));
    }
}
