//! What the links between processes and nodes are like just now.

use millstream_protocol::NodeId;
use std::fmt;
use std::time::Duration;

/// Some links: those of one host, or of all, to one node, or to all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Links {
    /// The host of the processes; all, if there is none.
    pub host: Option<String>,
    /// The node; all, if there is none.
    pub node: Option<NodeId>,
}
impl Links {
    /// All links to a node.
    #[must_use]
    pub fn of_node(node: impl Into<NodeId>) -> Self {
        Self { host: None, node: Some(node.into()) }
    }
    /// All links of a host.
    #[must_use]
    pub fn of_host(host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), node: None }
    }
    pub(crate) fn has(&self, host: &str, node: NodeId) -> bool {
        self.host.as_deref().is_none_or(|own| own == host) && self.node.is_none_or(|own| own == node)
    }
}
impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "{host}→")?,
            None => f.write_str("*→")?,
        }
        match self.node {
            Some(node) => write!(f, "{node}"),
            None => f.write_str("*"),
        }
    }
}

/// What is wrong with a link for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Everything takes this much longer.
    Slow(Duration),
    /// Nothing gets through, either way; it comes later.
    Stalled,
    /// Requests do not get through; they come later.
    RequestsCut,
    /// Answers do not get through; they come later.
    AnswersCut,
    /// Frames are split at every byte.
    Split,
}

/// The way that bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    ToNode,
    ToProcess,
}

#[derive(Debug)]
struct Lasting {
    links: Links,
    trouble: Trouble,
    until: Duration,
}

/// What is wrong with which links, and for how long.
#[derive(Debug, Default)]
pub(crate) struct Conditions(Vec<Lasting>);

impl Conditions {
    pub(crate) fn add(&mut self, now: Duration, links: Links, trouble: Trouble, lasts: Duration) {
        self.0.retain(|lasting| lasting.until > now);
        self.0.push(Lasting { links, trouble, until: now + lasts });
    }
    fn on<'c>(&'c self, now: Duration, host: &'c str, node: NodeId) -> impl Iterator<Item = &'c Lasting> {
        self.0.iter().filter(move |lasting| lasting.until > now && lasting.links.has(host, node))
    }
    /// When bytes get through again; none if they do.
    pub(crate) fn blocked_until(
        &self,
        now: Duration,
        host: &str,
        node: NodeId,
        direction: Direction,
    ) -> Option<Duration> {
        let blocks = |lasting: &&Lasting| match lasting.trouble {
            Trouble::Stalled => true,
            Trouble::RequestsCut => direction == Direction::ToNode,
            Trouble::AnswersCut => direction == Direction::ToProcess,
            Trouble::Slow(_) | Trouble::Split => false,
        };
        self.on(now, host, node).filter(blocks).map(|lasting| lasting.until).max()
    }
    /// How much longer everything takes.
    pub(crate) fn delay(&self, now: Duration, host: &str, node: NodeId) -> Duration {
        let slow = |lasting: &Lasting| match lasting.trouble {
            Trouble::Slow(by) => by,
            _ => Duration::ZERO,
        };
        self.on(now, host, node).map(slow).sum()
    }
    pub(crate) fn splits(&self, now: Duration, host: &str, node: NodeId) -> bool {
        self.on(now, host, node).any(|lasting| lasting.trouble == Trouble::Split)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_cut_one_way_carries_the_other_way() {
        let (mut conditions, node) = (Conditions::default(), NodeId::new(1));
        let second = Duration::from_secs(1);
        conditions.add(Duration::ZERO, Links::of_node(1), Trouble::AnswersCut, second);
        let blocked = |now, host, direction| conditions.blocked_until(now, host, node, direction);
        assert_eq!(blocked(Duration::ZERO, "a", Direction::ToProcess), Some(second));
        assert_eq!(blocked(Duration::ZERO, "a", Direction::ToNode), None);
        assert_eq!(blocked(second, "a", Direction::ToProcess), None, "it is over");
    }

    #[test]
    fn trouble_of_one_host_is_not_that_of_another() {
        let mut conditions = Conditions::default();
        let (second, node) = (Duration::from_secs(1), NodeId::new(2));
        conditions.add(Duration::ZERO, Links::of_host("a"), Trouble::Slow(second), second);
        assert_eq!(conditions.delay(Duration::ZERO, "a", node), second);
        assert_eq!(conditions.delay(Duration::ZERO, "b", node), Duration::ZERO);
    }
}
