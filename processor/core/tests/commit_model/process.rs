//! A process: what is on its disk, what is in its memory, and where it stands.

use crate::broker::Commit;

pub(crate) type State = [u8; 2];
/// A layer: the keys that were written in it.
pub(crate) type Layer = [Option<u8>; 2];

pub(crate) fn merge(base: &mut State, layer: &Layer) {
    for (value, written) in base.iter_mut().zip(layer) {
        *value = written.unwrap_or(*value);
    }
}

/// The journal's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Disk {
    pub(crate) transactional_id: u8,
    pub(crate) base: State,
    /// What base stands for: input offset, n, life, and how far the changelog is in it.
    pub(crate) mark: Commit,
    pub(crate) position: u8,
    pub(crate) prepared: Option<Prepared>,
    /// A tombstone behind `position` has been dropped meanwhile (in life: the mark is older than `delete.retention.ms`).
    pub(crate) too_old: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Prepared {
    pub(crate) commit: Commit,
    pub(crate) batch: Layer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Membership {
    #[default]
    None,
    Member,
    /// Told that its member id is no longer known; must decide its lane before it rejoins.
    Lost,
}

/// Where the task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    #[default]
    Down,
    /// Up, without the partition.
    Out,
    Fetch,
    Restore,
    Recheck,
    Running,
}

/// Steps 1 to 6 of section 3; each value names the step that is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    #[default]
    None,
    Frozen,
    Logged,
    Prepared,
    OffsetsSent,
    Ending,
    Committed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) disk: Disk,
    pub(crate) paused: bool,
    pub(crate) phase: Phase,
    pub(crate) life: u8,
    pub(crate) membership: Membership,
    /// The driver's generation is the group's.
    pub(crate) generation_current: bool,
    /// The producer's epoch is the coordinator's.
    pub(crate) epoch_current: bool,
    /// A transaction is begun and not decided, as the client sees it.
    pub(crate) in_txn: bool,
    /// The transaction was begun under the present member id.
    pub(crate) txn_of_member: bool,
    pub(crate) step: Step,
    /// The commit in hand (step 2 on).
    pub(crate) commit: Commit,
    pub(crate) last_number: u8,
    /// The next input record.
    pub(crate) next: u8,
    pub(crate) overflowing: bool,
    pub(crate) epoch: Layer,
    pub(crate) frozen: Layer,
    pub(crate) frozen_offset: u8,
    /// Outputs sent since the freeze, held for the next transaction: a bit per record, and the values.
    pub(crate) held: [Option<u8>; 4],
    /// What recovery fetched.
    pub(crate) fetched: Commit,
}

impl Process {
    pub(crate) fn read(&self, key: usize) -> u8 {
        self.epoch[key].or(self.frozen[key]).unwrap_or(self.disk.base[key])
    }

    /// Forgets everything since the last commit, as a lane's abort does.
    pub(crate) fn drop_layers(&mut self) {
        self.epoch = Layer::default();
        self.frozen = Layer::default();
        self.frozen_offset = 0;
        self.held = [None; 4];
        self.overflowing = false;
        self.next = self.disk.mark.offset;
        self.step = Step::None;
        self.commit = Commit::default();
        self.in_txn = false;
        self.txn_of_member = false;
    }

    pub(crate) fn crash(&mut self) {
        *self = Self { disk: self.disk, ..Self::default() };
    }

    pub(crate) fn decided(&self) -> bool {
        self.step == Step::None && !self.in_txn
    }
}
