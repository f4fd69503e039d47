//! How OffsetCommit and TxnOffsetCommit tell what became of the partitions that they name. Where Kafka does not know some of them it tells of these
//! first, and of each topic once; else it answers topic by topic as it was asked.

use millstream_protocol::ErrorCode;
use millstream_protocol::hash::HashMap;
use std::hash::Hash;

/// What became of partitions, by their indexes.
pub(super) type Told = Vec<(i32, ErrorCode)>;

/// Brings what became of each topic's partitions, in the order of the request, into that of the answer.
pub(super) fn arranged<T: Clone + Eq + Hash>(topics: Vec<(T, Told)>) -> Vec<(T, Told)> {
    if !topics.iter().flat_map(|(_, told)| told).any(is_unknown) {
        return topics;
    }
    let mut places = HashMap::default();
    let mut arranged: Vec<(T, Told)> = Vec::new();
    for wants_unknown in [true, false] {
        for (topic, told) in &topics {
            let told = told.iter().filter(|each| is_unknown(each) == wants_unknown);
            for each in told.copied() {
                let place = *places.entry(topic.clone()).or_insert(arranged.len());
                if place == arranged.len() {
                    arranged.push((topic.clone(), Told::new()));
                }
                arranged.get_mut(place).into_iter().for_each(|(_, of_topic)| of_topic.push(each));
            }
        }
    }
    arranged
}
fn is_unknown((_, code): &(i32, ErrorCode)) -> bool {
    matches!(*code, ErrorCode::UNKNOWN_TOPIC_ID | ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ErrorCode as Code;

    const NONE: Code = Code::NONE;
    const UNKNOWN: Code = Code::UNKNOWN_TOPIC_OR_PARTITION;

    type Asked = &'static [(&'static str, i32, Code)];
    type Answered = &'static [(&'static str, &'static [i32])];

    // As a real Kafka 4.4 answered versions 9 and 10 of OffsetCommit.
    #[test]
    fn what_is_unknown_comes_first_and_once() {
        let cases: [(Asked, Answered); 6] = [
            (&[("t", 0, NONE), ("t", 1, NONE)], &[("t", &[0]), ("t", &[1])]),
            (&[("u", 0, UNKNOWN), ("u", 1, UNKNOWN)], &[("u", &[0, 1])]),
            (&[("t", 0, NONE), ("u", 0, UNKNOWN), ("t", 1, NONE)], &[("u", &[0]), ("t", &[0, 1])]),
            (
                &[("u", 0, UNKNOWN), ("t", 0, NONE), ("v", 1, UNKNOWN), ("u", 1, UNKNOWN)],
                &[("u", &[0, 1]), ("v", &[1]), ("t", &[0])],
            ),
            (&[("t", 0, NONE), ("t", 5, UNKNOWN)], &[("t", &[5, 0])]),
            (&[("t", 5, UNKNOWN), ("t", 0, NONE)], &[("t", &[5, 0])]),
        ];
        for (asked, answered) in cases {
            let asked = asked.iter().map(|(topic, index, code)| (*topic, vec![(*index, *code)])).collect();
            let told = arranged(asked);
            let indexes = |told: &Told| told.iter().map(|(index, _)| *index).collect::<Vec<_>>();
            let told: Vec<_> = told.iter().map(|(topic, told)| (*topic, indexes(told))).collect();
            assert_eq!(told, answered.iter().map(|(topic, indexes)| (*topic, indexes.to_vec())).collect::<Vec<_>>());
        }
    }
}
