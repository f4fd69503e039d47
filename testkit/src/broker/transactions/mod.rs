//! The transaction coordinator: all transactional ids of the cluster, and what the end of a transaction does to logs and groups.

mod expiry;
mod journal;
pub(crate) mod transaction;

use super::Broker;
use super::bounds::text_weight;
use super::log::batch::{self, Marker};
use super::timers::TimerKey;
use super::topics::{PartitionKey, TRANSACTIONS_TOPIC};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use transaction::{Edition, Ending, Identity, State, TakeOver, Transaction};

/// When held markers would be written by themselves.
const NEVER: millstream_protocol::Timestamp = millstream_protocol::Timestamp::from_millis(i64::MAX);

/// The transactional ids, and the next free producer id.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    by_id: BTreeMap<StrBytes, Transaction>,
    next_producer_id: i64,
}
impl Transactions {
    pub(crate) fn find(&self, id: &str) -> Option<&Transaction> {
        self.by_id.get(id.as_bytes())
    }
    pub(crate) fn find_mut(&mut self, id: &str) -> Result<&mut Transaction, ErrorCode> {
        self.by_id.get_mut(id.as_bytes()).ok_or(ErrorCode::INVALID_PRODUCER_ID_MAPPING)
    }
    pub(crate) fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }
    pub(crate) fn all(&self) -> impl Iterator<Item = (&StrBytes, &Transaction)> {
        self.by_id.iter()
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        self.by_id.iter().map(|(id, transaction)| text_weight(id) + transaction.weight()).sum()
    }
    /// Gives out an id that nobody has had.
    pub(crate) fn allocate(&mut self) -> i64 {
        let id = self.next_producer_id;
        self.next_producer_id += 1;
        id
    }
    /// Forgets topics that were deleted.
    pub(crate) fn remove_topics(&mut self, topics: &BTreeSet<Uuid>) {
        self.by_id.values_mut().for_each(|transaction| transaction.partitions.retain(|(id, _)| !topics.contains(id)));
    }
}

