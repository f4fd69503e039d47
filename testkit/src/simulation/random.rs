//! Numbers from a seed: SplitMix64, which is enough to choose by and the same everywhere.

use std::time::Duration;

/// A stream of numbers. Two of the same seed give the same.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// Another stream, which takes nothing from this one however long it is used.
    pub(crate) fn fork(&self, purpose: u64) -> Self {
        let mut fork = Self(self.0 ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        fork.next();
        fork
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * (end as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }
    /// True once in `among` times.
    pub(crate) fn one_in(&mut self, among: usize) -> bool {
        self.below(among) == 0
    }
    /// A time between two.
    pub(crate) fn between(&mut self, from: Duration, to: Duration) -> Duration {
        let span = u64::try_from(to.saturating_sub(from).as_micros()).unwrap_or(u64::MAX);
        let wide = (u128::from(self.next()) * u128::from(span)) >> 64;
        from + Duration::from_micros(u64::try_from(wide).unwrap_or(0))
    }
    /// One of these.
    pub(crate) fn choose<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let index = self.below(choices.len());
        choices.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_forks_do_not_disturb_it() {
        let numbers = |random: &mut Random| (0..4).map(|_| random.below(1000)).collect::<Vec<_>>();
        let (mut one, mut other) = (Random::new(7), Random::new(7));
        let _ = one.fork(1).next();
        assert_eq!(numbers(&mut one), numbers(&mut other));
        assert_ne!(numbers(&mut one.fork(1)), numbers(&mut one.fork(2)));
    }

    #[test]
    fn numbers_stay_below_their_end() {
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }
}
