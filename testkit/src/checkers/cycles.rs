//! K-8: no transactions read each other's writes in a circle. (Circles that need the order of writes are normal in Kafka, where
//! transactions do not wait for each other.)

use super::facts::Facts;
use super::{Checker, Event, History, TransactionId, Violation};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(facts: &Facts, history: &History, found: &mut Vec<Violation>) {
    let graph = graph(facts, history);
    let mut state = Search::default();
    for start in graph.keys() {
        if let Some(circle) = state.circle_from(&graph, *start) {
            let text = format!("these read from one another: {circle:?}");
            found.push(Violation::new(Checker::K8, "G1c", text));
        }
    }
}

type Graph = BTreeMap<TransactionId, BTreeSet<TransactionId>>;

/// Who read what who wrote: from the writer to the reader.
fn graph(facts: &Facts, history: &History) -> Graph {
    let mut graph = Graph::new();
    for (_, _, event) in history.events() {
        let Event::Polled { records, transaction: Some(reader), .. } = event else { continue };
        for read in records {
            let writer = facts.sends.get(&read.value).and_then(|sent| sent.transaction);
            if let Some(writer) = writer.filter(|writer| writer != reader) {
                graph.entry(writer).or_default().insert(*reader);
            }
        }
    }
    graph
}

/// A search that goes into no node twice, without recursion: histories are long.
#[derive(Debug, Default)]
struct Search {
    done: BTreeSet<TransactionId>,
}
impl Search {
    fn circle_from(&mut self, graph: &Graph, start: TransactionId) -> Option<Vec<TransactionId>> {
        let mut path: Vec<(TransactionId, Vec<TransactionId>)> = Vec::new();
        let next =
            |node: &TransactionId| graph.get(node).map(|next| next.iter().copied().collect()).unwrap_or_default();
        if !self.done.contains(&start) {
            path.push((start, next(&start)));
        }
        while let Some((node, open)) = path.last_mut() {
            let node = *node;
            match open.pop() {
                None => {
                    self.done.insert(node);
                    path.pop();
                }
                Some(to) => {
                    if let Some(from) = path.iter().position(|(node, _)| *node == to) {
                        self.done.extend(path.iter().map(|(node, _)| *node));
                        return Some(path.iter().skip(from).map(|(node, _)| *node).collect());
                    }
                    if !self.done.contains(&to) {
                        path.push((to, next(&to)));
                    }
                }
            }
        }
        None
    }
}