impl Broker {
    /// A producer without a transactional id begins.
    pub(crate) fn new_producer(&mut self) -> Identity {
        Identity { id: self.transactions.allocate(), epoch: self.settings.producer_epoch_start }
    }
    /// A producer takes a transactional id over.
    pub(crate) fn take_over(
        &mut self,
        id: &str,
        timeout: Duration,
        expected: Option<Identity>,
    ) -> Result<Identity, ErrorCode> {
        let fresh = self.transactions.next_producer_id;
        let Ok(transaction) = self.transactions.find_mut(id) else { return Ok(self.found(id, timeout)) };
        let outcome = transaction.take_over(expected, fresh)?;
        if outcome == TakeOver::AbortFirst {
            self.fence(id);
            return Err(ErrorCode::CONCURRENT_TRANSACTIONS);
        }
        transaction.timeout = timeout;
        let identity = transaction.identity;
        self.use_up(identity.id);
        self.write_transaction(id);
        Ok(identity)
    }
    fn found(&mut self, id: &str, timeout: Duration) -> Identity {
        let identity = self.new_producer();
        self.transactions.by_id.insert(StrBytes::from_string(id.to_owned()), Transaction::new(identity, timeout));
        self.write_transaction(id);
        identity
    }
    // A fresh id is only spent when somebody took it.
    fn use_up(&mut self, producer_id: i64) {
        self.transactions.next_producer_id = self.transactions.next_producer_id.max(producer_id + 1);
    }
    /// Adds partitions to the holder's transaction. `keep_transaction` writes them down: once for a request, since each record has all of a
    /// transaction's partitions in it.
    pub(crate) fn enlist_partitions(
        &mut self,
        id: &str,
        asked: Identity,
        edition: Edition,
        partitions: impl IntoIterator<Item = PartitionKey>,
    ) -> Result<(), ErrorCode> {
        let now = self.now;
        let transaction = self.transactions.find_mut(id)?;
        transaction.open(asked, now)?;
        transaction.edition = edition;
        transaction.partitions.extend(partitions);
        Ok(())
    }
    /// How many partitions a transaction has, if it is there.
    pub(crate) fn enlisted(&self, id: &str) -> usize {
        self.transactions.find(id).map_or(0, |transaction| transaction.partitions.len())
    }
    /// Writes down what was added to a transaction, and sets its clock.
    pub(crate) fn keep_transaction(&mut self, id: &str) {
        self.write_transaction(id);
        self.arm_transaction(id);
    }
    /// Adds a group's offsets to the holder's transaction.
    pub(crate) fn add_group(
        &mut self,
        id: &str,
        asked: Identity,
        edition: Edition,
        group: &str,
    ) -> Result<(), ErrorCode> {
        let now = self.now;
        let transaction = self.transactions.find_mut(id)?;
        transaction.open(asked, now)?;
        transaction.edition = edition;
        transaction.groups.insert(StrBytes::from_string(group.to_owned()));
        self.keep_transaction(id);
        Ok(())
    }
    /// Ends the holder's transaction; says who the holder is from here on.
    pub(crate) fn end_transaction(
        &mut self,
        id: &str,
        asked: Identity,
        marker: Marker,
        bumps: bool,
    ) -> Result<Identity, ErrorCode> {
        let (fresh, now) = (self.transactions.next_producer_id, self.now);
        let until = self.marker_time(id)?;
        let transaction = self.transactions.find_mut(id)?;
        if transaction.check_end(asked, marker, bumps)? == Ending::Begin {
            transaction.prepare(marker, bumps, fresh, (now, until));
            transaction.edition = if bumps { Edition::Second } else { Edition::First };
            let holder = transaction.identity.id;
            self.use_up(holder);
            self.write_transaction(id);
            self.advance_transaction(id);
        }
        Ok(self.transactions.find_mut(id)?.identity)
    }
    // Markers come later only when the test asks for it, and when there are any.
    fn marker_time(&mut self, id: &str) -> Result<millstream_protocol::Timestamp, ErrorCode> {
        let transaction = self.transactions.find_mut(id)?;
        let has_none = transaction.partitions.is_empty() && transaction.groups.is_empty();
        let delay = Duration::from_millis(self.settings.marker_delay_ms.unsigned_abs());
        Ok(match has_none {
            true => self.now,
            false if self.faults.holds_markers => NEVER,
            false => self.now + delay,
        })
    }
    /// From here on transactions stay prepared: their ends are not written.
    pub(crate) fn hold_markers(&mut self) {
        self.faults.holds_markers = true;
    }
    /// Writes the ends that were held, and lets later ones be written; says whether there were any.
    pub(crate) fn release_markers(&mut self) -> bool {
        self.faults.holds_markers = false;
        let now = self.now;
        let (mut held, mut were_any) = (Vec::new(), false);
        for (id, transaction) in &mut self.transactions.by_id {
            if let State::Prepared { until, .. } = &mut transaction.state {
                were_any |= *until == NEVER;
                *until = now;
                held.push(id.clone());
            }
        }
        held.iter().for_each(|id| self.advance_transaction(id));
        were_any
    }
    fn fence(&mut self, id: &str) {
        let Ok(until) = self.marker_time(id) else { return };
        let own = self.features.edition();
        if let Ok(transaction) = self.transactions.find_mut(id) {
            transaction.fence(until);
            // Nobody has asked for it, whatever edition the client speaks.
            transaction.edition = own;
        }
        self.write_transaction(id);
        self.advance_transaction(id);
    }
    /// A transaction's timer has come.
    pub(crate) fn handle_transaction_time(&mut self, id: &str) {
        let Some(transaction) = self.transactions.find(id) else { return };
        match transaction.state {
            State::Ongoing { since } if since + transaction.timeout <= self.now => self.fence(id),
            _ => self.advance_transaction(id),
        }
    }
    fn advance_transaction(&mut self, id: &str) {
        let now = self.now;
        if let Ok(transaction) = self.transactions.find_mut(id)
            && let State::Prepared { marker, until } = transaction.state
            && until <= now
        {
            transaction.state = State::Complete(marker);
            let identity = transaction.marker_identity;
            let partitions = std::mem::take(&mut transaction.partitions);
            let groups = std::mem::take(&mut transaction.groups);
            let epoch = self.coordinator_epoch(id);
            partitions.into_iter().for_each(|partition| self.write_marker(partition, identity, marker, epoch));
            groups.iter().for_each(|group| self.end_in_group(group, identity, marker, epoch));
            self.write_transaction(id);
        }
        self.arm_transaction(id);
    }
    fn arm_transaction(&mut self, id: &str) {
        let at = self.transactions.find(id).and_then(Transaction::next_deadline);
        self.timers.arm(TimerKey::Transaction(StrBytes::from_string(id.to_owned())), at);
    }
    /// The coordinator's own epoch, which its markers bear: that of the leader of the id's partition.
    fn coordinator_epoch(&self, id: &str) -> i32 {
        let place = self.internal_partition(TRANSACTIONS_TOPIC, id);
        let partition = place.and_then(|(topic, index)| self.topics.find_id(topic)?.partition(index));
        partition.map_or(0, |partition| partition.leader_epoch)
    }
    /// Writes the end of a transaction into a partition's log.
    pub(crate) fn write_marker(&mut self, key: PartitionKey, identity: Identity, kind: Marker, coordinator_epoch: i32) {
        let now = self.now.as_millis();
        let Some(partition) = self.topics.find_id_mut(key.0).and_then(|topic| topic.partition_mut(key.1)) else {
            return;
        };
        let marker = batch::marker(kind, identity.id, identity.epoch, coordinator_epoch, now);
        let leader_epoch = partition.leader_epoch;
        partition.log.append_marker(kind, marker, leader_epoch, coordinator_epoch);
        self.replicate(key);
    }
    fn end_in_group(&mut self, group: &str, identity: Identity, marker: Marker, coordinator_epoch: i32) {
        if let Some(partition) = self.group_partition(group) {
            self.write_marker(partition, identity, marker, coordinator_epoch);
        }
        if let Some(group) = self.groups.find_mut(group) {
            group.offsets.end_transaction(identity.id, marker == Marker::Commit);
        }
    }
    /// Whether a producer may write to a partition in its transaction. With `adds` (KIP-890's second part) its writing adds the partition,
    /// which is yet to be written down.
    pub(crate) fn admit_transactional(
        &mut self,
        id: &str,
        asked: Identity,
        key: PartitionKey,
        adds: bool,
    ) -> Result<(), ErrorCode> {
        let is_known = self.transactions.find(id).is_some_and(|transaction| {
            matches!(transaction.state, State::Ongoing { .. })
                && transaction.check(asked).is_ok()
                && transaction.partitions.contains(&key)
        });
        if is_known {
            return Ok(());
        }
        if adds {
            return self.enlist_partitions(id, asked, Edition::Second, [key]);
        }
        self.verify_partition(id, asked, key)
    }
    /// Whether a partition is part of the holder's transaction.
    pub(crate) fn verify_partition(&mut self, id: &str, asked: Identity, key: PartitionKey) -> Result<(), ErrorCode> {
        let transaction = self.transactions.find_mut(id)?;
        transaction.check(asked)?;
        match transaction.state {
            State::Prepared { .. } => Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Ongoing { .. } if transaction.partitions.contains(&key) => Ok(()),
            _ => Err(ErrorCode::INVALID_TXN_STATE),
        }
    }
}
