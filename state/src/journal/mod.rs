//! A store in memory whose commits are appended to a journal, so that a restart finds them.
//!
//! # Files
//!
//! A store has a folder of its own:
//!
//! ```text
//! lock             held by the process that has the folder
//! snapshot-7       all that came before journal-7
//! journal-7        what came since
//! snapshot-8.tmp   being written; becomes snapshot-8 when it is whole and synced
//! journal-8        what comes while snapshot-8 is written
//! ```
//!
//! A restart reads the newest snapshot and the journals from its generation on; the first generation has no snapshot. When a journal has
//! grown to the size of the snapshot (and to the least size in [`JournalOptions`]), the next generation begins: a few frames of its
//! snapshot are written at each commit, and once it is in place, older files go. So a commit's bytes are written about twice over,
//! and no commit waits for a whole snapshot.
//!
//! # Bytes
//!
//! Numbers are big-endian. A file is a header of 32 bytes and then frames:
//!
//! ```text
//!            0       1       2       3       4       5       6       7
//!        ┌───────┬───────┬───────┬───────┬───────┬───────┬───────┬───────┐
//!      0 │ "msjournl" or "mssnapsh"                                      │
//!      8 │ version (1)                   │ generation ………………             │
//!     16 │ ……………… generation             │ number of the first frame …   │
//!     24 │ … number of the first frame   │ CRC-32C of the 28 bytes above │
//!        ├───────────────────────────────┼───────┬───────────────────────┤
//!      0 │ length of the body            │ kind  │ 0                     │   a frame
//!      8 │ number: one more than that of the frame before                │
//!     16 │ CRC-32C of the body           │ CRC-32C of the 20 bytes above │
//!     24 │ body … and one byte 0xa5                                      │
//!        └───────────────────────────────────────────────────────────────┘
//! ```
//!
//! | kind | frame | body |
//! | --- | --- | --- |
//! | 1 | writes | for each: key, value (as *bytes*; a value of none deletes) |
//! | 2 | prepared | commit, position, u64 count: the writes frames before it are this batch |
//! | 3 | applied | commit: the prepared batch is part of the store |
//! | 4 | discarded | commit: the prepared batch is gone |
//! | 5 | restored | position, u64 count: the writes frames before it are part of the store |
//! | 6 | adopted | commit, position: the store equals what this commit left |
//! | 7 | cleared | – : the store is empty, nothing is prepared |
//! | 8 | base | (snapshots) u64 count, u8 form, then by form: 0 –; 1 position; 2 commit, position. The writes before it are the entries |
//! | 9 | end | (snapshots) – : the last frame; between base and end lie prepared batches |
//!
//! *commit*: u64 number, u64 life. *position*: i64 changelog end, i64 time, u32 count, and for each input: topic (as *bytes*), i32
//! partition, i64 next offset. *bytes*: length + 1 as a varint of seven bits a byte, lowest first, or 0 for none; then the bytes.
//!
//! # What a reader believes
//!
//! - A last journal that ends within a frame, or in zeros where a frame was never written, was being written when its process
//!   was stopped: the end is cut off, with writes frames whose meaning was still to come. Nothing that was accepted is lost by that, since an append
//!   that was not whole was not answered.
//! - Anything else that does not fit its checksum, its number or its place is [`StoreError::Corrupt`]: nothing is guessed.
//!
//! What the process has written survives its end, not the machine's: for that, [`JournalOptions::sync_prepare`] waits for the disk at each
//! commit. Without it a power loss takes the last commits from the files, and recovery reads them from the changelog again.

mod body;
mod compaction;
mod frame;
mod log;
mod names;
mod recovery;

use crate::Blob;
use crate::engine::{Applied, ChangelogPosition, CommitId, OrderedStore, Prepared, Snapshot, StoreError, WriteBatch};
use crate::fs::Fs;
use crate::lock::lock;
use crate::resident::Resident;
use frame::{FrameWriter, Kind};
use log::Log;
use names::Name;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Options of a journal.
#[derive(Debug, Clone)]
#[must_use]
pub struct JournalOptions {
    sync_prepare: bool,
    least_len: u64,
}
impl JournalOptions {
    /// Waits at each commit until the disk has its batch, so that a power loss takes nothing that was committed. Costs a disk's
    /// latency per commit. Default: off.
    pub const fn sync_prepare(mut self, sync: bool) -> Self {
        self.sync_prepare = sync;
        self
    }
    /// How large, in bytes, a journal grows at least before a snapshot is made. Default: 8 MiB. A large one makes restarts longer.
    pub const fn least_len(mut self, bytes: u64) -> Self {
        self.least_len = bytes;
        self
    }
    fn limit(&self, snapshot_len: u64) -> u64 {
        self.least_len.max(snapshot_len)
    }
}
impl Default for JournalOptions {
    fn default() -> Self {
        Self { sync_prepare: false, least_len: 8 << 20 }
    }
}

/// A store in memory, journaled to files: a restart finds what was committed, and the batches that wait for their decision.
///
/// ```
/// use millstream_protocol::{Offset, Timestamp};
/// use millstream_state::fs::MemoryFs;
/// use millstream_state::{ChangelogPosition, CommitId, JournalOptions, JournaledStore, OrderedStore, WriteBatch};
/// use std::sync::Arc;
/// let fs = Arc::new(MemoryFs::new()); // `DiskFs` for the system's files
/// let open = || JournaledStore::open(fs.clone(), "state/0_1/sums".as_ref(), "sums", JournalOptions::default());
///
/// let store = open()?;
/// let mut batch = WriteBatch::default();
/// batch.put(&b"a"[..], &b"1"[..], Timestamp::EPOCH);
/// let commit = CommitId::new(1, 7);
/// store.prepare(commit, &Arc::new(batch), &ChangelogPosition::new(Offset::new(1), Timestamp::EPOCH))?;
/// drop(store);
///
/// let store = open()?;
/// assert_eq!(store.prepared()[0].commit, commit);
/// store.apply(commit)?;
/// assert_eq!(store.get(b"a")?.as_deref(), Some(&b"1"[..]));
/// # Ok::<(), millstream_state::StoreError>(())
/// ```
#[derive(Debug)]
pub struct JournaledStore {
    resident: Resident,
    log: Mutex<Log>,
}

