//! Hashes that Kafka computed.

use millstream_protocol::{PartitionId, murmur2, partition_for_key};
use millstream_vectors::{bytes, rows};

#[test]
fn keys_go_to_the_partitions_that_java_sends_them_to() {
    let mut partitions = 0;
    for row in rows("partitioner") {
        let key = bytes(&row, "key");
        assert_eq!(i64::from(murmur2(&key)), row["murmur2"], "{}", row["key"]);
        for (count, partition) in row["partition"].as_object().expect("partitions by their number") {
            let count = count.parse().expect("a number");
            let ours = partition_for_key(&key, count).map(PartitionId::get);
            assert_eq!(ours.map(i64::from), partition.as_i64(), "{} of {count}", row["key"]);
            partitions += 1;
        }
    }
    assert!(partitions > 0, "the corpus is empty");
}

#[test]
fn checksums_are_kafkas() {
    for row in rows("partitioner") {
        let key = bytes(&row, "key");
        assert_eq!(u64::from(crc32c::crc32c(&key)), row["crc32c"].as_u64().expect("a number"));
        assert_eq!(u64::from(crc32fast::hash(&key)), row["crc32"].as_u64().expect("a number"));
    }
}
