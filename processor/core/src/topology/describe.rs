//! `describe()`: the text that Kafka's tools draw, character for character.
//!
//! Nodes come by the size of what is below them, then by name. Kafka sorts neighbours while it still counts those sizes, in the
//! order of its hash sets, so the order of children here is found by doing the same.

use super::graph::{Graph, Node, NodeKind};
use super::java_order::hash_set_order;
use super::subtopology::Subtopology;
use std::cmp::Ordering;
use std::fmt::{self, Write};

pub(super) fn describe(graph: &Graph, subtopologies: &[Subtopology]) -> String {
    let mut text = "Topologies:\n ".to_owned();
    for subtopology in subtopologies {
        let _ = Picture::new(graph, subtopology.nodes()).write(subtopology.id(), &mut text);
    }
    text
}

struct Picture<'g> {
    graph: &'g Graph,
    nodes: Vec<usize>,
    /// By a node's place in the graph, as are the next two.
    sizes: Vec<usize>,
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
}
impl<'g> Picture<'g> {
    fn new(graph: &'g Graph, members: &[usize]) -> Self {
        let count = graph.nodes.len();
        let nodes = hash_set_order(members.iter().map(|node| (*node, &*graph.nodes[*node].name)), |(_, name)| name);
        let mut picture = Self {
            graph,
            nodes: Vec::new(),
            sizes: vec![1; count],
            parents: vec![Vec::new(); count],
            children: vec![Vec::new(); count],
        };
        for &(node, _) in &nodes {
            picture.connect(node);
        }
        for (node, _) in nodes {
            picture.nodes.insert(picture.place(&picture.nodes, node), node);
        }
        picture
    }
    fn connect(&mut self, node: usize) {
        let graph = self.graph;
        let mut parents: Vec<usize> = Vec::new();
        for parent in &graph.nodes[node].parents {
            if !parents.contains(&parent.index) {
                parents.push(parent.index);
            }
        }
        for parent in parents {
            let place = self.place(&self.parents[node], parent);
            self.parents[node].insert(place, parent);
            let place = self.place(&self.children[parent], node);
            self.children[parent].insert(place, node);
            self.grow(parent, self.sizes[node]);
        }
    }
    fn grow(&mut self, node: usize, by: usize) {
        self.sizes[node] += by;
        for parent in self.parents[node].clone() {
            self.grow(parent, by);
        }
    }
    fn place(&self, sorted: &[usize], node: usize) -> usize {
        sorted.partition_point(|&other| self.compare(other, node) == Ordering::Less)
    }
    fn compare(&self, left: usize, right: usize) -> Ordering {
        let name = |node: usize| &self.graph.nodes[node].name;
        self.sizes[right].cmp(&self.sizes[left]).then_with(|| name(left).cmp(name(right)))
    }

    fn write(&self, id: u32, text: &mut String) -> fmt::Result {
        writeln!(text, "  Sub-topology: {id}")?;
        for &index in &self.nodes {
            self.write_node(index, text)?;
        }
        text.push('\n');
        Ok(())
    }
    fn write_node(&self, index: usize, text: &mut String) -> fmt::Result {
        let node = &self.graph.nodes[index];
        match &node.kind {
            NodeKind::Source { topics, .. } => {
                let topics = hash_set_order(topics, |topic| topic.name.as_str());
                let topics: Vec<_> = topics.iter().map(|topic| topic.name.as_str()).collect();
                writeln!(text, "    Source: {} (topics: [{}])", node.name, topics.join(", "))?;
            }
            NodeKind::Processor => {
                writeln!(text, "    Processor: {} (stores: [{}])", node.name, self.stores(node).join(", "))?;
            }
            NodeKind::Sink { topic: Some(topic) } => writeln!(text, "    Sink: {} (topic: {})", node.name, topic.name)?,
            NodeKind::Sink { topic: None } => writeln!(text, "    Sink: {} (extractor class: <extractor>)", node.name)?,
        }
        if !matches!(node.kind, NodeKind::Sink { .. }) {
            writeln!(text, "      --> {}", self.names(&self.children[index]))?;
        }
        if !matches!(node.kind, NodeKind::Source { .. }) {
            writeln!(text, "      <-- {}", self.names(&self.parents[index]))?;
        }
        Ok(())
    }
    fn stores(&self, node: &Node) -> Vec<&str> {
        let mut stores: Vec<_> = node.stores.iter().map(|store| self.graph.stores[*store].name.as_str()).collect();
        stores.sort_unstable();
        stores
    }
    fn names(&self, nodes: &[usize]) -> String {
        let names: Vec<_> = nodes.iter().map(|node| self.graph.nodes[*node].name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}
