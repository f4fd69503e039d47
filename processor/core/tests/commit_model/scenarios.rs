//! The runs: the corrected protocol under several bounds, and each single departure from it, which must fail.
//! Small ones take a fraction of a second without optimization; large ones have up to five million states each.

use crate::rules::{Config, Faults, Guarantee, Record, Rules, Zombies};
use Guarantee::{AtLeastOnce, ExactlyOnce};
use Record::{Add, Big, Delete, Poison};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) size: Size,
    pub(crate) config: Config,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// Up to 200,000 states.
    Small,
    Large,
}

const NONE: Faults =
    Faults { crashes: 0, wipes: 0, pauses: 0, moves: 0, timeouts: 0, compactions: 0, tombstone_drops: 0 };

const ALO: Config = Config {
    input: &[Add(0), Add(0)],
    guarantee: AtLeastOnce,
    changelog: true,
    processes: 2,
    faults: NONE,
    rules: Rules::corrected(),
    zombies: Zombies::Judged,
};
const EO: Config = Config { guarantee: ExactlyOnce, ..ALO };
/// Without a changelog state stays where its disk is, so there is one process.
const LOCAL: Config = Config { changelog: false, processes: 1, ..ALO };

/// The corrected protocol; none may fail.
pub(crate) fn sound() -> Vec<Scenario> {
    let run = |name, config| Scenario { name, size: Size::Large, config };
    let small = |name, config| Scenario { name, size: Size::Small, config };
    let zombie = Faults { crashes: 1, wipes: 1, pauses: 1, ..NONE };
    let moved = Faults { moves: 1, timeouts: 1, ..NONE };
    let local = Faults { crashes: 2, pauses: 2, moves: 1, timeouts: 2, ..NONE };
    let one_move = Faults { moves: 1, ..NONE };
    vec![
        small("eo: move", Config { faults: one_move, ..EO }),
        small("alo: timeout, crash", Config { faults: Faults { timeouts: 1, crashes: 1, ..NONE }, ..ALO }),
        small(
            "eo: overflowing record, timeout",
            Config { input: &[Add(0), Big(0)], faults: Faults { timeouts: 1, ..NONE }, ..EO },
        ),
        small(
            "alo: no changelog, crash, timeout",
            Config { faults: Faults { timeouts: 1, crashes: 1, ..NONE }, ..LOCAL },
        ),
        run("alo: crash, pause, lost disk", Config { faults: zombie, ..ALO }),
        run("eo: crash, pause, lost disk", Config { faults: zombie, ..EO }),
        run("alo: two pauses, timeout", Config { faults: Faults { pauses: 2, timeouts: 1, ..NONE }, ..ALO }),
        run("eo: two pauses, timeout", Config { faults: Faults { pauses: 2, timeouts: 1, ..NONE }, ..EO }),
        small("alo: two crashes, compaction", Config { faults: Faults { crashes: 2, compactions: 1, ..NONE }, ..ALO }),
        small("alo: move, timeout", Config { faults: moved, ..ALO }),
        small("eo: move, timeout", Config { faults: moved, ..EO }),
        run("alo: move, crash", Config { faults: Faults { moves: 1, crashes: 1, ..NONE }, ..ALO }),
        run("eo: move, crash", Config { faults: Faults { moves: 1, crashes: 1, ..NONE }, ..EO }),
        run(
            "alo: three processes, crash, pause",
            Config { processes: 3, faults: Faults { crashes: 1, pauses: 1, ..NONE }, ..ALO },
        ),
        run(
            "eo: three processes, crash, pause",
            Config { processes: 3, faults: Faults { crashes: 1, pauses: 1, ..NONE }, ..EO },
        ),
        run(
            "alo: no P for commits without dirty keys, restore to the end",
            Config {
                input: &[Add(0), Poison],
                rules: Rules { carries_p: false, ..Rules::corrected() },
                faults: zombie,
                ..ALO
            },
        ),
        run(
            "alo: stuck LSO left to the transaction timeout",
            Config { rules: Rules { no_fencing_of_stuck_lso: true, ..Rules::corrected() }, faults: zombie, ..ALO },
        ),
        run(
            "alo: three records, pause, compaction",
            Config { input: &[Add(0), Add(1), Add(0)], faults: Faults { pauses: 1, compactions: 1, ..NONE }, ..ALO },
        ),
        run("alo: poison, move, timeout", Config { input: &[Add(0), Poison, Add(1)], faults: moved, ..ALO }),
        run("eo: poison, move, timeout", Config { input: &[Poison, Add(0), Poison, Add(0)], faults: moved, ..EO }),
        run(
            "eo: overflowing record, crash, pause",
            Config { input: &[Add(0), Big(0)], faults: Faults { crashes: 1, pauses: 1, ..NONE }, ..EO },
        ),
        run(
            "alo: tombstone dropped, pause, move",
            Config {
                input: &[Add(0), Delete(0)],
                faults: Faults { pauses: 1, moves: 1, compactions: 1, tombstone_drops: 1, ..NONE },
                ..ALO
            },
        ),
        run("alo: no changelog, one process", Config { input: &[Add(0), Poison, Add(0)], faults: local, ..LOCAL }),
        run(
            "eo: no changelog, one process",
            Config { input: &[Add(0), Poison, Add(0)], faults: local, guarantee: ExactlyOnce, ..LOCAL },
        ),
    ]
}

