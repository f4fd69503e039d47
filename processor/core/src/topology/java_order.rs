//! The order in which a Java `HashSet` of strings iterates. Kafka's `describe()` shows it, and its text is compared with ours.

/// Items in the order of a `HashSet` that they were added to in this order.
pub(super) fn hash_set_order<T>(items: impl IntoIterator<Item = T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    let mut buckets: u32 = 16;
    while items.len() * 4 > buckets as usize * 3 {
        buckets *= 2;
    }
    items.sort_by_key(|item| spread(hash(name(item))) & (buckets - 1));
    items
}

/// `String.hashCode`, of UTF-16 units.
fn hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)))
}
/// `HashMap.hash`.
const fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_topics_come_as_java_shows_them() {
        assert_eq!(hash_set_order(["in1", "in2"], |name| name), ["in2", "in1"]);
        assert_eq!(hash_set_order(["a", "b"], |name| name), ["a", "b"]);
    }
    #[test]
    fn hash_is_javas() {
        assert_eq!(hash("kafka"), 101_807_910);
    }
}
