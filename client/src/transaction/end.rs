//! The end of a transaction: a task that goes on until the cluster knows the decision.

use super::raw::State;
use crate::client::{Call, Target};
use crate::net::Reply;
use crate::producer::{error_of, init_producer_id};
use crate::runtime::sleep_until;
use crate::{Error, ErrorKind};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::produce::{Failure, Identity, TransactionNumber};
use millstream_client_core::transaction::{Decision, Edition, Phase, Step, Verdict, judge};
use millstream_protocol::messages::{EndTxnRequest, EndTxnResponse, StrBytes};
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};
use std::sync::Arc;

/// Why a commit did not succeed, as far as is known.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CommitFailure {
    /// It surely did not happen; the transaction is still open and can only be aborted.
    NotCommitted(Error),
    /// Another producer has the transactional id, or the broker gave this one up. The commit may have happened or not: the
    /// committed offsets tell. This producer is of no more use.
    Fenced(Error),
    /// The producer was closed before the outcome was known, or a try whose answer was lost was followed by one that was refused.
    Unknown(Error),
}

impl CommitFailure {
    /// What went wrong, without the distinction.
    #[must_use]
    pub fn into_error(self) -> Error {
        match self {
            Self::NotCommitted(error) | Self::Fenced(error) | Self::Unknown(error) => error,
        }
    }
}
impl std::fmt::Display for CommitFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotCommitted(error) => write!(f, "not committed: {error}"),
            Self::Fenced(error) => write!(f, "fenced, perhaps committed: {error}"),
            Self::Unknown(error) => write!(f, "perhaps committed: {error}"),
        }
    }
}
impl std::error::Error for CommitFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let (Self::NotCommitted(error) | Self::Fenced(error) | Self::Unknown(error)) = self;
        Some(error)
    }
}

/// How an end ended.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    Done,
    Failed(CommitFailure),
}

/// Decides the end, if it is not decided, and starts the task that brings it about. Returns the transaction's number.
pub(super) fn start(state: &Arc<State>, decision: Decision) -> Result<TransactionNumber, CommitFailure> {
    let mut course = state.course();
    let fresh = matches!(course.phase(), Phase::Open { .. });
    let over = matches!(course.phase(), Phase::Over);
    let decided = course.decide(decision);
    let number = course.number();
    drop(course);
    let edition = decided.map_err(|error| {
        let kind = if over { ErrorKind::Fenced } else { ErrorKind::Misuse };
        let error = Error::new(kind, operation(state, decision)).reason(&error).because(error);
        if over { CommitFailure::Fenced(error) } else { CommitFailure::NotCommitted(error) }
    })?;
    if fresh {
        // A new end: what the one before it came to is of no more interest.
        state.ended.send_replace(None);
        let state = Arc::clone(state);
        let runtime = Arc::clone(state.engine.client.runtime());
        // It ends when the decision is known, or the producer is closed.
        runtime.spawn(Box::pin(async move { End { state, decision, edition, number }.run().await })).detach();
    }
    Ok(number)
}

fn operation(state: &State, decision: Decision) -> String {
    let what = match decision {
        Decision::Commit => "commit",
        Decision::Abort => "abort",
    };
    format!("{what} the transaction of `{}`", state.id)
}

struct End {
    state: Arc<State>,
    decision: Decision,
    edition: Edition,
    number: TransactionNumber,
}

impl End {
    async fn run(self) {
        let ended = match self.bring_about().await {
            Ok(()) => {
                self.state.course().handle_ended();
                Ended::Done
            }
            Err(failure) => {
                match &failure {
                    CommitFailure::NotCommitted(_) if self.decision == Decision::Commit => {
                        self.state.course().handle_refused()
                    }
                    CommitFailure::Fenced(error) => {
                        self.state.handle_fenced(error.code().unwrap_or(ErrorCode::PRODUCER_FENCED))
                    }
                    _ => self.state.course().handle_over(),
                }
                Ended::Failed(failure)
            }
        };
        self.state.ended.send_replace(Some((self.number, ended)));
    }

