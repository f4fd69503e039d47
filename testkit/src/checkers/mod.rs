//! What must hold in every run, told from its history: by Jepsen's names where Jepsen has one.
//!
//! A history may come from the simulator, from a test on a [`TestCluster`](crate::TestCluster), or from a program that wrote down what it
//! did against a real cluster.
//!
//! | | name | what is wrong |
//! | --- | --- | --- |
//! | K-1 | `lost-write` | an acknowledged record was passed over by all readers |
//! | K-2 | `unseen` | an acknowledged record is still unread at the end |
//! | K-3 | `duplicate` | one value lies at two places |
//! | K-4 | `inconsistent-offsets` | two values lie at one place |
//! | K-5 | `G1a`, `precommitted-read` | what failed or was aborted was read; or before its commit was asked for |
//! | K-6 | `poll-skip`, `nonmonotonic-poll` (`int-`: inside one transaction) | a reader skipped a record, or went back |
//! | K-7 | `nonmonotonic-send` (`int-`) | a producer's records of a partition lie in another order |
//! | K-8 | `G1c`, `G2` | committed transactions depend on each other in a circle: by what they read, or by where they consume |
//! | K-9 | `consumed-twice`, `not-consumed` | committed transactions did not consume each input once; [`doubts`] tells of which it is not known whether they are |
//! | K-10 | `sequence` | a producer's sequence numbers have a gap, or two meanings |
//! | K-11 | `commit` | a committed offset went back, ahead of its reader, or came from somebody else or an earlier generation |
//! | K-12 | `ownership` | two members had a partition at once |
//! | K-13 | `resolution` | a send was not resolved exactly once |
//! | K-14 | `position` | a position went back, or a reader of committed records got one that is not |
//! | K-15 | `hygiene` | too many requests in flight, to the wrong node, too soon, or a heartbeat too late |
//! | K-16 | `memory` | a producer or a consumer held more than it may |
//! | K-17 | `liveness` | after the last fault it took too long until all was read |
//! | K-18 | `codec` | a frame cannot be read, or is written differently |

mod aborted;
mod codec;
mod commits;
mod consumed;
mod cycles;
mod doubts;
mod facts;
mod fetched;
mod generations;
mod history;
mod hygiene;
mod liveness;
mod memory;
mod ownership;
mod places;
mod polls;
mod positions;
mod resolution;
mod sends;
mod sequences;
mod writes;

pub use doubts::doubts;
pub use history::{ClientId, Ended, Event, Frame, FrameKind, History, Read, TransactionId, Value};

use facts::Facts;
use std::fmt;
use std::time::Duration;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    checker: Checker,
    name: &'static str,
    text: String,
}
impl Violation {
    pub(crate) fn new(checker: Checker, name: &'static str, text: impl Into<String>) -> Self {
        Self { checker, name, text: text.into() }
    }
    /// Who found it.
    #[must_use]
    pub const fn checker(&self) -> Checker {
        self.checker
    }
    /// What it is called.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}: {}", self.checker, self.name, self.text)
    }
}

/// A checker. The table of this module says what each looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the module's table has them")]
#[non_exhaustive]
pub enum Checker {
    K1,
    K2,
    K3,
    K4,
    K5,
    K6,
    K7,
    K8,
    K9,
    K10,
    K11,
    K12,
    K13,
    K14,
    K15,
    K16,
    K17,
    K18,
}

/// What clients were told to keep to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// How many requests of a producer may be under way with batches of one partition.
    pub max_in_flight: usize,
    /// How soon a batch may go again to the same node.
    pub retry_backoff: Duration,
    /// How long a silent member keeps its partitions.
    pub session_timeout: Duration,
    /// How many connections a process may open to a node in ten seconds.
    pub reconnects: usize,
    /// How long it may take until all is read once nothing is wrong any more.
    pub catch_up: Duration,
}
impl Default for Policy {
    fn default() -> Self {
        Self {
            max_in_flight: 5,
            retry_backoff: Duration::from_millis(80),
            session_timeout: Duration::from_secs(45),
            reconnects: 150,
            catch_up: Duration::from_secs(120),
        }
    }
}

/// Looks for everything, with the clients' defaults.
#[must_use]
pub fn check(history: &History) -> Vec<Violation> {
    check_with(history, &Policy::default())
}

/// Looks for everything.
#[must_use]
pub fn check_with(history: &History, policy: &Policy) -> Vec<Violation> {
    let facts = Facts::of(history);
    let mut found = Vec::new();
    writes::check(&facts, history, &mut found);
    places::check(&facts, &mut found);
    aborted::check(&facts, history, &mut found);
    polls::check(&facts, history, &mut found);
    sends::check(&facts, history, &mut found);
    cycles::check(&facts, history, &mut found);
    consumed::check(&facts, history, &mut found);
    sequences::check(history, &mut found);
    commits::check(history, &mut found);
    generations::check(history, &mut found);
    ownership::check(history, &mut found);
    resolution::check(history, &mut found);
    positions::check(history, &mut found);
    hygiene::check(history, policy, &mut found);
    memory::check(history, &mut found);
    fetched::check(history, &mut found);
    liveness::check(history, policy, &mut found);
    codec::check(history, &mut found);
    found
}
