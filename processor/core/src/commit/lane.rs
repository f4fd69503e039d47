//! One commit of a lane, as decisions: facts go in, the next thing to do comes out.
//!
//! ```text
//!            ┌─ nothing to commit ──────────────────────────────────────────────────────────────┐
//!            │                                                                                  ▼
//! Resting ─► Freezing ─► Flushing ─► Logging ─► Preparing ─► SendingOffsets ─► Ending ─► Applying ─► Resting
//!   step        1            1          2           3              4             5          6        ▲
//!                        │          │           │              │               │ fenced             │
//!                        │          └───────────┴──────┬───────┘               ▼                    │
//!                        │                             ▼                    Recovering ─────────────┤
//!                        │                          Aborting ── fenced ──►  (new producer)          │
//!                        └─────────────────────────────┴─► Rewinding ───────────────────────────────┘
//! ```
//! Nothing is applied or dropped before the outcome is known. An EndTxn that was not answered is asked again with the same
//! decision; one that was answered "fenced" may have happened or not, and only the committed offsets say which.

use super::CommitNumbers;
use millstream_state::CommitId;

/// Where a lane stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaneStep {
    /// No commit is under way.
    Resting,
    /// Step 1: the tasks' finished work is being set apart.
    Freezing,
    /// Step 1, at least once: outputs are being flushed.
    Flushing,
    /// Step 2: changelog records are being written in the transaction.
    Logging(CommitId),
    /// Step 3: journals take the batch as prepared.
    Preparing(CommitId),
    /// Step 4: offsets are being sent in the transaction.
    SendingOffsets(CommitId),
    /// Step 5: the transaction is being ended; its outcome is not known.
    Ending(CommitId),
    /// Step 6: committed; journals are marked, layers merged.
    Applying(CommitId),
    /// The transaction is being aborted.
    Aborting(Option<CommitId>),
    /// Layers are dropped, prepared batches discarded, and input is read again from the committed offsets.
    Rewinding(Option<CommitId>),
    /// Fenced while ending: layers are dropped, prepared batches kept, and recovery reads the outcome.
    Recovering(CommitId),
}

/// What a lane's driver is to do now. It answers with the [`Fact`] of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Nothing, until the next commit.
    Rest,
    /// Step 1: set apart what each task has finished.
    Freeze,
    /// Step 1: wait until the outputs of the frozen work are acknowledged.
    FlushOutputs,
    /// Step 2: begin the transaction and write one record per dirty key; wait for the acknowledgements.
    WriteChangelogs(CommitId),
    /// Step 3: let journals append the batch as prepared.
    Prepare(CommitId),
    /// Step 4: send the offsets, under the generation and member id of this moment. `again` after a stale generation: wait for the
    /// new one first.
    SendOffsets {
        /// The commit.
        commit: CommitId,
        /// Whether the last try had a stale generation.
        again: bool,
    },
    /// Step 5: end the transaction. After an unknown outcome the same again.
    EndTransaction(CommitId),
    /// Step 6: mark the journals, merge the frozen layers.
    Apply(CommitId),
    /// Abort the transaction.
    Abort,
    /// Drop epoch and frozen layers, discard this commit's prepared batches, read again from the committed offsets. `lost`: the tasks
    /// are not this member's any more; they close instead.
    Rewind {
        /// The commit whose prepared batches go; none if it came before step 2.
        commit: Option<CommitId>,
        /// Whether the member lost its tasks.
        lost: bool,
        /// Whether the lane needs a new producer, since this one was fenced.
        new_producer: bool,
    },
    /// Make a new producer, drop the layers, keep prepared batches, and recover each task: the committed offsets, required stable, are
    /// the outcome. `lost`: they close instead, and whoever runs them next recovers.
    Recover {
        /// The commit in doubt.
        commit: CommitId,
        /// Whether the member lost its tasks.
        lost: bool,
    },
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// Frozen; `nothing`: no task had anything to commit.
    Frozen {
        /// Whether nothing is to be committed.
        nothing: bool,
    },
    /// Outputs are acknowledged.
    OutputsFlushed,
    /// An output failed for good.
    OutputFailed,
    /// The changelog records are acknowledged.
    ChangelogsWritten,
    /// The batches are prepared.
    Prepared,
    /// The offsets are in the transaction.
    OffsetsSent,
    /// The offsets were refused.
    OffsetsRefused(OffsetsRefused),
    /// A step before 5 failed, other than by fencing: nothing is committed, and the transaction can be aborted.
    Failed,
    /// A step before 5 found the producer fenced: its transaction is aborted, or will be.
    Fenced,
    /// EndTxn was answered, or not.
    Ended(Ended),
    /// Journals and layers have the commit.
    Applied,
    /// The transaction is aborted; `fenced`: by another, and the producer is of no more use.
    Aborted {
        /// Whether the producer was fenced.
        fenced: bool,
    },
    /// Layers are dropped and positions set.
    Rewound,
    /// Every task of the lane is recovered, or closed.
    Recovered,
}

