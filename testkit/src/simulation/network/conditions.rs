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

impl Trouble {
    /// The name of its kind, for counting.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Slow(_) => "latency",
            Self::Stalled => "stall",
            Self::RequestsCut => "partition of requests",
            Self::AnswersCut => "partition of answers",
            Self::Split => "frames split at every byte",
        }
    }
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
    /// Something was under way there meanwhile.
    is_met: bool,
}

/// What is wrong with which links, and for how long.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    lasting: Vec<Lasting>,
    /// The kinds of those that are over, and were met.
    met: Vec<&'static str>,
}

impl Conditions {
    pub(crate) fn add(&mut self, now: Duration, links: Links, trouble: Trouble, lasts: Duration) {
        let over = self.lasting.extract_if(.., |lasting| lasting.until <= now);
        self.met.extend(over.filter(|lasting| lasting.is_met).map(|lasting| lasting.trouble.kind()));
        self.lasting.push(Lasting { links, trouble, until: now + lasts, is_met: false });
    }
    /// The kinds of those that something has met with.
    pub(crate) fn met(&self) -> impl Iterator<Item = &'static str> {
        let lasting = self.lasting.iter().filter(|lasting| lasting.is_met).map(|lasting| lasting.trouble.kind());
        self.met.iter().copied().chain(lasting)
    }
    /// What something meets with that is under way now: of all there is on its link what matters to it.
    fn meet(
        &mut self,
        (now, host, node): (Duration, &str, NodeId),
        matters: impl Fn(Trouble) -> bool,
    ) -> impl Iterator<Item = &Lasting> {
        let is_there = move |lasting: &&mut Lasting| {
            lasting.until > now && lasting.links.has(host, node) && matters(lasting.trouble)
        };
        self.lasting.iter_mut().filter(is_there).map(|lasting| {
            lasting.is_met = true;
            &*lasting
        })
    }
    /// When bytes get through again; none if they do.
    pub(crate) fn blocked_until(
        &mut self,
        now: Duration,
        host: &str,
        node: NodeId,
        direction: Direction,
    ) -> Option<Duration> {
        let blocks = |trouble| match trouble {
            Trouble::Stalled => true,
            Trouble::RequestsCut => direction == Direction::ToNode,
            Trouble::AnswersCut => direction == Direction::ToProcess,
            Trouble::Slow(_) | Trouble::Split => false,
        };
        self.meet((now, host, node), blocks).map(|lasting| lasting.until).max()
    }
    /// How much longer everything takes.
    pub(crate) fn delay(&mut self, now: Duration, host: &str, node: NodeId) -> Duration {
        let slow = |lasting: &Lasting| match lasting.trouble {
            Trouble::Slow(by) => by,
            _ => Duration::ZERO,
        };
        self.meet((now, host, node), |trouble| matches!(trouble, Trouble::Slow(_))).map(slow).sum()
    }
    pub(crate) fn splits(&mut self, now: Duration, host: &str, node: NodeId) -> bool {
        self.meet((now, host, node), |trouble| trouble == Trouble::Split).count() > 0
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
        let mut blocked = |now, host, direction| conditions.blocked_until(now, host, node, direction);
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

    // Faults of links were counted when they began, also where nothing was ever sent.
    #[test]
    fn trouble_counts_once_and_only_if_something_meets_with_it() {
        let mut conditions = Conditions::default();
        let (second, node) = (Duration::from_secs(1), NodeId::new(2));
        conditions.add(Duration::ZERO, Links::of_node(2), Trouble::Split, second);
        conditions.add(Duration::ZERO, Links::of_node(3), Trouble::Stalled, second);
        assert_eq!(conditions.blocked_until(Duration::ZERO, "a", node, Direction::ToNode), None);
        assert_eq!(conditions.met().count(), 0);
        assert!(conditions.splits(Duration::ZERO, "a", node) && conditions.splits(Duration::ZERO, "b", node));
        assert_eq!(conditions.met().collect::<Vec<_>>(), ["frames split at every byte"]);
        conditions.add(second, Links::of_node(3), Trouble::Stalled, second);
        assert_eq!(conditions.met().count(), 1, "also when it is over");
    }
}
