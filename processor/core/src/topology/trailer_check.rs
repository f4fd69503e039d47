//! Whether a task's commits can name its stores: each one with a changelog has a place in the metadata of one offset, which has a limit.

use super::Subtopology;
use crate::StoreInfo;
use crate::commit::{METADATA_MAX_BYTES, OffsetMetadata, StorePosition, Trailer, store_hash};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{Offset, Timestamp};
use millstream_state::{ChangelogOptions, CommitId};

/// What is wrong, a sentence each.
pub(super) fn problems(subtopologies: &[Subtopology]) -> Vec<String> {
    let mut problems = Vec::new();
    for subtopology in subtopologies {
        let logged = subtopology.stores().iter().filter(|store| !matches!(store.changelog(), ChangelogOptions::Off));
        let names: Vec<&str> = logged.map(StoreInfo::name).collect();
        check_size(subtopology.id(), &names, &mut problems);
        check_hashes(&names, &mut problems);
    }
    problems
}

/// The largest that it can become: every number takes the most bytes.
fn check_size(subtopology: u32, names: &[&str], problems: &mut Vec<String>) {
    let largest = Offset::new(i64::MAX);
    let position = |name: &&str| StorePosition { store: store_hash(name), position: largest };
    let positions = names.iter().map(position).collect();
    let trailer = Trailer { offset: largest, commit: CommitId::new(u64::MAX, u64::MAX), positions };
    let metadata = OffsetMetadata { trailer: Some(trailer), ..OffsetMetadata::at(Timestamp::NONE) };
    if metadata.encode().is_err() {
        problems.push(format!(
            "sub-topology {subtopology}: it has {} stores with changelogs, whose positions may take more than the {METADATA_MAX_BYTES} \
             bytes of metadata that brokers keep with an offset; split it with a repartition topic",
            names.len()
        ));
    }
}

/// A commit names stores by a hash.
fn check_hashes(names: &[&str], problems: &mut Vec<String>) {
    let mut seen = HashMap::default();
    for name in names {
        if let Some(other) = seen.insert(store_hash(name), *name)
            && other != *name
        {
            problems
                .push(format!("stores `{other}` and `{name}`: commits cannot tell these two names apart; rename one"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_problems(stores: usize) -> Vec<String> {
        let names: Vec<String> = (0..stores).map(|store| format!("store-{store}")).collect();
        let mut problems = Vec::new();
        check_size(3, &names.iter().map(String::as_str).collect::<Vec<_>>(), &mut problems);
        problems
    }

    #[test]
    fn more_stores_than_a_commit_can_name_are_a_problem_of_the_topology() {
        assert_eq!(size_problems(200), Vec::<String>::new());
        let problems = size_problems(300);
        assert!(problems[0].starts_with("sub-topology 3: it has 300 stores with changelogs"), "{problems:?}");
    }

    #[test]
    fn stores_whose_names_have_one_hash_are_a_problem_of_the_topology() {
        let mut problems = Vec::new();
        check_hashes(&["sums", "counts"], &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        check_hashes(&["sums", "wcjifoae", "ccaoacux"], &mut problems);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