/// The corrected protocol less one correction (the text as written), or with one mutation; each must fail.
pub(crate) fn unsound() -> Vec<Scenario> {
    let fixed = Rules::corrected();
    let zombie = Faults { crashes: 1, wipes: 1, pauses: 1, ..NONE };
    let moved = Faults { moves: 1, ..NONE };
    let moved_crash = Faults { moves: 1, crashes: 1, ..NONE };
    let timeout = Faults { timeouts: 1, ..NONE };
    let timeout_crash = Faults { timeouts: 1, crashes: 1, ..NONE };
    let run = |name, rules, config| Scenario { name, size: Size::Small, config: Config { rules, ..config } };
    let large = |name, rules, config| Scenario { name, size: Size::Large, config: Config { rules, ..config } };
    vec![
        run(
            "written: fenced EndTxn is retried",
            Rules { fenced_reads_outcome: false, ..fixed },
            Config { faults: timeout, ..EO },
        ),
        run(
            "written: the number of an aborted commit is used again",
            Rules { fresh_numbers: false, ..fixed },
            Config { input: &[Poison, Add(0)], faults: timeout_crash, ..ALO },
        ),
        large(
            "written: no second look after restore (alo)",
            Rules { recheck_after_restore: false, ..fixed },
            Config {
                input: &[Add(0), Add(0), Add(0)],
                faults: Faults { pauses: 1, compactions: 1, moves: 1, ..NONE },
                ..ALO
            },
        ),
        large(
            "written: no second look after restore, by its outputs",
            Rules { recheck_after_restore: false, ..fixed },
            Config {
                input: &[Add(0), Add(0), Add(0)],
                faults: Faults { pauses: 1, compactions: 1, ..NONE },
                zombies: Zombies::Excused,
                ..ALO
            },
        ),
        run(
            "written: freeze during an overflowing record",
            Rules { overflow_holds_freeze: false, ..fixed },
            Config { input: &[Add(0), Big(0)], faults: NONE, ..EO },
        ),
        large(
            "written: old local state, tombstones gone",
            Rules { old_state_restores_from_start: false, ..fixed },
            Config {
                input: &[Add(0), Delete(0)],
                faults: Faults { pauses: 1, crashes: 1, compactions: 1, tombstone_drops: 1, ..NONE },
                ..ALO
            },
        ),
        large(
            "written: a commit without dirty keys has no P, restore to LSO",
            Rules { carries_p: false, unknown_reads_to_end: false, ..fixed },
            Config { input: &[Add(0), Poison, Add(1)], faults: zombie, ..ALO },
        ),
        run(
            "written: no changelog, two processes",
            fixed,
            Config { faults: Faults { moves: 1, ..NONE }, processes: 2, ..LOCAL },
        ),
        run("mutation: restore to the LSO", Rules { restore_to_lso: true, ..fixed }, Config { faults: zombie, ..ALO }),
        run(
            "mutation: apply before the outcome is known",
            Rules { apply_before_outcome: true, ..fixed },
            Config { faults: Faults { moves: 1, ..timeout }, ..ALO },
        ),
        run(
            "mutation: drop while the outcome is unknown",
            Rules { drop_on_unknown: true, ..fixed },
            Config { faults: NONE, ..ALO },
        ),
        run(
            "mutation: revocation acknowledged undecided",
            Rules { acknowledge_undecided: true, ..fixed },
            Config { faults: moved, ..ALO },
        ),
        run(
            "mutation: revocation acknowledged undecided (eo)",
            Rules { acknowledge_undecided: true, ..fixed },
            Config { faults: moved, ..EO },
        ),
        run(
            "mutation: lane kept when lost",
            Rules { keep_lane_when_lost: true, ..fixed },
            Config { faults: moved, ..ALO },
        ),
        run(
            "mutation: no prepared batch, no changelog",
            Rules { no_prepared_batch: true, ..fixed },
            Config { faults: timeout_crash, ..LOCAL },
        ),
        run(
            "mutation: prepared batch of another life",
            Rules { ignore_life: true, ..fixed },
            Config { faults: moved_crash, ..ALO },
        ),
        run(
            "mutation: offsets not required stable",
            Rules { unstable_offsets: true, ..fixed },
            Config { faults: moved_crash, ..ALO },
        ),
        run(
            "mutation: plain producer for the changelog",
            Rules { plain_producer: true, ..fixed },
            Config { input: &[Add(0), Add(0), Add(1)], faults: Faults { pauses: 1, ..NONE }, ..ALO },
        ),
    ]
}
