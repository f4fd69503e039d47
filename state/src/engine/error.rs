//! Why a store failed, and what to do about it.

use crate::serde::{Part, SerdeError};
use std::path::PathBuf;

/// Why a store failed. The text says what was being done to which file, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The medium failed.
    #[error("store `{store}`: cannot {doing} `{}`; what was accepted before is kept. {}", file.display(), remedy(source))]
    #[non_exhaustive]
    Io {
        /// The store.
        store: String,
        /// What was being done, as in "cannot … the file".
        doing: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What a file holds is not what was written.
    #[error(
        "store `{store}`: `{}` is corrupt at byte {offset}: {problem}. Put back a good copy of the folder, or remove the folder: \
         the store is then restored from its changelog, or starts empty if it has none",
        file.display()
    )]
    #[non_exhaustive]
    Corrupt {
        /// The store.
        store: String,
        /// The file.
        file: PathBuf,
        /// Where in the file, in bytes from its start.
        offset: u64,
        /// What is wrong there.
        problem: String,
    },
    /// The files are of another version of the format.
    #[error(
        "store `{store}`: `{}` has format version {found}, and this program reads version {supported}. Run the program that wrote \
         it, or remove the folder: the store is then restored from its changelog, or starts empty if it has none",
        file.display()
    )]
    #[non_exhaustive]
    Version {
        /// The store.
        store: String,
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this program reads.
        supported: u32,
    },
    /// Another process has the folder open.
    #[error(
        "store `{store}`: folder `{}` is in use by another process. Stop that process, or give this one a state folder of its own \
         (`state.dir`)",
        folder.display()
    )]
    #[non_exhaustive]
    Locked {
        /// The store.
        store: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A key or value is not what the serde expects.
    #[error(
        "store `{store}`: a {part} is not what its serde expects. Was the store written with another serde? Then give it another \
         name, or reset the application"
    )]
    #[non_exhaustive]
    Serde {
        /// The store.
        store: String,
        /// Key or value.
        part: Part,
        /// Why.
        source: SerdeError,
    },
    /// A commit's steps were taken in an order that has no meaning.
    #[error("store `{store}`: cannot {doing}: {problem}. This is an error in the program that runs the commit")]
    #[non_exhaustive]
    OutOfOrder {
        /// The store.
        store: String,
        /// The step.
        doing: String,
        /// Why it has no meaning now.
        problem: &'static str,
    },
}

impl StoreError {
    /// Whether the same call may succeed later, once somebody has made room or given rights.
    #[must_use]
    pub const fn is_retriable(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Locked { .. })
    }

    pub(crate) fn out_of_order(store: &str, doing: impl Into<String>, problem: &'static str) -> Self {
        Self::OutOfOrder { store: store.to_owned(), doing: doing.into(), problem }
    }
}

fn remedy(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => {
            "The disk is full: make room; a task that has stopped is started again then"
        }
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "Give the process the right to write there",
        Kind::NotFound => "Was the folder removed while the process ran? Start the process again",
        _ => "See the cause; check the disk, then start the task again",
    }
}
