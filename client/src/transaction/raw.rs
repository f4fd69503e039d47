//! A transactional producer's steps, one by one.

use super::end::{self, CommitFailure, Ended};
use crate::producer::{Engine, init_producer_id};
use crate::runtime::after;
use crate::{Delivery, Error, ErrorKind, ProducerRecord};
use millstream_client_core::produce::{Failure, Identity, TransactionNumber};
use millstream_client_core::transaction::{Course, Decision, Edition, Phase};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{ErrorCode, Offset, TopicPartition};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A transactional producer's steps, one by one, by shared reference: begin, enqueue, flush, send offsets, commit or abort.
///
/// A step out of place is an error, not a compile error as with [`Transaction`](super::Transaction). Every record names, inside,
/// the transaction that was open when it was enqueued: one that races an abort fails and never lands in the next transaction.
/// An end once decided goes on in the background until it is known, whoever waits for it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RawTransactions(Arc<Handle>);

/// What the clones own together.
#[derive(Debug)]
struct Handle(Arc<State>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) engine: Arc<Engine>,
    pub(super) id: String,
    pub(super) timeout: Duration,
    course: Mutex<Course>,
    /// How the last transaction ended.
    pub(super) ended: watch::Sender<Option<(TransactionNumber, Ended)>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let open = matches!(self.0.course().phase(), Phase::Open { .. });
        if open {
            // An open transaction can always be aborted.
            let _ = end::start(&self.0, Decision::Abort);
        }
        self.0.engine.begin_close();
    }
}

impl State {
    pub(super) fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Somebody took over: nothing that waits can be written any more.
    pub(super) fn handle_fenced(&self, code: ErrorCode) {
        self.course().handle_over();
        self.engine.sender().fail_all(&Arc::new(Failure::Fenced(code)));
        self.engine.wake_driver();
    }
}

impl RawTransactions {
    pub(super) async fn start(engine: Arc<Engine>, id: String, timeout: Duration) -> Result<Self, Error> {
        let identity = init_producer_id(&engine.client, Some((&id, timeout)), None).await;
        let identity = identity.inspect_err(|_| engine.begin_close())?;
        engine.sender().handle_identity(Some(identity));
        let state = State { engine, id, timeout, course: Mutex::default(), ended: watch::Sender::new(None) };
        Ok(Self(Arc::new(Handle(Arc::new(state)))))
    }

