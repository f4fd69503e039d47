//! The assignor by direct calls: what moves, what stays, and that it always ends.

use super::*;
use millstream_protocol::PartitionId;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use std::collections::HashMap;

#[derive(Debug, Clone)]
struct Group {
    topics: Vec<(&'static str, i32)>,
    subtopologies: Vec<Vec<&'static str>>,
    members: Vec<MemberFacts>,
}

impl Group {
    fn new(topics: &[(&'static str, i32)], subtopologies: &[&[&'static str]], members: &[&str]) -> Self {
        let all: Vec<TopicName> = topics.iter().map(|(topic, _)| TopicName::from(*topic)).collect();
        let member =
            |id: &&str| MemberFacts { member_id: (*id).to_owned(), topics: all.clone(), ..MemberFacts::default() };
        Self {
            topics: topics.to_vec(),
            subtopologies: subtopologies.iter().map(|topics| topics.to_vec()).collect(),
            members: members.iter().map(member).collect(),
        }
    }

    fn tasks(&self) -> TaskPartitions {
        let topics = |names: &Vec<&'static str>| names.iter().map(|name| TopicName::from(*name)).collect();
        let subtopologies = (0..).zip(&self.subtopologies);
        let all = subtopologies.map(|(subtopology, names)| SubtopologyTopics { subtopology, topics: topics(names) });
        let counts: HashMap<TopicName, i32> =
            self.topics.iter().map(|(name, count)| (TopicName::from(*name), *count)).collect();
        TaskPartitions::new(all.collect(), |topic| counts.get(topic).copied())
    }

    fn round(&mut self, generation: i32) -> HashMap<String, Vec<String>> {
        let answers = assign(&self.tasks(), &self.members);
        self.members.sort_by(|left, right| left.member_id.cmp(&right.member_id));
        for (member, answer) in self.members.iter_mut().zip(&answers) {
            assert_eq!(member.member_id, answer.member_id);
            member.owned.clone_from(&answer.partitions);
            member.generation = Some(generation);
        }
        let names = |answer: &MemberTasks| answer.tasks.iter().map(ToString::to_string).collect();
        answers.iter().map(|answer| (answer.member_id.clone(), names(answer))).collect()
    }

