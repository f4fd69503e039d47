//! What a run is given: the input, the guarantee, how many faults, and which wording of the protocol is followed.

/// One input record. Every record but `Poison` changes the count of its key and sends that count out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Adds one to the key.
    Add(usize),
    /// Removes the key: its changelog record is a tombstone.
    Delete(usize),
    /// Fails, its layer is dropped, the handler says `Skip`.
    Poison,
    /// Adds one to the key, and its output flows out of the record layer before its end.
    Big(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guarantee {
    AtLeastOnce,
    ExactlyOnce,
}

/// How often each fault may happen in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    pub(crate) crashes: u8,
    /// Of the crashes, how many also lose the disk.
    pub(crate) wipes: u8,
    pub(crate) pauses: u8,
    /// Voluntary moves of the partition between live members.
    pub(crate) moves: u8,
    /// Transaction timeouts of a process that is alive (a dead one's are free).
    pub(crate) timeouts: u8,
    pub(crate) compactions: u8,
    /// Runs of the cleaner that also drop tombstones (`delete.retention.ms` has passed).
    pub(crate) tombstone_drops: u8,
}

/// Wordings. `Rules::corrected()` is the protocol; each field departs from it in one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    // Corrections: false is the text as written.
    /// EndTxn answered "fenced": the outcome is read from the committed offsets.
    pub(crate) fenced_reads_outcome: bool,
    /// The number of an aborted commit is never used again.
    pub(crate) fresh_numbers: bool,
    /// After restoring, the committed offsets are asked again; if they moved, recovery starts over.
    pub(crate) recheck_after_restore: bool,
    /// A record that has overflowed its layer belongs to the transaction its outputs are in: no freeze before its end.
    pub(crate) overflow_holds_freeze: bool,
    /// Local state older than `delete.retention.ms` is restored from the beginning.
    pub(crate) old_state_restores_from_start: bool,
    /// A commit without dirty keys repeats the last P.
    pub(crate) carries_p: bool,
    /// Without a P, restore reads to the end that the log has after the fetch, not to the LSO.
    pub(crate) unknown_reads_to_end: bool,

    // Mutations: true breaks the protocol.
    pub(crate) restore_to_lso: bool,
    pub(crate) apply_before_outcome: bool,
    pub(crate) acknowledge_undecided: bool,
    pub(crate) keep_lane_when_lost: bool,
    pub(crate) no_prepared_batch: bool,
    pub(crate) ignore_life: bool,
    pub(crate) unstable_offsets: bool,
    pub(crate) no_fencing_of_stuck_lso: bool,
    pub(crate) drop_on_unknown: bool,
    pub(crate) plain_producer: bool,
}

impl Rules {
    pub(crate) const fn corrected() -> Self {
        Self {
            fenced_reads_outcome: true,
            fresh_numbers: true,
            recheck_after_restore: true,
            overflow_holds_freeze: true,
            old_state_restores_from_start: true,
            carries_p: true,
            unknown_reads_to_end: true,
            restore_to_lso: false,
            apply_before_outcome: false,
            acknowledge_undecided: false,
            keep_lane_when_lost: false,
            no_prepared_batch: false,
            ignore_life: false,
            unstable_offsets: false,
            no_fencing_of_stuck_lso: false,
            drop_on_unknown: false,
            plain_producer: false,
        }
    }
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) input: &'static [Record],
    pub(crate) guarantee: Guarantee,
    pub(crate) changelog: bool,
    pub(crate) processes: usize,
    pub(crate) faults: Faults,
    pub(crate) rules: Rules,
    /// Whether (a) is asked of a process that has lost the partition and does not know yet.
    pub(crate) zombies: Zombies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zombies {
    Judged,
    /// Only by what they do to others.
    Excused,
}

impl Config {
    pub(crate) fn exactly_once(&self) -> bool {
        self.guarantee == Guarantee::ExactlyOnce
    }

    /// The counts after the first `offset` records.
    pub(crate) fn fold(&self, offset: u8) -> [u8; 2] {
        let mut counts = [0; 2];
        for record in &self.input[..offset as usize] {
            match *record {
                Record::Add(key) | Record::Big(key) => counts[key] += 1,
                Record::Delete(key) => counts[key] = 0,
                Record::Poison => {}
            }
        }
        counts
    }

    /// The outputs of the first `offset` records: (record, count).
    pub(crate) fn outputs(&self, offset: u8) -> Vec<(u8, u8)> {
        (0..offset)
            .filter_map(|at| match self.input[at as usize] {
                Record::Add(key) | Record::Big(key) | Record::Delete(key) => Some((at, self.fold(at + 1)[key])),
                Record::Poison => None,
            })
            .collect()
    }
}
