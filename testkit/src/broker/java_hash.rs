//! Java's hashes, by which Kafka finds the partition of a group and the order of a table.

use millstream_protocol::messages::Uuid;

/// `String.hashCode`.
pub(crate) fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}
/// `Uuid.hashCode` of Kafka.
pub(crate) fn uuid_hash(id: Uuid) -> i32 {
    let (high, low) = id.as_u64_pair();
    let mixed = high ^ low;
    let upper = u32::try_from(mixed >> 32).unwrap_or(0);
    let lower = u32::try_from(mixed & u64::from(u32::MAX)).unwrap_or(0);
    (upper ^ lower).cast_signed()
}
/// The partition of an internal topic that belongs to a group or a transactional id.
pub(crate) fn partition_for(key: &str, partitions: usize) -> usize {
    // The smallest number has no counterpart; Kafka takes zero for it.
    let hash = usize::try_from(string_hash(key).checked_abs().unwrap_or(0)).unwrap_or(0);
    hash.checked_rem(partitions).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_hash_as_in_java() {
        assert_eq!(string_hash("member-1"), -649_440_834);
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("é"), 233);
    }

    #[test]
    fn a_group_has_the_partition_that_kafka_gives_it() {
        assert_eq!(partition_for("member-1", 50), 34);
        // Its hash is the smallest number.
        assert_eq!((string_hash("polygenelubricants"), partition_for("polygenelubricants", 50)), (i32::MIN, 0));
    }
}
