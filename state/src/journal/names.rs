//! The names of a store's files.

use std::fmt;

/// A file of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// Who holds this lock has the folder.
    Lock,
    /// What came after the snapshot of this generation.
    Journal(u64),
    /// All that came before the journal of this generation.
    Snapshot(u64),
    /// A snapshot that is being written.
    Unfinished(u64),
}
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock => f.write_str("lock"),
            Self::Journal(generation) => write!(f, "journal-{generation}"),
            Self::Snapshot(generation) => write!(f, "snapshot-{generation}"),
            Self::Unfinished(generation) => write!(f, "snapshot-{generation}.tmp"),
        }
    }
}
/// The file of a name; none for files of others.
pub(super) fn parse(name: &str) -> Option<Name> {
    if name == "lock" {
        return Some(Name::Lock);
    }
    let (kind, generation) = name.split_once('-')?;
    let parsed = match (kind, generation.strip_suffix(".tmp")) {
        ("journal", None) => Name::Journal(generation.parse().ok()?),
        ("snapshot", None) => Name::Snapshot(generation.parse().ok()?),
        ("snapshot", Some(generation)) => Name::Unfinished(generation.parse().ok()?),
        _ => return None,
    };
    Some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in [Name::Lock, Name::Journal(0), Name::Snapshot(12), Name::Unfinished(3)] {
            assert_eq!(parse(&name.to_string()), Some(name));
        }
        assert_eq!(parse("journal-x"), None);
        assert_eq!(parse("notes.txt"), None);
    }
}