    fn join(&mut self, id: &str) {
        let topics = self.members.first().map(|member| member.topics.clone()).unwrap_or_default();
        self.members.push(MemberFacts { member_id: id.to_owned(), topics, ..MemberFacts::default() });
    }
}

fn of(tasks: &[&str]) -> Vec<String> {
    tasks.iter().map(|task| (*task).to_owned()).collect()
}

#[test]
fn partition_p_of_all_topics_of_a_subtopology_goes_to_one_member() {
    let mut group = Group::new(&[("a", 4), ("b", 2), ("c", 4)], &[&["a", "b"], &["c"]], &["one", "two", "three"]);
    let tasks = group.tasks();
    let answers = assign(&tasks, &group.members);
    for answer in &answers {
        let theirs: HashSet<Option<TaskId>> =
            answer.partitions.iter().map(|partition| tasks.task_of(partition)).collect();
        assert_eq!(theirs, answer.tasks.iter().copied().map(Some).collect());
    }
    assert_eq!(answers.iter().map(|answer| answer.partitions.len()).sum::<usize>(), 10);
    assert_eq!(tasks.partitions(TaskId::new(0, PartitionId::new(3))), [TopicPartition::new("a", 3)]);
    assert!(group.round(1).values().all(|tasks| (2..=3).contains(&tasks.len())));
}

#[test]
fn moving_task_is_in_nobodys_assignment_in_the_round_that_takes_it_away() {
    let mut group = Group::new(&[("a", 4)], &[&["a"]], &["one"]);
    assert_eq!(group.round(1)["one"], of(&["0_0", "0_1", "0_2", "0_3"]));
    group.join("two");
    let first = group.round(2);
    assert_eq!((&first["one"], &first["two"]), (&of(&["0_0", "0_1"]), &of(&[])));
    let second = group.round(3);
    assert_eq!((&second["one"], &second["two"]), (&of(&["0_0", "0_1"]), &of(&["0_2", "0_3"])));
    assert_eq!(group.round(4), second);
}

#[test]
fn survivors_keep_their_tasks_when_a_member_goes() {
    let mut group = Group::new(&[("a", 6)], &[&["a"]], &["one", "two", "three"]);
    let before = group.round(1);
    group.members.retain(|member| member.member_id != "three");
    let after = group.round(2);
    for member in ["one", "two"] {
        assert!(before[member].iter().all(|task| after[member].contains(task)), "{before:?} {after:?}");
        assert_eq!(after[member].len(), 3);
    }
}

#[test]
fn returning_member_gets_the_tasks_whose_state_it_has() {
    let mut group = Group::new(&[("a", 4)], &[&["a"]], &["one"]);
    group.round(1);
    group.join("two");
    let local_state = vec![
        TaskId::new(0, PartitionId::new(0)),
        TaskId::new(0, PartitionId::new(2)),
        TaskId::new(9, PartitionId::new(-1)),
    ];
    group.members[1].user_data = UserData { process_id: [7; 16], local_state, given_up: Vec::new() }.encode();
    group.round(2);
    assert_eq!(group.round(3)["two"], of(&["0_0", "0_2"]));
}

#[test]
fn task_that_a_member_has_given_up_goes_to_another_or_to_nobody() {
    let mut group = Group::new(&[("a", 2)], &[&["a"]], &["one"]);
    group.round(1);
    let given_up = vec![TaskId::new(0, PartitionId::new(1))];
    group.members[0].user_data = UserData { given_up, ..UserData::default() }.encode();
    assert_eq!(group.round(2)["one"], of(&["0_0"]), "nobody else is there");
    group.join("two");
    assert_eq!(group.round(3)["two"], of(&["0_1"]));
    group.members[0].user_data = UserData::default().encode();
    group.members.truncate(1);
    assert_eq!(group.round(4)["one"], of(&["0_0", "0_1"]), "it has come back");
}

#[test]
fn claim_of_an_old_generation_is_not_believed_but_waited_for() {
    let mut group = Group::new(&[("a", 1)], &[&["a"]], &["new", "old"]);
    let partition = TopicPartition::new("a", 0);
    for (member, generation) in group.members.iter_mut().zip([7, 3]) {
        member.owned = vec![partition.clone()];
        member.generation = Some(generation);
    }
    let first = assign(&group.tasks(), &group.members);
    assert!(first.iter().all(|answer| answer.tasks.is_empty()), "the old owner has yet to let go");
    group.members[1].owned.clear();
    assert_eq!(group.round(8)["new"], of(&["0_0"]));
}

#[test]
fn member_without_a_topic_runs_none_of_the_tasks_that_read_it() {
    let mut group = Group::new(&[("a", 2), ("b", 2)], &[&["a"], &["b"]], &["new", "old"]);
    group.members[1].topics = vec![TopicName::from("a")];
    let first = group.round(1);
    assert!(first["new"].contains(&"1_0".to_owned()) && first["new"].contains(&"1_1".to_owned()));
    assert_eq!(first["old"], of(&["0_0", "0_1"]));
}

#[test]
fn topic_that_is_not_there_makes_no_tasks() {
    let group = Group::new(&[("a", 0)], &[&["a", "missing"]], &["one"]);
    assert_eq!(assign(&group.tasks(), &group.members), [MemberTasks::none("one")]);
}

#[test]
fn user_data_of_a_later_version_is_read_as_far_as_it_is_known() {
    let mine = UserData {
        process_id: [3; 16],
        local_state: vec![TaskId::new(1, PartitionId::new(2))],
        given_up: vec![TaskId::new(0, PartitionId::new(9))],
    };
    let mut later = mine.encode().to_vec();
    later[..2].copy_from_slice(&9_u16.to_be_bytes());
    later.extend_from_slice(b"what version 9 adds");
    assert_eq!(UserData::decode(&later), mine);
    later[2..4].copy_from_slice(&3_u16.to_be_bytes());
    assert_eq!(UserData::decode(&later), UserData::default(), "it says that version 2 cannot read it");
}

fn hostile_members() -> impl Strategy<Value = Vec<MemberFacts>> {
    let partition = (0..4_usize, -2..12_i32)
        .prop_map(|(topic, partition)| TopicPartition::new(["a", "b", "c", "x"][topic], partition));
    let topics = vec(0..4_usize, 0..4)
        .prop_map(|at| at.into_iter().map(|at| TopicName::from(["a", "b", "c", "x"][at])).collect());
    let member = (0..9_u8, topics, vec(partition, 0..30), any::<Option<i32>>(), vec(any::<u8>(), 0..60)).prop_map(
        |(id, topics, owned, generation, user_data)| MemberFacts {
            member_id: id.to_string(),
            topics,
            owned,
            generation,
            user_data: user_data.into(),
        },
    );
    vec(member, 0..9)
}

proptest! {
    #[test]
    fn any_input_ends_in_an_assignment_without_double_owners(members in hostile_members(), widths in [0..9_i32, 0..9, 0..9]) {
        let mut group = Group::new(&[("a", widths[0]), ("b", widths[1]), ("c", widths[2])], &[&["a", "b"], &["c"]], &[]);
        group.members = members;
        let tasks = group.tasks();
        let answers = assign(&tasks, &group.members);
        let given: Vec<TaskId> = answers.iter().flat_map(|answer| answer.tasks.clone()).collect();
        prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
        group.members.reverse();
        let ids: HashSet<String> = group.members.iter().map(|member| member.member_id.clone()).collect();
        if ids.len() == group.members.len() {
            prop_assert_eq!(assign(&tasks, &group.members), answers, "the members' order changed the answer");
        }
    }

    #[test]
    fn joins_and_departures_end_balanced_and_still(width in 1..12_i32, changes in vec((any::<bool>(), 0..6_u8), 1..8)) {
        let mut group = Group::new(&[("a", width), ("b", 3)], &[&["a"], &["b"]], &["m0"]);
        let mut generation = 1;
        for (joins, id) in changes {
            let id = format!("m{id}");
            let known = group.members.iter().any(|member| member.member_id == id);
            if joins && !known {
                group.join(&id);
            } else if group.members.len() > 1 {
                group.members.retain(|member| member.member_id != id);
            }
            group.round(generation);
            let settled = group.round(generation + 1);
            prop_assert_eq!(&group.round(generation + 2), &settled, "a third round moved something");
            generation += 3;
            let loads: Vec<usize> = settled.values().map(Vec::len).collect();
            prop_assert_eq!(loads.iter().sum::<usize>(), usize::try_from(width).unwrap_or(0) + 3);
            prop_assert!(loads.iter().max().zip(loads.iter().min()).is_some_and(|(most, least)| most - least <= 1), "{:?}", settled);
        }
    }

    #[test]
    fn user_data_reads_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        let read = UserData::decode(&bytes);
        prop_assert_eq!(UserData::decode(&read.encode()), read);
    }
}
