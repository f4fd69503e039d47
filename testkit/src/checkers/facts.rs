//! What several checkers need to know of a history.

use super::history::{Ended, Event, History, TransactionId, Value};
use millstream_protocol::TopicPartition;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A send, and what became of it.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) partition: TopicPartition,
    pub(super) transaction: Option<TransactionId>,
    pub(super) is_acked: bool,
    pub(super) offset: Option<i64>,
    /// It failed, and is surely not written.
    pub(super) is_refused: bool,
}

/// A transaction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Course {
    /// When its commit was asked for.
    pub(super) commit_asked: Option<Duration>,
    pub(super) outcome: Option<Ended>,
}

/// What several checkers need to know of a history.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// By value.
    pub(super) sends: BTreeMap<Value, Sent>,
    pub(super) transactions: BTreeMap<TransactionId, Course>,
    /// Values by place: as acknowledged, as read, as in the logs at the end. More than one is a violation.
    pub(super) places: BTreeMap<TopicPartition, BTreeMap<i64, BTreeSet<Value>>>,
    /// The values that were read, by whomever.
    pub(super) read: BTreeSet<Value>,
    /// The highest offset of each partition that was read.
    pub(super) read_to: BTreeMap<TopicPartition, i64>,
}

impl Facts {
    pub(super) fn of(history: &History) -> Self {
        let mut facts = Self::default();
        history.events().for_each(|(at, _, event)| facts.note(at, event));
        for (partition, records) in &history.log {
            records.iter().for_each(|(offset, value)| facts.place(partition, *offset, *value));
        }
        facts
    }
    fn note(&mut self, at: Duration, event: &Event) {
        match event {
            Event::Send { value, partition, transaction, .. } => {
                let (partition, transaction) = (partition.clone(), *transaction);
                let sent = Sent { partition, transaction, is_acked: false, offset: None, is_refused: false };
                self.sends.insert(*value, sent);
            }
            Event::Acked { value, offset } => self.acked(*value, *offset),
            Event::SendFailed { value, in_doubt: false } => {
                self.sends.get_mut(value).into_iter().for_each(|sent| sent.is_refused = true);
            }
            Event::Ending { transaction, commit: true } => {
                self.transactions.entry(*transaction).or_default().commit_asked.get_or_insert(at);
            }
            Event::Ended { transaction, outcome } => {
                self.transactions.entry(*transaction).or_default().outcome = Some(*outcome);
            }
            Event::Polled { records, .. } => {
                for read in records {
                    self.place(&read.partition, read.offset, read.value);
                    self.read.insert(read.value);
                    let highest = self.read_to.entry(read.partition.clone()).or_insert(read.offset);
                    *highest = read.offset.max(*highest);
                }
            }
            _ => {}
        }
    }
    fn acked(&mut self, value: Value, offset: Option<i64>) {
        let Some(sent) = self.sends.get_mut(&value) else { return };
        sent.is_acked = true;
        sent.offset = offset;
        let partition = sent.partition.clone();
        offset.into_iter().for_each(|offset| self.place(&partition, offset, value));
    }
    fn place(&mut self, partition: &TopicPartition, offset: i64, value: Value) {
        let partition = match self.places.get_mut(partition) {
            Some(places) => places,
            None => self.places.entry(partition.clone()).or_default(),
        };
        partition.entry(offset).or_default().insert(value);
    }
    /// What became of a send's transaction; committed, if it is in none.
    pub(super) fn outcome(&self, sent: &Sent) -> Ended {
        let Some(transaction) = sent.transaction else { return Ended::Committed };
        self.transactions.get(&transaction).and_then(|course| course.outcome).unwrap_or(Ended::Unknown)
    }
    /// Whether a send is written for good: acknowledged, and in no transaction or in one that is committed.
    pub(super) fn is_durable(&self, sent: &Sent) -> bool {
        sent.is_acked && self.outcome(sent) == Ended::Committed
    }
}
