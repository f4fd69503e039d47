//! K-8: committed transactions do not depend on each other in a circle, as far as Kafka keeps them apart.
//!
//! | edge | from, to | what Kafka says of it |
//! | --- | --- | --- |
//! | ww | who wrote a record, who wrote the next one in its partition | nothing: who is first may commit last |
//! | wr | who wrote a record, who reads it | a reader of committed records gets it after the commit |
//! | rw | who read a record, who wrote the next one in its partition | nothing: a poll may end before a record that is there |
//! | rw | who consumed up to a position, who consumed from there on | the position is there for others after the commit |
//!
//! `G1c` is a circle of wr edges; and of wr edges behind ww edges of the same partition, since a reader of committed records gets nothing that
//! lies behind a record of a transaction that is open (the last stable offset): all that lies before what it reads is decided. A transaction
//! that reads on behind its own record is such a circle, too.
//!
//! `G2` is a circle with edges over positions: two transactions that consume from one position are a lost update, each before the other; and
//! none reads what is written by one that consumes after it.
//!
//! Not reported, because they are normal: circles of ww edges alone (G0), those of ww and wr edges in several partitions, as Jepsen's
//! suite for Kafka has it, circles over what readers of uncommitted records read, and those that need rw edges over records: of these the ones
//! that stay in one partition cannot be without a `G1c` of that partition.

mod search;

use super::facts::Facts;
use super::{Checker, Ended, Event, History, TransactionId, Violation};
use millstream_protocol::TopicPartition;
use search::Graph;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let reads = Reads::of(facts, history);
    let mut graph = Graph::new();
    reads.committed.iter().for_each(|(partition, by)| add_records(&mut graph, facts, partition, by));
    reads.consumed.values().for_each(|by| add_positions(&mut graph, by));
    found.extend(search::circles(&graph).iter().map(|circle| violation(circle)));
}

/// A place in a circle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Transaction(TransactionId),
    /// A record; the next one of its partition follows from it, and so does who reads it.
    Record(TopicPartition, i64),
}

/// What transactions that are committed read. (Others may have been over, for their coordinator, when they read.)
#[derive(Debug, Default)]
struct Reads {
    /// Which offsets, where the consumer sees what is committed alone.
    committed: BTreeMap<TopicPartition, BTreeMap<i64, BTreeSet<TransactionId>>>,
    /// The first and the last offset of each.
    consumed: BTreeMap<TopicPartition, BTreeMap<TransactionId, (i64, i64)>>,
}

impl Reads {
    fn of(facts: &Facts, history: &History) -> Self {
        let is_committed = |transaction: &TransactionId| {
            facts.transactions.get(transaction).is_some_and(|course| course.outcome == Some(Ended::Committed))
        };
        let mut reads = Self::default();
        for (_, _, event) in history.events() {
            let Event::Polled { records, transaction: Some(reader), read_committed } = event else { continue };
            for read in records.iter().filter(|_| is_committed(reader)) {
                reads.note(&read.partition, read.offset, *reader, *read_committed);
            }
        }
        reads
    }
    fn note(&mut self, partition: &TopicPartition, offset: i64, reader: TransactionId, read_committed: bool) {
        if read_committed {
            let by = self.committed.entry(partition.clone()).or_default();
            by.entry(offset).or_default().insert(reader);
        }
        let by = self.consumed.entry(partition.clone()).or_default();
        let (first, last) = by.entry(reader).or_insert((offset, offset));
        (*first, *last) = (offset.min(*first), offset.max(*last));
    }
}

/// The ww and wr edges of a partition: from writers to their records, along these, and on to readers.
fn add_records(
    graph: &mut Graph<Node>,
    facts: &Facts,
    partition: &TopicPartition,
    readers: &BTreeMap<i64, BTreeSet<TransactionId>>,
) {
    let Some(places) = facts.places.get(partition) else { return };
    let writer = |value| facts.sends.get(value).and_then(|sent| sent.transaction);
    let mut before = None;
    for (offset, values) in places {
        let record = Node::Record(partition.clone(), *offset);
        let writers = values.iter().filter_map(writer).map(Node::Transaction);
        writers.chain(before).for_each(|from| _ = graph.entry(from).or_default().insert(record.clone()));
        let readers = readers.get(offset).into_iter().flatten().copied().map(Node::Transaction);
        graph.entry(record.clone()).or_default().extend(readers);
        before = Some(record);
    }
}

/// The edges over a partition's position: to who goes on from it, and back where two have taken the same.
fn add_positions(graph: &mut Graph<Node>, consumed: &BTreeMap<TransactionId, (i64, i64)>) {
    let mut order: Vec<_> = consumed.iter().map(|(transaction, (first, last))| (*first, *last, *transaction)).collect();
    order.sort_unstable();
    for ((_, last, one), (first, _, next)) in order.iter().zip(order.iter().skip(1)) {
        let (one, next) = (Node::Transaction(*one), Node::Transaction(*next));
        graph.entry(one.clone()).or_default().insert(next.clone());
        if first <= last {
            graph.entry(next).or_default().insert(one);
        }
    }
}

fn violation(circle: &[Node]) -> Violation {
    let next = circle.iter().cycle().skip(1);
    let is_over_positions =
        circle.iter().zip(next).any(|pair| matches!(pair, (Node::Transaction(_), Node::Transaction(_))));
    let steps: Vec<String> = circle.iter().map(step).collect();
    let text = format!("these follow from one another in a circle: {}", steps.join(", "));
    Violation::new(Checker::K8, if is_over_positions { "G2" } else { "G1c" }, text)
}
fn step(node: &Node) -> String {
    match node {
        Node::Transaction(transaction) => format!("{transaction:?}"),
        Node::Record(partition, offset) => format!("{partition}@{offset}"),
    }
}