    async fn bring_about(&self) -> Result<(), CommitFailure> {
        let engine = &self.state.engine;
        match self.decision {
            Decision::Commit => self.settle().await?,
            Decision::Abort => self.stop_sending().await,
        }
        let touched = engine.sender().transaction_is_touched() || self.state.course().has_groups();
        let mut identity = if touched { self.tell().await? } else { None };
        let gap = self.decision == Decision::Abort && engine.sender().transaction_has_gap();
        if gap && identity.is_none() {
            // Numbers were given to batches that never arrived: only a new epoch starts them anew (KIP-360).
            identity = Some(self.bump().await?);
        }
        engine.sender().end_transaction(identity);
        Ok(())
    }
    /// Every record must be written before a commit (T-4).
    async fn settle(&self) -> Result<(), CommitFailure> {
        let engine = &self.state.engine;
        engine.accumulator.end(&Arc::new(Failure::Aborted), false);
        engine.settle().await;
        let mut sender = engine.sender();
        if !sender.transaction_failed() {
            return Ok(());
        }
        let first = sender.take_first_failure();
        drop(sender);
        let operation = operation(&self.state, self.decision);
        let error = Error::new(ErrorKind::Aborted, operation).aborting();
        Err(CommitFailure::NotCommitted(match first {
            Some((partition, failure)) => {
                error.reason(format_args!("a record failed: {}", error_of(&failure, &partition)))
            }
            None => error.reason("a record of it failed before"),
        }))
    }
    /// What is under way comes back first: a batch that arrives after the abort would hang (P-5).
    async fn stop_sending(&self) {
        let engine = &self.state.engine;
        engine.sender().abort_waiting(&Arc::new(Failure::Aborted));
        engine.wake_driver();
        loop {
            let mut landed = std::pin::pin!(engine.landed.notified());
            landed.as_mut().enable();
            if engine.sender().under_way() == 0 {
                break;
            }
            landed.await;
        }
        // What came back to be sent again.
        engine.sender().abort_waiting(&Arc::new(Failure::Aborted));
        engine.sender().take_first_failure();
    }
    /// Tells the coordinator, with the same decision, until it has understood (T-3).
    async fn tell(&self) -> Result<Option<Identity>, CommitFailure> {
        let engine = &self.state.engine;
        let client = &engine.client;
        let step = Step::End(self.decision);
        let mut backoff = client.hub().backoff();
        // A try without an answer may have been taken: what a later one fails of says nothing about it.
        let mut in_doubt = false;
        loop {
            let answer = self.ask().await;
            let closing = engine.closing.load(std::sync::atomic::Ordering::Acquire);
            match answer {
                Ok(reply) => {
                    in_doubt |= reply.in_doubt;
                    let code = ErrorCode::new(reply.body.error_code);
                    let error = || Error::broker(code, operation(&self.state, self.decision)).reason(code);
                    match judge(step, code) {
                        Verdict::Done => return Ok(adopted(&reply.body)),
                        Verdict::Fenced => return Err(CommitFailure::Fenced(error().doubtful())),
                        Verdict::Refused if in_doubt => return Err(CommitFailure::Unknown(error().doubtful())),
                        Verdict::Abort | Verdict::Refused => {
                            return Err(CommitFailure::NotCommitted(error().aborting()));
                        }
                        Verdict::Retry if closing => return Err(CommitFailure::Unknown(error().doubtful())),
                        Verdict::Retry => {}
                    }
                }
                Err(error) if closing => return Err(CommitFailure::Unknown(error.doubtful())),
                Err(error) if error.is_retriable() || error.is_in_doubt() => {
                    in_doubt |= error.is_in_doubt();
                    tracing::warn!(%error, "the end of a transaction is not known yet");
                }
                Err(error) if in_doubt => return Err(CommitFailure::Unknown(error.doubtful())),
                Err(error) => return Err(CommitFailure::NotCommitted(error.aborting())),
            }
            let wait = client.hub().next_wait(&mut backoff);
            sleep_until(&**client.runtime(), client.now() + wait).await;
        }
    }
    async fn ask(&self) -> Result<Reply<EndTxnResponse>, Error> {
        let state = &self.state;
        let operation = operation(state, self.decision);
        let identity = state.engine.sender().identity();
        let identity = identity.ok_or_else(|| Error::new(ErrorKind::Closed, operation.clone()))?;
        let mut request = EndTxnRequest::default();
        request.transactional_id = StrBytes::from_string(state.id.clone()).into();
        request.producer_id = identity.id.get().into();
        request.producer_epoch = identity.epoch.get();
        request.committed = self.decision == Decision::Commit;
        let target = Target::Coordinator(CoordinatorKey::Transaction(state.id.clone()));
        // From version 5 on an end brings a new epoch: never outside the second edition (T-2).
        let max = if self.edition == Edition::One { 4 } else { 5 };
        let call = Call::new(operation, target).max_version(max);
        let client = &state.engine.client;
        client.call(call, move |_| request.clone(), |answer| ErrorCode::new(answer.error_code)).await
    }
    async fn bump(&self) -> Result<Identity, CommitFailure> {
        let state = &self.state;
        let current = state.engine.sender().identity();
        let bumped = init_producer_id(&state.engine.client, Some((&state.id, state.timeout)), current).await;
        bumped.map_err(CommitFailure::Fenced)
    }
}

/// The identity that the answer brings: in the second edition each end has another epoch, and at last another id (T-2).
fn adopted(answer: &EndTxnResponse) -> Option<Identity> {
    let (id, epoch) = (answer.producer_id.0, answer.producer_epoch);
    (id >= 0 && epoch >= 0).then(|| Identity::new(ProducerId::new(id), ProducerEpoch::new(epoch)))
}
