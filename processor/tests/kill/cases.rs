//! The table: stores, and points at which a process is stopped.

/// A store, and where its contents are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) is_journaled: bool,
    pub(crate) has_changelog: bool,
}

const fn store(name: &'static str, arguments: &'static [&'static str], is_journaled: bool) -> Store {
    Store { name, arguments, is_journaled, has_changelog: true }
}

/// Both views in both stores, with a changelog.
pub(crate) const LOGGED: [Store; 4] = [
    store("journaled key-value", &[], true),
    store("journaled timestamped", &["--store", "timestamped"], true),
    store("key-value in memory", &["--memory"], false),
    store("timestamped in memory", &["--memory", "--store", "timestamped"], false),
];

/// The journaled store without a changelog, under both views: its contents are on the disk alone.
pub(crate) const LOCAL: [Store; 2] = [
    Store { has_changelog: false, ..store("journaled key-value, changelog off", &["--no-changelog"], true) },
    Store {
        has_changelog: false,
        ..store("journaled timestamped, changelog off", &["--no-changelog", "--store", "timestamped"], true)
    },
];

/// In memory and without a changelog: a restart starts empty.
pub(crate) const FORGETFUL: Store = Store {
    has_changelog: false,
    ..store("key-value in memory, changelog off", &["--memory", "--no-changelog"], false)
};

/// Where a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// As `MILLSTREAM_STOP_AT` takes it.
    pub(crate) name: &'static str,
    pub(crate) part: Part,
}

/// What a point is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Commit,
    Recovery,
    Revocation,
}

const fn commit(name: &'static str) -> Point {
    Point { name, part: Part::Commit }
}

const fn recovery(name: &'static str) -> Point {
    Point { name, part: Part::Recovery }
}

/// After each step of a commit; the third one, so that two are there already.
pub(crate) const STEP_1: Point = commit("step-1@3");
pub(crate) const STEP_2: Point = commit("step-2@3");
pub(crate) const STEP_3: Point = commit("step-3@3");
pub(crate) const STEP_4: Point = commit("step-4@3");
pub(crate) const STEP_5: Point = commit("step-5@3");
pub(crate) const STEP_6: Point = commit("step-6@3");
/// A recovery knows what is committed, has read some of the changelog, has read all of it.
pub(crate) const FETCHED: Point = recovery("recovery-fetched@2");
pub(crate) const READING: Point = recovery("recovery-reading");
pub(crate) const RESTORED: Point = recovery("recovery-restored");
/// Tasks are asked back, and not let go yet.
pub(crate) const REVOCATION: Point = Point { name: "revocation", part: Part::Revocation };

pub(crate) const POINTS: [Point; 10] =
    [STEP_1, STEP_2, STEP_3, STEP_4, STEP_5, STEP_6, FETCHED, READING, RESTORED, REVOCATION];

/// How a process is stopped, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Kill(Point),
    Pause(Point),
}
