//! How much of what is remembered one answer may tell. A name of a few bytes may stand for megabytes: asked for again and again, or many such
//! names at once, they are all the memory that there is. Nobody has reason to; a real Kafka would end.

use crate::broker::Broker;
use crate::broker::groups::Group;
use millstream_protocol::messages::GroupId;
use std::collections::BTreeMap;

/// How often one thing may be asked for in one request.
pub(super) const MOST_REPEATS: usize = 100;
/// How many bytes may be told again in one answer.
const MOST_REPEATED_BYTES: usize = 64 << 20;
/// How many bytes may be told in one answer: what a cluster remembers of groups, topics and the like, all of it at once.
const MOST_TOLD_BYTES: usize = 512 << 20;

/// Whether an answer would tell too much of what is asked for: each thing with what it weighs.
pub(super) fn tells_too_much<K: Ord>(asked: impl IntoIterator<Item = K>, weight: impl Fn(&K) -> usize) -> bool {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    asked.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    let (mut told, mut again) = (0_usize, 0_usize);
    for (key, count) in &counts {
        let weight = weight(key);
        told = told.saturating_add(weight);
        again = again.saturating_add(weight.saturating_mul(count - 1));
    }
    told > MOST_TOLD_BYTES || again > MOST_REPEATED_BYTES || counts.values().any(|count| *count > MOST_REPEATS)
}
/// Whether an answer would tell too much of what is asked for one by one: what each weighs. Of these there are as many as a request has
/// numbers, too many to be counted by what they are.
pub(super) fn weighs_too_much(told: impl IntoIterator<Item = usize>) -> bool {
    told.into_iter().fold(0, usize::saturating_add) > MOST_TOLD_BYTES
}
/// The same of groups.
pub(super) fn tells_too_much_of_groups<'r>(broker: &Broker, ids: impl IntoIterator<Item = &'r GroupId>) -> bool {
    tells_too_much(ids, |id| broker.groups.find_shown(&id.0).map_or(0, Group::weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_has_a_bound_in_all_and_again_and_in_number() {
        let tells = |asked: &[usize]| tells_too_much(asked.iter().copied(), |weight| *weight);
        assert!(!tells(&[MOST_TOLD_BYTES]) && tells(&[MOST_TOLD_BYTES, 1]));
        assert!(!tells(&[MOST_REPEATED_BYTES; 2]) && tells(&[MOST_REPEATED_BYTES; 3]));
        assert!(!tells(&[1; MOST_REPEATS]) && tells(&[1; MOST_REPEATS + 1]));
        assert!(tells(&[usize::MAX, usize::MAX]));
        assert!(!weighs_too_much([MOST_TOLD_BYTES]) && weighs_too_much([MOST_TOLD_BYTES, 1]));
    }
}
