//! Random choices from a seed.

/// SplitMix64.
pub(crate) struct Chance {
    state: u64,
    /// Which versions are chosen.
    pub(crate) versions: Versions,
}
/// Which version of an API is chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Versions {
    Oldest,
    Newest,
    Any,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, versions: Versions::Any }
    }
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a small number");
        usize::try_from(self.next() % bound).expect("below a usize")
    }
    /// Once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
    /// One of these words.
    pub(crate) fn word(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
    /// A version from one to another, both included.
    pub(crate) fn version(&mut self, min: i16, max: i16) -> i16 {
        let count = usize::try_from(max - min + 1).expect("a range");
        let any = min + i16::try_from(self.below(count)).expect("within the range");
        match self.versions {
            Versions::Oldest => min,
            Versions::Newest => max,
            Versions::Any => any,
        }
    }
}
