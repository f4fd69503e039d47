//! Which partitions have moved between whom, so that a later move can undo an earlier one instead of adding to it.

use super::Place;
use std::collections::{BTreeMap, BTreeSet};

/// From one member to another.
type Pair = (usize, usize);

#[derive(Default)]
pub(super) struct Movements {
    of_place: BTreeMap<Place, Pair>,
    of_topic: BTreeMap<(usize, Pair), BTreeSet<Place>>,
}

impl Movements {
    pub(super) fn record(&mut self, place: Place, from: usize, to: usize) {
        let origin = self.forget(place).map_or(from, |(origin, _)| origin);
        if origin != to {
            self.of_place.insert(place, (origin, to));
            self.of_topic.entry((place.0, (origin, to))).or_default().insert(place);
        }
    }
    /// The partition to move in this one's stead: one of the topic that went the other way before.
    pub(super) fn actual(&self, place: Place, from: usize, to: usize) -> Place {
        let origin = self.of_place.get(&place).map_or(from, |(origin, _)| *origin);
        let reverse = self.of_topic.get(&(place.0, (to, origin)));
        reverse.and_then(|places| places.first()).copied().unwrap_or(place)
    }
    fn forget(&mut self, place: Place) -> Option<Pair> {
        let pair = self.of_place.remove(&place)?;
        if let Some(places) = self.of_topic.get_mut(&(place.0, pair)) {
            places.remove(&place);
            if places.is_empty() {
                self.of_topic.remove(&(place.0, pair));
            }
        }
        Some(pair)
    }
}