/// How step 4 was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be decided")]
pub enum OffsetsRefused {
    /// The generation is not the group's newest: read it again, and retry while the tasks are owned.
    StaleGeneration,
    /// The member is unknown, or its instance id was taken over: its tasks are lost.
    UnknownMember,
}

/// How step 5 was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be decided")]
pub enum Ended {
    /// Committed.
    Committed,
    /// Certainly not committed; the transaction can be aborted.
    NotCommitted,
    /// Another bumped the producer's epoch, or a timeout did: it may have happened or not.
    Fenced,
    /// No answer: it may have happened or not, and the same can be asked again.
    Unknown,
}

/// A fact that cannot follow where the lane stands: a mistake of its driver.
#[derive(Debug, Clone, thiserror::Error)]
#[error("a lane that is {step:?} was told {fact:?}")]
pub struct UnexpectedFact {
    step: LaneStep,
    fact: Fact,
}

/// A lane's commits, one after the other.
#[derive(Debug)]
pub struct Lane {
    step: LaneStep,
    lost: bool,
    needs_producer: bool,
}

impl Default for Lane {
    fn default() -> Self {
        Self::new()
    }
}

impl Lane {
    /// A lane at rest.
    #[must_use]
    pub const fn new() -> Self {
        Self { step: LaneStep::Resting, lost: false, needs_producer: false }
    }

    /// Begins a commit; does nothing while one is under way.
    pub fn begin(&mut self) -> Order {
        if self.step == LaneStep::Resting {
            self.step = LaneStep::Freezing;
            return Order::Freeze;
        }
        Order::Rest
    }

    /// The member lost its tasks. A commit whose EndTxn is not sent is aborted at its next fact; one whose EndTxn is sent waits
    /// for the outcome. True if the lane is decided: only then may the member join again.
    pub fn lose(&mut self) -> bool {
        self.lost = self.step != LaneStep::Resting;
        !self.lost
    }

