//! What a code means, by the step in which a broker answered it. One table: T-1, T-3, T-6, T-8 of the client's rules.

use millstream_protocol::ErrorCode;

/// How a transaction is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a transaction ends in one of two ways")]
pub enum Decision {
    /// All of it.
    Commit,
    /// None of it.
    Abort,
}

/// A request of a transaction's course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these")]
pub enum Step {
    /// InitProducerId.
    Init,
    /// AddPartitionsToTxn or AddOffsetsToTxn.
    Add,
    /// TxnOffsetCommit.
    SendOffsets,
    /// EndTxn.
    End(Decision),
}

/// What to do after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the caller must answer each")]
pub enum Verdict {
    /// It is done.
    Done,
    /// The same again, after a pause: nothing is decided yet.
    Retry,
    /// The transaction was not committed and can only be aborted.
    Abort,
    /// Somebody else has the transactional id now, or the broker gave this producer up. Whether a commit that was asked for
    /// happened is not known from this.
    Fenced,
    /// The step failed for a reason of its own; the transaction is as it was.
    Refused,
}

/// Judges a code.
#[must_use]
pub fn judge(step: Step, code: ErrorCode) -> Verdict {
    match code {
        ErrorCode::NONE => Verdict::Done,
        ErrorCode::PRODUCER_FENCED => Verdict::Fenced,
        ErrorCode::INVALID_PRODUCER_EPOCH | ErrorCode::INVALID_PRODUCER_ID_MAPPING if step != Step::Init => {
            Verdict::Fenced
        }
        ErrorCode::TRANSACTION_ABORTABLE => Verdict::Abort,
        // The decision was never taken: the coordinator knows no transaction that it could be about.
        ErrorCode::INVALID_TXN_STATE if step == Step::End(Decision::Commit) => Verdict::Abort,
        // A broker that failed inside may have written the decision (T-3): it is no success and no refusal.
        ErrorCode::UNKNOWN_SERVER_ERROR if matches!(step, Step::End(_)) => Verdict::Retry,
        code if code.is_retriable() || code.refreshes_coordinator() => Verdict::Retry,
        _ => Verdict::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_is_asked_for_again_and_never_taken_for_success() {
        let commit = Step::End(Decision::Commit);
        for code in [
            ErrorCode::CONCURRENT_TRANSACTIONS,
            ErrorCode::NOT_COORDINATOR,
            ErrorCode::COORDINATOR_NOT_AVAILABLE,
            ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode::REQUEST_TIMED_OUT,
            ErrorCode::UNKNOWN_SERVER_ERROR,
        ] {
            assert_eq!(judge(commit, code), Verdict::Retry, "{code}");
        }
        assert_eq!(judge(commit, ErrorCode::NONE), Verdict::Done);
    }

    #[test]
    fn fenced_and_aborted_are_told_apart() {
        let commit = Step::End(Decision::Commit);
        for code in [ErrorCode::PRODUCER_FENCED, ErrorCode::INVALID_PRODUCER_EPOCH] {
            assert_eq!(judge(commit, code), Verdict::Fenced, "{code}");
        }
        for code in [ErrorCode::TRANSACTION_ABORTABLE, ErrorCode::INVALID_TXN_STATE] {
            assert_eq!(judge(commit, code), Verdict::Abort, "{code}");
        }
    }

    #[test]
    fn a_stale_member_leaves_the_transaction_open() {
        for code in [ErrorCode::ILLEGAL_GENERATION, ErrorCode::UNKNOWN_MEMBER_ID, ErrorCode::OFFSET_METADATA_TOO_LARGE]
        {
            assert_eq!(judge(Step::SendOffsets, code), Verdict::Refused, "{code}");
        }
    }
}
