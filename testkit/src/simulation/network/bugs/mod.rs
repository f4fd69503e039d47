//! Bugs that are planted on purpose: what checkers are there to find. Most are the brokers'; those of clients sit where a client meets the
//! simulation: its clock here, its futures and its settings in the workloads.

mod answers;
mod batches;
mod requests;

pub(super) use requests::Bugged;

use super::Network;
use crate::broker::ConnectionId;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

/// A bug of a broker or of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bug {
    /// Every fifth produce request is acknowledged at the end of the log and not written, as where a leader that is followed by nobody falls
    /// (K-1, K-4).
    LoseEveryFifthWrite,
    /// The first batch of each log is gone once it is read, as by a cleaner that takes what is not its to take (K-1).
    LoseFirstBatches,
    /// Every fifth batch is taken for one that is there already (K-2).
    TakeForDuplicates,
    /// Batches are appended without a look at their sequence numbers: what is sent again is there again (K-3), and what overtakes stays in front
    /// (K-7).
    ForgetSequences,
    /// Members of groups get other values than were written, as from a buffer that is used again too soon (K-4).
    MixUpValues,
    /// Readers of committed records are served like any others (K-5, K-14, and by what follows from it K-8).
    ForgetIsolation,
    /// Every fifth produce request is refused for good, after it was written (K-5).
    RefuseWhatIsWritten,
    /// Some batches come without their records, to the reader alone: as from a follower whose log was cleaned too much (K-6).
    SkipBatches,
    /// Copiers get batches without their records where others lie around them in the same answer (K-6 inside a transaction, and K-9).
    HollowAnswers,
    /// Now and then a fetch is told that its offset is out of range, which it is not (K-6, K-14).
    DenyOffsets,
    /// Commits are taken with older offsets than were asked for, within transactions, too (K-11, K-9).
    RewindCommits,
    /// Commits of members that the group has gone on without are answered as if they were taken (K-11).
    TakeOldCommits,
    /// All producers get the same id and epoch, as where a block of ids is given out twice (K-10).
    ReuseProducerIds,
    /// All members of a generation get what the first of them got (K-12).
    ShareAssignments,
    /// Markers of commits come as records (K-14).
    ShowMarkers,
    /// The limits of a fetch are overlooked (K-16).
    ForgetLimits,
    /// From some time on the reader's fetches are never answered by one node (K-17).
    LoseFetches,
    /// Every third answer to a heartbeat has a length in more bytes than it needs (K-18).
    WidenLengths,
    /// A client's: a reader does not say in which epoch it has read last, and overlooks what the leader says of the end of that epoch, so that it
    /// does not see that a log is another one than it has read (K-6).
    OverlookEpochs,
    /// A client's: the clocks of producers go ten times as fast, so that they wait for a tenth of what they should (K-15).
    RushClocks,
    /// A client's: members send their heartbeats as if their sessions were three times as long (K-15).
    DelayHeartbeats,
    /// A client's: it takes a node's word that it does not lead a partition for one that passes, and stays with the node (K-15).
    MistakeRefusals,
    /// A client's: producers have more requests under way than an idempotent one may (K-15).
    CrowdConnections,
    /// A client's: the reader opens a connection that failed again at once (K-15).
    ReconnectAtOnce,
    /// A client's: some sends are never resolved, as where a task is not woken (K-13).
    ForgetDeliveries,
    /// A client's: some sends are resolved twice, as where a callback is run for a batch and for its retry (K-13).
    ResolveTwice,
    /// A client's: what a poll inside a transaction brought is handed out again within it, as by a buffer that is emptied too late (K-6, K-14).
    HandOutTwice,
    /// A client's: of what is sent at once in a transaction the last is taken up first (K-7).
    Overtake,
    /// A client's: producers hold more than they may (K-16).
    HoldTooMuch,
}

impl Bug {
    /// Whether it is about what comes after the trouble, or cannot be mended on the way.
    pub(crate) const fn is_for_good(self) -> bool {
        matches!(self, Self::LoseFetches | Self::RushClocks | Self::LoseFirstBatches | Self::SkipBatches)
    }
}

/// How much faster a clock goes that rushes.
const RUSH: u32 = 10;

/// The bug that is planted, and what it remembers.
#[derive(Debug, Default)]
pub(super) struct Planted {
    bug: Option<Bug>,
    until: Duration,
    /// How often there was an occasion for it.
    occasions: u64,
    /// The generations that members of a group ask their assignments for.
    generations: BTreeMap<ConnectionId, i32>,
    /// What the first member of a generation got.
    assignments: BTreeMap<i32, Bytes>,
}

impl Planted {
    fn at(&self, now: Duration) -> Option<Bug> {
        self.bug.filter(|_| now < self.until)
    }
    /// Whether this occasion is one in so many.
    const fn is_one_in(&mut self, among: u64) -> bool {
        self.occasions += 1;
        self.occasions.is_multiple_of(among)
    }
}

impl Network {
    /// Plants a bug that is mended at a time.
    pub(crate) fn plant(&mut self, bug: Bug, until: Duration) {
        self.planted = Planted { bug: Some(bug), until, ..Planted::default() };
    }
    /// How many times as fast as time the clock of a host goes.
    pub(crate) fn pace(&self, host: &str) -> u32 {
        if self.planted.bug == Some(Bug::RushClocks) && host.starts_with("producer") { RUSH } else { 1 }
    }
}