impl JournaledStore {
    /// Opens a store's folder, which is made if need be, and reads it. An unfinished end is cut off.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has the folder, [`StoreError::Corrupt`] and [`StoreError::Version`] if its files are not
    /// what this program writes, [`StoreError::Io`] as the system says.
    pub fn open(fs: Arc<dyn Fs>, folder: &Path, name: &str, options: JournalOptions) -> Result<Self, StoreError> {
        let site = Site { fs, folder: folder.to_owned(), store: name.to_owned() };
        site.fs.create_folder(folder).map_err(|error| site.io("make", folder, error))?;
        let lock = site.path(Name::Lock);
        let locked = site.fs.lock(&lock).map_err(|error| site.io("lock", &lock, error))?;
        let Some(held) = locked else {
            return Err(StoreError::Locked { store: site.store, folder: site.folder });
        };
        let found = recovery::recover(&site)?;
        log::remove_older(&site, found.first);
        let log = Log::reopen(site, options, held, found.generation, found.end, found.snapshot_len)?;
        Ok(Self { resident: found.resident, log: Mutex::new(log) })
    }

    /// Appends to the journal, and then does the same in memory.
    fn write(
        &self,
        encode: impl FnOnce(&mut FrameWriter) -> io::Result<()>,
        change: impl FnOnce(&Resident) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.locked(|log| log.append(encode), change)
    }
    fn locked(
        &self,
        append: impl FnOnce(&mut Log) -> Result<(), StoreError>,
        change: impl FnOnce(&Resident) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut log = lock(&self.log);
        let before = log.len();
        append(&mut log)?;
        change(&self.resident)?;
        let appended = log.len().saturating_sub(before);
        log.maintain(&self.resident, appended);
        Ok(())
    }
}

impl OrderedStore for JournaledStore {
    fn name(&self) -> &str {
        self.resident.name()
    }
    fn get(&self, key: &[u8]) -> Result<Option<Blob>, StoreError> {
        Ok(self.resident.get(key))
    }
    fn approximate_len(&self) -> u64 {
        u64::try_from(self.resident.len()).unwrap_or(u64::MAX)
    }
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        Ok(self.resident.snapshot())
    }
    fn prepare(
        &self,
        commit: CommitId,
        batch: &Arc<WriteBatch>,
        position: &ChangelogPosition,
    ) -> Result<(), StoreError> {
        let append = |log: &mut Log| {
            if self.resident.is_prepared(commit) {
                return Err(self.resident.prepared_already(commit));
            }
            log.append_prepared(|out| body::prepare(out, commit, position, batch))
        };
        self.locked(append, |resident| resident.prepare(commit, batch, position))
    }
    fn apply(&self, commit: CommitId) -> Result<(), StoreError> {
        let append = |log: &mut Log| {
            if !self.resident.is_prepared(commit) {
                return Err(self.resident.not_prepared(commit));
            }
            log.append(|out| body::decide(out, Kind::Applied, commit))
        };
        self.locked(append, |resident| resident.apply(commit))
    }
    fn discard(&self, commit: CommitId) -> Result<(), StoreError> {
        if !self.resident.is_prepared(commit) {
            return Ok(());
        }
        let encode = |out: &mut FrameWriter| body::decide(out, Kind::Discarded, commit);
        self.write(encode, |resident| {
            resident.discard(commit);
            Ok(())
        })
    }
    fn prepared(&self) -> Vec<Prepared> {
        self.resident.prepared()
    }
    fn applied(&self) -> Option<Applied> {
        self.resident.applied()
    }
    fn restore(&self, batch: WriteBatch, position: &ChangelogPosition) -> Result<(), StoreError> {
        let encode = |out: &mut FrameWriter| body::restore(out, position, &batch);
        self.write(encode, |resident| {
            resident.restore(&batch, position);
            Ok(())
        })
    }
    fn adopt(&self, commit: CommitId, position: &ChangelogPosition) -> Result<(), StoreError> {
        let encode = |out: &mut FrameWriter| body::adopt(out, commit, position);
        self.write(encode, |resident| {
            resident.adopt(commit, position);
            Ok(())
        })
    }
    fn clear(&self) -> Result<(), StoreError> {
        let encode = |out: &mut FrameWriter| out.frame(Kind::Cleared, |_| {});
        self.write(encode, |resident| {
            resident.clear();
            Ok(())
        })
    }
    fn checkpoint(&self) -> Result<Option<Applied>, StoreError> {
        let mut log = lock(&self.log);
        log.sync()?;
        Ok(self.resident.applied())
    }
}

/// Where a store's files are.
#[derive(Debug, Clone)]
struct Site {
    fs: Arc<dyn Fs>,
    folder: PathBuf,
    store: String,
}
impl Site {
    fn path(&self, name: Name) -> PathBuf {
        self.folder.join(name.to_string())
    }
    fn io(&self, doing: &'static str, file: &Path, source: io::Error) -> StoreError {
        StoreError::Io { store: self.store.clone(), doing, file: file.to_owned(), source }
    }
}