    /// Waits until the transaction before has ended.
    ///
    /// # Errors
    ///
    /// When the producer was fenced or closed.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn ready(&self) -> Result<(), Error> {
        let mut ended = self.state().ended.subscribe();
        loop {
            match self.course().phase() {
                Phase::Over => return Err(self.over("begin a transaction")),
                Phase::Ending { .. } => {}
                _ => return Ok(()),
            }
            // The sender lives as long as this handle.
            if ended.changed().await.is_err() {
                return Err(self.over("begin a transaction"));
            }
        }
    }
    /// Opens a transaction. Its edition is that of the feature `transaction.version` that the cluster has finalized (KIP-890).
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](ErrorKind::WouldBlock) while the end of the one before is not known; [`ready`](Self::ready) waits for it.
    /// [`Misuse`](ErrorKind::Misuse) when one is open.
    pub fn begin(&self) -> Result<(), Error> {
        let engine = self.engine();
        let edition = Edition::from_feature(engine.client.hub().feature("transaction.version"));
        let mut course = self.course();
        let kind = match course.phase() {
            Phase::Ending { .. } => ErrorKind::WouldBlock,
            Phase::Over => ErrorKind::Fenced,
            _ => ErrorKind::Misuse,
        };
        let begun = course.begin(edition);
        let number = begun.map_err(|error| Error::new(kind, self.operation("begin")).reason(&error).because(error))?;
        engine.sender().begin_transaction(number, edition == Edition::Two);
        Ok(())
    }
    pub(super) fn begin_or_join(&self) -> Result<TransactionNumber, Error> {
        let open = matches!(self.course().phase(), Phase::Open { .. });
        if !open {
            self.begin()?;
        }
        Ok(self.course().number())
    }

    /// Takes a record if there is room for it now.
    ///
    /// # Errors
    ///
    /// As [`Producer::try_enqueue`](crate::Producer::try_enqueue); [`Aborted`](ErrorKind::Aborted) when no transaction is open.
    pub fn try_enqueue(&self, record: ProducerRecord<'_>) -> Result<Delivery, Error> {
        let number = self.course().number();
        self.engine().try_enqueue(&record, number)
    }
    /// Waits for buffer space, then takes the record.
    ///
    /// # Errors
    ///
    /// As [`Producer::enqueue`](crate::Producer::enqueue); [`Aborted`](ErrorKind::Aborted) when no transaction is open, or the
    /// open one ended meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the record is not sent.
    pub async fn enqueue(&self, record: ProducerRecord<'_>) -> Result<Delivery, Error> {
        let number = self.course().number();
        self.engine().enqueue(&record, number).await
    }
    /// As [`Producer::space`](crate::Producer::space).
    ///
    /// # Cancel safety
    ///
    /// It takes nothing, so dropping it loses nothing.
    pub async fn space(&self) {
        self.engine().space().await;
    }
    /// As [`Producer::partition_count`](crate::Producer::partition_count).
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn partition_count(&self, topic: &str) -> Result<usize, Error> {
        self.engine().partition_count(topic).await
    }
    /// Waits until every record of the transaction is acknowledged. Returns, per partition, the offset after the last of them.
    ///
    /// # Errors
    ///
    /// When any record of the transaction failed; it can only be aborted then.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the records still go at once.
    pub async fn flush(&self) -> Result<HashMap<TopicPartition, Offset>, Error> {
        let engine = self.engine();
        let flushed = engine.flush().await;
        let sender = engine.sender();
        if sender.transaction_failed() {
            drop(sender);
            return Err(flushed.err().unwrap_or_else(|| self.failed_before()).aborting());
        }
        flushed?;
        Ok(sender.transaction_offsets())
    }
    /// Commits, and waits until the outcome is known, however long that takes. Dropped and called again, it waits on for the
    /// same decision.
    ///
    /// # Errors
    ///
    /// See [`CommitFailure`]: what surely did not happen and what is not known are told apart.
    ///
    /// # Cancel safety
    ///
    /// The decision stands: the commit goes on in the background.
    pub async fn commit(&self) -> Result<(), CommitFailure> {
        match self.end(Decision::Commit).await {
            Ended::Done => Ok(()),
            Ended::Failed(failure) => Err(failure),
        }
    }
    /// Aborts, and waits until that is known.
    ///
    /// # Errors
    ///
    /// When the producer was fenced: the transaction is, or will be, aborted by whoever did that.
    ///
    /// # Cancel safety
    ///
    /// The decision stands: the abort goes on in the background.
    pub async fn abort(&self) -> Result<(), Error> {
        match self.end(Decision::Abort).await {
            Ended::Done => Ok(()),
            Ended::Failed(failure) => Err(failure.into_error()),
        }
    }
    /// Decides to abort and waits for nothing; does nothing when no transaction is open.
    pub fn abort_in_background(&self) {
        let _ = end::start(self.state(), Decision::Abort);
    }
    /// Closes; an open transaction is aborted. See [`Producer::close`](crate::Producer::close).
    ///
    /// # Errors
    ///
    /// The first failure of a record since the last flush.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the producer goes on closing in the background.
    pub async fn close(self, within: Duration) -> Result<(), Error> {
        let client = &self.engine().client;
        let deadline = after(client.now(), within);
        let open = matches!(self.course().phase(), Phase::Open { .. });
        if open {
            // What is left undone the transaction's timeout does.
            let _ = crate::runtime::timeout_at(&**client.runtime(), deadline, self.abort()).await;
            self.engine().sender().take_first_failure();
        }
        let left = deadline.saturating_duration_since(client.now());
        self.engine().close(left).await
    }
    /// The transactional id.
    #[must_use]
    pub fn transactional_id(&self) -> &str {
        &self.state().id
    }

    async fn end(&self, decision: Decision) -> Ended {
        let mut ended = self.state().ended.subscribe();
        let number = match end::start(self.state(), decision) {
            Ok(number) => number,
            Err(failure) => return Ended::Failed(failure),
        };
        let known = ended.wait_for(|ended| ended.as_ref().is_some_and(|(each, _)| *each == number)).await;
        match known.as_deref() {
            Ok(Some((_, outcome))) => outcome.clone(),
            _ => Ended::Failed(CommitFailure::Unknown(self.unknown("end"))),
        }
    }

    pub(super) fn state(&self) -> &Arc<State> {
        &self.0.0
    }
    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.state().engine
    }
    pub(super) fn course(&self) -> MutexGuard<'_, Course> {
        self.state().course()
    }
    pub(super) fn identity(&self) -> Result<Identity, Error> {
        self.engine().sender().identity().ok_or_else(|| self.over("use the transaction"))
    }
    pub(super) fn handle_fenced(&self, code: ErrorCode) {
        self.state().handle_fenced(code);
    }
    pub(super) fn operation(&self, what: &str) -> String {
        format!("{what} the transaction of `{}`", self.transactional_id())
    }
    pub(super) fn unknown(&self, what: &str) -> Error {
        let error = Error::new(ErrorKind::TimedOut, self.operation(what));
        error.reason("no answer in time; it is tried on in the background").doubtful()
    }
    fn over(&self, what: &str) -> Error {
        let operation = format!("{what} of `{}`", self.transactional_id());
        Error::new(ErrorKind::Fenced, operation).reason("the producer was fenced or closed; make a new one")
    }
    fn failed_before(&self) -> Error {
        Error::new(ErrorKind::Aborted, self.operation("flush")).reason("a record of it failed before")
    }
}
