//! Polling: events first, in their order, then records.

use super::{Consumer, engine::Shared};
use crate::rebalance::{Polled, Revocation};
use crate::{Error, ErrorKind, Records};
use millstream_client_core::group::GroupEvent;
use std::sync::Arc;

/// The application waits in a poll while this lives.
struct Polling(Arc<Shared>);
impl Polling {
    fn begin(shared: &Arc<Shared>) -> Self {
        shared.set_polling(true);
        Self(Arc::clone(shared))
    }
}
impl Drop for Polling {
    fn drop(&mut self) {
        self.0.set_polling(false);
    }
}

impl Consumer {
    /// Waits for records. Rebalances are agreed to on the way: what earlier polls brought is committed first, if auto-commit is on.
    ///
    /// # Errors
    ///
    /// When a partition cannot be read (the error names it and its offset; the others go on with the next poll), the
    /// subscription cannot be had, or the membership is over.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it loses nothing: records are handed out and the position moves in one step. So a time limit is
    /// `timeout(limit, consumer.poll())`.
    pub async fn poll(&mut self) -> Result<Records, Error> {
        loop {
            // A revocation is finished by dropping it.
            if let Polled::Records(records) = self.poll_event().await? {
                return Ok(records);
            }
        }
    }
    /// Waits for records or a rebalance, in their order.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it loses nothing.
    pub async fn poll_event(&mut self) -> Result<Polled, Error> {
        let shared = Arc::clone(&self.engine.shared);
        let _polling = Polling::begin(&shared);
        self.subscribe_now()?;
        self.auto_commit();
        loop {
            if let Some(event) = shared.first_event() {
                if let Some(polled) = self.handle_event(event).await {
                    return Ok(polled);
                }
                continue;
            }
            if let Some(error) = shared.take_error() {
                return Err(error);
            }
            let (most, now) = (self.options.max_poll_records, shared.now());
            if let Some(records) = self.hand.deal(&shared, &self.tracker, most, now)? {
                return Ok(Polled::Records(records));
            }
            if shared.has_ended() {
                return Err(Error::new(ErrorKind::Closed, "poll").reason("the consumer's thread has ended"));
            }
            self.wait(&shared).await;
        }
    }

    /// Waits until there may be something new: from the driver, or a finished record that lets a full partition go on.
    async fn wait(&self, shared: &Shared) {
        let finished = async {
            match self.tracker.ledger() {
                Some(ledger) => ledger.finished.notified().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased; // Whichever it was: all three are looked at next.
            () = shared.event_changed() => {}
            () = shared.records_changed() => {}
            () = finished => {}
        }
    }
    fn subscribe_now(&mut self) -> Result<(), Error> {
        let Some(topics) = self.to_subscribe.take() else { return Ok(()) };
        if self.engine.group.is_none() {
            return Err(super::no_group("subscribe"));
        }
        self.engine.shared.subscribe(topics);
        Ok(())
    }
    /// Does what an event asks for, then takes it off the queue: dropped in between, it is seen again.
    async fn handle_event(&mut self, event: GroupEvent) -> Option<Polled> {
        if let GroupEvent::Revoking { partitions, ack } = &event {
            self.commit_before_revoking(partitions, *ack).await;
        }
        let shared = Arc::clone(&self.engine.shared);
        let (event, as_of) = shared.take_event()?;
        match event {
            GroupEvent::Revoking { partitions, ack } => {
                Some(Polled::Revoking(Revocation::new(shared, partitions, ack, as_of)))
            }
            GroupEvent::Assigned { added, .. } if !added.is_empty() => Some(Polled::Assigned(added)),
            GroupEvent::Lost { partitions, .. } => Some(Polled::Lost(partitions)),
            _ => None,
        }
    }
}
