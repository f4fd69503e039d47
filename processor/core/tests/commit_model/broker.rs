//! The cluster's side: the changelog and output partitions, the transaction coordinator and the group coordinator.
//! Epochs, generations and member ids appear only as "is it still the current one", which is all that fencing asks.

use crate::list::List;

pub(crate) const PROCESSES: usize = 3;
/// A disk that is lost takes its persisted process id along, so its successor has another transactional id.
pub(crate) const TRANSACTIONAL_IDS: usize = PROCESSES + 1;

/// What a record in a log is to a read_committed reader. Aborted and cleaned records are taken out of the log and the
/// positions behind them moved down: no reader sees a difference, and the search sees far fewer states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fate {
    #[default]
    Committed,
    /// No marker yet; by transactional id.
    Open(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entry {
    pub(crate) key: u8,
    /// 0 is a tombstone.
    pub(crate) value: u8,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Output {
    pub(crate) record: u8,
    pub(crate) value: u8,
    pub(crate) fate: Fate,
}

pub(crate) type Changelog = List<Entry, 12>;
/// Kept sorted: the order of outputs is not judged.
pub(crate) type Outputs = List<Output, 12>;

pub(crate) fn last_stable_offset(log: &Changelog) -> u8 {
    log.iter().position(|entry| matches!(entry.fate, Fate::Open(_))).unwrap_or(log.len()) as u8
}

/// Applies what a read_committed reader sees in `from..to`.
pub(crate) fn read_committed(log: &Changelog, from: u8, to: u8, state: &mut [u8; 2]) {
    for entry in &log[from.min(to) as usize..to as usize] {
        if entry.fate == Fate::Committed {
            state[entry.key as usize] = entry.value;
        }
    }
}

/// The records that the log cleaner may take below the last stable offset: a later committed record has their key.
pub(crate) fn superseded(log: &Changelog) -> Vec<u8> {
    let end = last_stable_offset(log) as usize;
    let later =
        |at: usize| log[at + 1..end].iter().any(|later| later.fate == Fate::Committed && later.key == log[at].key);
    (0..end).filter(|&at| later(at)).map(|at| at as u8).collect()
}

/// The committed tombstones, which go once their retention has passed.
pub(crate) fn tombstones(log: &Changelog) -> Vec<u8> {
    (0..last_stable_offset(log)).filter(|&at| log[at as usize].value == 0).collect()
}

/// A transactional id's state.
///
/// ```text
/// Idle ──begin──► Open ──EndTxn──► Committing
///   ▲              │                    │
///   └──────────────┴────────────────────┘
///     abort, timeout, fence;   all markers written
/// ```
/// An abort's markers are written at once: until then the log looks as it does while the transaction is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    #[default]
    Idle,
    Open,
    Committing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Txn {
    pub(crate) status: Status,
    /// An EndTxn(commit) of the current epoch is on the wire. It may arrive after its sender's death.
    pub(crate) end_on_wire: bool,
}

/// What a committed offset carries: the offset and the trailer of section 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Commit {
    pub(crate) offset: u8,
    pub(crate) number: u8,
    pub(crate) life: u8,
    /// `None`: unknown, restore reads to the LSO.
    pub(crate) position: Option<u8>,
}

impl Commit {
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        (self.number, self.life) == (other.number, other.life)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    pub(crate) members: [bool; PROCESSES],
    pub(crate) owner: Option<u8>,
    /// The owner has been asked to give the partition up.
    pub(crate) revoking: bool,
    pub(crate) committed: Commit,
    /// Transactional offsets that wait for their marker, by transactional id.
    pub(crate) pending: [Option<Commit>; TRANSACTIONAL_IDS],
}

impl Group {
    pub(crate) fn stable(&self) -> bool {
        self.pending.iter().all(Option::is_none)
    }
}
