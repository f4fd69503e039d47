//! Circles in a graph: one at least, if there is any, and not all of them.

use std::collections::{BTreeMap, BTreeSet};

/// From each node to those that follow from it.
pub(super) type Graph<N> = BTreeMap<N, BTreeSet<N>>;

/// Goes into no node twice, and needs no recursion: histories are long.
pub(super) fn circles<N: Ord + Clone>(graph: &Graph<N>) -> Vec<Vec<N>> {
    let mut search = Search { graph, path: Vec::new(), place: BTreeMap::new(), done: BTreeSet::new() };
    graph.keys().filter_map(|start| search.circle_from(start)).collect()
}

#[derive(Debug)]
struct Search<'g, N> {
    graph: &'g Graph<N>,
    /// Where it is, with what is still to be looked at from each node on the way.
    path: Vec<(&'g N, Vec<&'g N>)>,
    /// Where on the path a node is.
    place: BTreeMap<&'g N, usize>,
    done: BTreeSet<&'g N>,
}

impl<'g, N: Ord + Clone> Search<'g, N> {
    fn circle_from(&mut self, start: &'g N) -> Option<Vec<N>> {
        self.enter(start);
        while let Some((_, open)) = self.path.last_mut() {
            let Some(next) = open.pop() else {
                self.leave();
                continue;
            };
            if let Some(from) = self.place.get(next) {
                let circle = self.path.iter().skip(*from).map(|(node, _)| (*node).clone()).collect();
                while !self.path.is_empty() {
                    self.leave();
                }
                return Some(circle);
            }
            self.enter(next);
        }
        None
    }
    fn enter(&mut self, node: &'g N) {
        if !self.done.contains(node) {
            self.place.insert(node, self.path.len());
            self.path.push((node, self.graph.get(node).into_iter().flatten().collect()));
        }
    }
    fn leave(&mut self) {
        if let Some((node, _)) = self.path.pop() {
            self.place.remove(node);
            self.done.insert(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(edges: &[(u8, u8)]) -> Vec<Vec<u8>> {
        let mut graph = Graph::new();
        edges.iter().for_each(|(from, to)| _ = graph.entry(*from).or_insert_with(BTreeSet::new).insert(*to));
        circles(&graph)
    }

    #[test]
    fn a_circle_is_found_without_what_leads_to_it() {
        assert_eq!(circles_of(&[(1, 2), (2, 3), (3, 2)]), [[2, 3]]);
        assert_eq!(circles_of(&[(1, 1)]), [[1]]);
    }

    #[test]
    fn two_ways_to_one_node_are_no_circle() {
        assert!(circles_of(&[(1, 2), (1, 3), (2, 4), (3, 4)]).is_empty());
    }
}
