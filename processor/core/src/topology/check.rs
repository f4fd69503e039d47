//! What may be wrong with a graph.

use super::graph::{Graph, Node, NodeKind};
use millstream_protocol::hash::HashMap;

const LONGEST_NAME: usize = 249;

pub(super) fn problems(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    if !graph.nodes.iter().any(|node| matches!(node.kind, NodeKind::Source { .. })) {
        problems.push("the topology has no source".to_owned());
    }
    check_names(graph, &mut problems);
    check_topics(graph, &mut problems);
    for (index, node) in graph.nodes.iter().enumerate() {
        check_parents(graph, index, node, &mut problems);
    }
    problems
}

fn check_names(graph: &Graph, problems: &mut Vec<String>) {
    let nodes = graph.nodes.iter().map(|node| ("node", node.name.as_str()));
    let stores = graph.stores.iter().map(|store| ("store", store.name.as_str()));
    let mut seen = HashMap::default();
    for (what, name) in nodes.chain(stores) {
        if let Some(problem) = invalid_name(name) {
            problems.push(format!("{what} `{name}`: {problem}"));
        }
        let count: &mut usize = seen.entry((what, name)).or_default();
        *count += 1;
        if *count == 2 {
            problems.push(format!("{what} `{name}`: there is another {what} of this name"));
        }
    }
}

/// Names become parts of topic names, so they keep to the letters of these.
fn invalid_name(name: &str) -> Option<&'static str> {
    let is_legal = |each: char| each.is_ascii_alphanumeric() || matches!(each, '.' | '_' | '-');
    match name {
        "" => Some("a name may not be empty"),
        "." | ".." => Some("this name is not allowed"),
        _ if name.len() > LONGEST_NAME => Some("a name may have 249 characters at most"),
        _ if !name.chars().all(is_legal) => Some("a name may have ASCII letters, digits, `.`, `_` and `-` only"),
        _ => None,
    }
}

fn check_topics(graph: &Graph, problems: &mut Vec<String>) {
    let mut readers: HashMap<(&str, bool), &str> = HashMap::default();
    for node in &graph.nodes {
        let NodeKind::Source { topics, .. } = &node.kind else { continue };
        if topics.is_empty() {
            problems.push(format!("source `{}`: it reads no topic", node.name));
        }
        for topic in topics {
            if let Some(other) = readers.insert((topic.name.as_str(), topic.is_internal), &node.name) {
                let (name, topic) = (&node.name, &topic.name);
                problems.push(format!("source `{name}`: topic `{topic}` is read by source `{other}` already"));
            }
        }
    }
}

fn check_parents(graph: &Graph, index: usize, node: &Node, problems: &mut Vec<String>) {
    let name = &node.name;
    if node.parents.is_empty() && !matches!(node.kind, NodeKind::Source { .. }) {
        problems.push(format!("node `{name}`: it has no parent"));
    }
    for (place, parent) in node.parents.iter().enumerate() {
        if node.parents[..place].contains(parent) {
            problems.push(format!("node `{name}`: a parent is given twice"));
        }
        match graph.nodes.get(parent.index).filter(|_| parent.index < index) {
            None => problems.push(format!("node `{name}`: a parent is not of this topology")),
            Some(other) if parent.side.is_none() && other.output != node.input => {
                problems.push(format!(
                    "node `{name}`: it takes another key or value than its parent `{}` gives",
                    other.name
                ));
            }
            Some(_) => {}
        }
    }
    check_sides(graph, index, node, problems);
}

/// A side output's types are those of its first child.
fn check_sides(graph: &Graph, index: usize, node: &Node, problems: &mut Vec<String>) {
    for parent in node.parents.iter().filter(|parent| parent.side.is_some()) {
        let other = graph.nodes[..index].iter().find(|other| other.parents.contains(parent));
        if let Some(other) = other.filter(|other| other.input != node.input) {
            problems.push(format!(
                "node `{}`: it takes another key or value from side output `{}` than node `{}`",
                node.name,
                parent.side.unwrap_or_default(),
                other.name
            ));
        }
    }
}
