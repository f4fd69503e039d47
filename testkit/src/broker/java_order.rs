//! The order in which Java goes through a hash table: by bucket, and each key's bucket follows from its hash and the table's size.

use millstream_protocol::messages::Uuid;

/// The smallest table.
const LEAST: u32 = 16;

/// As a `HashMap` that began empty has its keys.
pub(crate) fn in_map_order<T>(items: Vec<T>, hash: impl Fn(&T) -> i32) -> Vec<T> {
    let mut buckets = LEAST;
    // A table doubles when it is three quarters full.
    while items.len() > usize::try_from(buckets / 4 * 3).unwrap_or(usize::MAX) {
        buckets *= 2;
    }
    by_bucket(items, buckets, hash)
}
/// As a `HashMap` that was made for as many keys has them.
pub(crate) fn in_sized_map_order<T>(items: Vec<T>, hash: impl Fn(&T) -> i32) -> Vec<T> {
    let wanted = u32::try_from(items.len()).unwrap_or(LEAST).next_power_of_two();
    let is_crowded = items.len() > usize::try_from(wanted).unwrap_or(usize::MAX) * 3 / 4;
    by_bucket(items, if is_crowded { wanted * 2 } else { wanted }, hash)
}
/// As a `HashSet` that was made from a collection has its members.
pub(crate) fn in_set_order<T>(items: Vec<T>, hash: impl Fn(&T) -> i32) -> Vec<T> {
    let wanted = u32::try_from(items.len() * 4 / 3 + 1).unwrap_or(LEAST).max(LEAST);
    by_bucket(items, wanted.next_power_of_two(), hash)
}
fn by_bucket<T>(mut items: Vec<T>, buckets: u32, hash: impl Fn(&T) -> i32) -> Vec<T> {
    items.sort_by_key(|item| {
        let hash = hash(item).cast_unsigned();
        (hash ^ (hash >> 16)) & (buckets - 1)
    });
    items
}

/// How Kafka compares ids: as two signed numbers.
pub(crate) fn uuid_rank(id: Uuid) -> (i64, i64) {
    let (high, low) = id.as_u64_pair();
    (high.cast_signed(), low.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thirteenth_key_doubles_the_table() {
        let numbers = |count: i32| (0..count).map(|number| number * 16).collect::<Vec<_>>();
        assert_eq!(in_map_order(numbers(12), |number| *number), numbers(12));
        let doubled = in_map_order(numbers(13), |number| *number);
        assert_eq!(&doubled[..7], [0, 32, 64, 96, 128, 160, 192]);
    }
}
