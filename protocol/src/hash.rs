//! Maps and sets whose order is the same in every run.
//!
//! What a client does must not hang on the order in which a map happens to be walked: a run could not be told again from its seed. So
//! nothing in these packages uses a hasher that is seeded by chance. The keys are names and ids that brokers and the application
//! choose, whose number is bounded by other means; `docs/decisions.md` says more.

use foldhash::fast::FixedState;

/// A map that is walked in the same order in every run that does the same to it.
pub type HashMap<K, V> = hashbrown::HashMap<K, V, FixedState>;
/// A set that is walked in the same order in every run that does the same to it.
pub type HashSet<T> = hashbrown::HashSet<T, FixedState>;

#[cfg(test)]
mod tests {
    use super::HashMap;

    #[test]
    fn the_order_of_a_map_is_that_of_any_other_with_the_same_past() {
        let walk = || (0..100).map(|key| (key, ())).collect::<HashMap<i32, ()>>().into_keys().collect::<Vec<_>>();
        assert_eq!(walk(), walk());
    }
}