    /// Whether no transaction is open or undecided: a revocation may be acknowledged, a member may join again.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        matches!(self.step, LaneStep::Resting)
    }

    /// Where the lane stands.
    #[must_use]
    pub const fn step(&self) -> LaneStep {
        self.step
    }

    /// Takes a fact and says what to do next.
    ///
    /// # Errors
    /// When the fact cannot follow where the lane stands; the lane stays there.
    pub fn handle(&mut self, fact: Fact, numbers: &CommitNumbers) -> Result<Order, UnexpectedFact> {
        use LaneStep as At;
        Ok(match (self.step, fact) {
            (At::Freezing, Fact::Frozen { nothing: true }) => self.rest(),
            (At::Freezing, Fact::Frozen { nothing: false }) if self.lost => self.rewind(None),
            (At::Freezing, Fact::Frozen { nothing: false }) => self.go(At::Flushing, Order::FlushOutputs),
            (At::Flushing, Fact::OutputFailed) => self.rewind(None),
            (At::Flushing, Fact::OutputsFlushed) if self.lost => self.rewind(None),
            (At::Flushing, Fact::OutputsFlushed) => {
                let commit = numbers.next();
                self.go(At::Logging(commit), Order::WriteChangelogs(commit))
            }
            (At::Logging(commit), Fact::ChangelogsWritten) if !self.lost => {
                self.go(At::Preparing(commit), Order::Prepare(commit))
            }
            (At::Preparing(commit), Fact::Prepared) if !self.lost => self.send_offsets(commit, false),
            (At::SendingOffsets(commit), Fact::OffsetsSent) if !self.lost => {
                self.go(At::Ending(commit), Order::EndTransaction(commit))
            }
            (At::SendingOffsets(commit), Fact::OffsetsRefused(refused)) => self.refused(commit, refused),
            (At::Ending(commit), Fact::Ended(ended)) => self.ended(commit, ended),
            (At::Applying(_), Fact::Applied) => self.rest(),
            (At::Aborting(commit), Fact::Aborted { fenced }) => {
                self.needs_producer |= fenced;
                self.rewind(commit)
            }
            (At::Rewinding(_), Fact::Rewound) | (At::Recovering(_), Fact::Recovered) => self.rest(),
            (step, fact) => self.before_the_end(step, fact)?,
        })
    }

    /// What can happen at each of steps 2 to 4.
    fn before_the_end(&mut self, step: LaneStep, fact: Fact) -> Result<Order, UnexpectedFact> {
        let (LaneStep::Logging(commit) | LaneStep::Preparing(commit) | LaneStep::SendingOffsets(commit)) = step else {
            return Err(UnexpectedFact { step, fact });
        };
        match (step, fact) {
            (_, Fact::Failed)
            | (LaneStep::Logging(_), Fact::ChangelogsWritten)
            | (LaneStep::Preparing(_), Fact::Prepared)
            | (LaneStep::SendingOffsets(_), Fact::OffsetsSent) => Ok(self.abort(Some(commit))),
            (_, Fact::Fenced) => {
                self.needs_producer = true;
                Ok(self.rewind(Some(commit)))
            }
            _ => Err(UnexpectedFact { step, fact }),
        }
    }

    fn refused(&mut self, commit: CommitId, refused: OffsetsRefused) -> Order {
        self.lost |= refused == OffsetsRefused::UnknownMember;
        if self.lost { self.abort(Some(commit)) } else { self.send_offsets(commit, true) }
    }

    fn ended(&mut self, commit: CommitId, ended: Ended) -> Order {
        match ended {
            Ended::Committed => self.go(LaneStep::Applying(commit), Order::Apply(commit)),
            Ended::NotCommitted => self.abort(Some(commit)),
            Ended::Unknown => Order::EndTransaction(commit),
            Ended::Fenced => {
                let lost = self.lost;
                self.go(LaneStep::Recovering(commit), Order::Recover { commit, lost })
            }
        }
    }

    fn send_offsets(&mut self, commit: CommitId, again: bool) -> Order {
        self.go(LaneStep::SendingOffsets(commit), Order::SendOffsets { commit, again })
    }

    fn abort(&mut self, commit: Option<CommitId>) -> Order {
        self.go(LaneStep::Aborting(commit), Order::Abort)
    }

    fn rewind(&mut self, commit: Option<CommitId>) -> Order {
        let order = Order::Rewind { commit, lost: self.lost, new_producer: self.needs_producer };
        self.go(LaneStep::Rewinding(commit), order)
    }

    fn rest(&mut self) -> Order {
        *self = Self::new();
        Order::Rest
    }

    fn go(&mut self, step: LaneStep, order: Order) -> Order {
        self.step = step;
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: u64 = 77;

    fn id(number: u64) -> CommitId {
        CommitId::new(number, LIFE)
    }

    /// A lane that has been told these facts, and its last order.
    fn after(facts: &[Fact]) -> (Lane, CommitNumbers, Order) {
        let (mut lane, numbers) = (Lane::new(), CommitNumbers::new(LIFE));
        let mut order = lane.begin();
        for fact in facts {
            order = lane.handle(*fact, &numbers).expect("each fact follows the one before");
        }
        (lane, numbers, order)
    }

    const FROZEN: Fact = Fact::Frozen { nothing: false };
    const TO_END: [Fact; 5] =
        [FROZEN, Fact::OutputsFlushed, Fact::ChangelogsWritten, Fact::Prepared, Fact::OffsetsSent];

    #[test]
    fn commit_goes_through_the_six_steps() {
        let mut steps = TO_END.to_vec();
        let orders = [
            Order::FlushOutputs,
            Order::WriteChangelogs(id(1)),
            Order::Prepare(id(1)),
            Order::SendOffsets { commit: id(1), again: false },
            Order::EndTransaction(id(1)),
        ];
        for (count, order) in (1..).zip(orders) {
            assert_eq!(after(&steps[..count]).2, order);
        }
        steps.push(Fact::Ended(Ended::Committed));
        assert_eq!(after(&steps).2, Order::Apply(id(1)));
        steps.push(Fact::Applied);
        let (lane, _, order) = after(&steps);
        assert_eq!((order, lane.is_decided()), (Order::Rest, true));
    }

    #[test]
    fn lane_without_work_begins_no_transaction() {
        let (lane, numbers, order) = after(&[Fact::Frozen { nothing: true }]);
        assert_eq!((order, lane.step(), numbers.next()), (Order::Rest, LaneStep::Resting, id(1)));
    }

    #[test]
    fn second_begin_waits_for_the_first() {
        let (mut lane, _, _) = after(&TO_END);
        assert_eq!(lane.begin(), Order::Rest);
        assert_eq!(lane.step(), LaneStep::Ending(id(1)));
    }

    #[test]
    fn unanswered_end_is_asked_again_and_nothing_is_dropped() {
        let (mut lane, numbers, _) = after(&TO_END);
        for _ in 0..3 {
            let order = lane.handle(Fact::Ended(Ended::Unknown), &numbers).expect("it is ending");
            assert_eq!(order, Order::EndTransaction(id(1)));
        }
        assert!(!lane.is_decided());
    }

    #[test]
    fn fenced_end_is_recovered_with_its_prepared_batch_kept() {
        let (mut lane, numbers, _) = after(&TO_END);
        let order = lane.handle(Fact::Ended(Ended::Fenced), &numbers).expect("it is ending");
        assert_eq!(order, Order::Recover { commit: id(1), lost: false });
        assert!(!lane.is_decided(), "its outcome is in the committed offsets");
        assert_eq!(lane.handle(Fact::Recovered, &numbers).expect("it was recovering"), Order::Rest);
    }

    #[test]
    fn fenced_before_the_end_is_not_committed() {
        for count in 2..=4 {
            let (mut lane, numbers, _) = after(&TO_END[..count]);
            let order = lane.handle(Fact::Fenced, &numbers).expect("fencing shows at any step");
            assert_eq!(order, Order::Rewind { commit: Some(id(1)), lost: false, new_producer: true });
        }
    }

    #[test]
    fn failure_before_the_end_aborts_and_rewinds() {
        for count in 2..=4 {
            let (mut lane, numbers, _) = after(&TO_END[..count]);
            assert_eq!(lane.handle(Fact::Failed, &numbers).expect("steps fail"), Order::Abort);
            assert!(!lane.is_decided());
            let order = lane.handle(Fact::Aborted { fenced: false }, &numbers).expect("it was aborting");
            assert_eq!(order, Order::Rewind { commit: Some(id(1)), lost: false, new_producer: false });
            assert_eq!(lane.handle(Fact::Rewound, &numbers).expect("it was rewinding"), Order::Rest);
        }
    }

    #[test]
    fn number_of_an_aborted_commit_is_not_given_again() {
        let (mut lane, numbers, _) = after(&TO_END[..3]);
        for fact in [Fact::Failed, Fact::Aborted { fenced: false }, Fact::Rewound] {
            lane.handle(fact, &numbers).expect("it follows");
        }
        assert_eq!(lane.begin(), Order::Freeze);
        lane.handle(FROZEN, &numbers).expect("it follows");
        assert_eq!(lane.handle(Fact::OutputsFlushed, &numbers).expect("it follows"), Order::WriteChangelogs(id(2)));
    }

    #[test]
    fn failed_output_rewinds_without_a_transaction() {
        let (_, _, order) = after(&[FROZEN, Fact::OutputFailed]);
        assert_eq!(order, Order::Rewind { commit: None, lost: false, new_producer: false });
    }

    #[test]
    fn stale_generation_is_retried_in_the_same_transaction() {
        let (mut lane, numbers, _) = after(&TO_END[..4]);
        let stale = Fact::OffsetsRefused(OffsetsRefused::StaleGeneration);
        assert_eq!(
            lane.handle(stale, &numbers).expect("it was sent"),
            Order::SendOffsets { commit: id(1), again: true }
        );
        assert_eq!(lane.handle(Fact::OffsetsSent, &numbers).expect("it was sent"), Order::EndTransaction(id(1)));
    }

    #[test]
    fn stale_generation_of_a_lost_member_is_not_retried() {
        let (mut lane, numbers, _) = after(&TO_END[..4]);
        assert!(!lane.lose());
        let stale = Fact::OffsetsRefused(OffsetsRefused::StaleGeneration);
        assert_eq!(lane.handle(stale, &numbers).expect("it was sent"), Order::Abort);
    }

    #[test]
    fn unknown_member_aborts_and_loses_its_tasks() {
        let (mut lane, numbers, _) = after(&TO_END[..4]);
        let unknown = Fact::OffsetsRefused(OffsetsRefused::UnknownMember);
        assert_eq!(lane.handle(unknown, &numbers).expect("it was sent"), Order::Abort);
        let order = lane.handle(Fact::Aborted { fenced: true }, &numbers).expect("it was aborting");
        assert_eq!(order, Order::Rewind { commit: Some(id(1)), lost: true, new_producer: true });
    }

    #[test]
    fn lost_lane_never_goes_on_to_the_end() {
        let next = [FROZEN, Fact::OutputsFlushed, Fact::ChangelogsWritten, Fact::Prepared, Fact::OffsetsSent];
        for count in 0..5 {
            let (mut lane, numbers, _) = after(&TO_END[..count]);
            assert!(!lane.lose());
            let order = lane.handle(next[count], &numbers).expect("it follows");
            assert!(matches!(order, Order::Abort | Order::Rewind { lost: true, .. }), "{order:?} after {count} facts");
        }
    }

    #[test]
    fn lane_lost_while_ending_waits_for_the_outcome_and_applies_it() {
        let (mut lane, numbers, _) = after(&TO_END);
        assert!(!lane.lose(), "the outcome is not known");
        assert_eq!(
            lane.handle(Fact::Ended(Ended::Unknown), &numbers).expect("it is ending"),
            Order::EndTransaction(id(1))
        );
        assert_eq!(lane.handle(Fact::Ended(Ended::Committed), &numbers).expect("it is ending"), Order::Apply(id(1)));
        assert_eq!(lane.handle(Fact::Applied, &numbers).expect("it was applying"), Order::Rest);
        assert!(lane.lose());
    }

    #[test]
    fn impossible_fact_is_an_error_that_names_both_and_moves_nothing() {
        let (mut lane, numbers, _) = after(&TO_END);
        for fact in [Fact::Failed, Fact::Fenced, Fact::Applied, FROZEN, Fact::OffsetsSent, Fact::Rewound] {
            let error = lane.handle(fact, &numbers).expect_err("it is ending").to_string();
            assert!(error.contains("Ending") && error.contains(&format!("{fact:?}")), "{error}");
        }
        assert_eq!(lane.step(), LaneStep::Ending(id(1)));
    }
}
