//! The files of one store while it is open: where to append, and when to begin anew.

use super::compaction::Compaction;
use super::frame::{FileHeader, FrameWriter, Mark};
use super::names::{self, Name};
use super::{JournalOptions, Site};
use crate::engine::StoreError;
use crate::fs::FsLock;
use crate::resident::Resident;
use std::io;
use std::path::PathBuf;

/// The open end of a store's files.
#[derive(Debug)]
pub(super) struct Log {
    site: Site,
    options: JournalOptions,
    generation: u64,
    out: FrameWriter,
    /// Where the file ends in what is whole; what lies behind it is still to be cut.
    uncut: Option<Mark>,
    /// How large the journal may grow before the next snapshot.
    limit: u64,
    compaction: Option<Compaction>,
    _lock: Box<dyn FsLock>,
}

impl Log {
    /// Goes on with a journal that has been read up to `end`.
    pub(super) fn reopen(
        site: Site,
        options: JournalOptions,
        lock: Box<dyn FsLock>,
        generation: u64,
        end: Mark,
        snapshot_len: u64,
    ) -> Result<Self, StoreError> {
        let file = site.path(Name::Journal(generation));
        let appended = site.fs.append(&file).map_err(|error| site.io("open", &file, error))?;
        let mut out = FrameWriter::new(appended, end.len, end.sequence);
        let cut = if end.len == 0 { begin(&site, &mut out, generation, end.sequence) } else { out.roll_back(end) };
        cut.map_err(|error| site.io("begin", &file, error))?;
        let limit = options.limit(snapshot_len);
        Ok(Self { site, options, generation, out, uncut: None, limit, compaction: None, _lock: lock })
    }

    /// Appends what `encode` adds: all of it or, with an error, nothing.
    pub(super) fn append(&mut self, encode: impl FnOnce(&mut FrameWriter) -> io::Result<()>) -> Result<(), StoreError> {
        self.append_and(Sync::No, encode)
    }
    /// Appends what must be as durable as the options say before the caller goes on.
    pub(super) fn append_prepared(
        &mut self,
        encode: impl FnOnce(&mut FrameWriter) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        self.append_and(if self.options.sync_prepare { Sync::Yes } else { Sync::No }, encode)
    }
    /// Makes all that was appended survive a power loss.
    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        self.out.sync().map_err(|error| self.io("sync", error))
    }
    /// Goes on with a snapshot, or begins one when the journal has grown. A failure is told to the log and not to the commit, which
    /// needs no snapshot: the journals are kept, and the next try comes when the journal has grown again.
    pub(super) fn maintain(&mut self, resident: &Resident, appended: u64) {
        if let Some(compaction) = &mut self.compaction {
            match compaction.step(&self.site, appended.saturating_mul(4).saturating_add(STEP_LEN)) {
                Ok(None) => {}
                Ok(Some(len)) => {
                    self.compaction = None;
                    self.limit = self.options.limit(len);
                }
                Err(error) => self.give_up(&error),
            }
        } else if self.out.mark().len > self.limit
            && let Err(error) = self.begin_compaction(resident)
        {
            self.give_up(&error);
        }
    }
    /// How long the journal is, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.out.mark().len
    }

    fn append_and(
        &mut self,
        sync: Sync,
        encode: impl FnOnce(&mut FrameWriter) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        self.cut()?;
        let before = self.out.mark();
        let mut result = encode(&mut self.out).and_then(|()| self.out.flush());
        if let (Ok(()), Sync::Yes) = (&result, sync) {
            result = self.out.sync();
        }
        let Err(error) = result else { return Ok(()) };
        self.uncut = Some(before);
        // What cannot be cut now is cut before the next append; a restart takes it for a batch that nobody committed.
        drop(self.cut());
        Err(self.io("append to", error))
    }
    /// Cuts off what a failed append has left.
    fn cut(&mut self) -> Result<(), StoreError> {
        if let Some(mark) = self.uncut {
            self.out.roll_back(mark).map_err(|error| self.io("cut off the unfinished end of", error))?;
            self.uncut = None;
        }
        Ok(())
    }
    fn begin_compaction(&mut self, resident: &Resident) -> Result<(), StoreError> {
        self.cut()?;
        self.sync()?;
        let (next, sequence) = (self.generation + 1, self.out.mark().sequence);
        let out = self.begin_journal(next, sequence)?;
        (self.generation, self.out) = (next, out);
        self.limit = self.options.limit(0);
        self.compaction = Some(Compaction::begin(&self.site, next, sequence, resident)?);
        Ok(())
    }
    fn begin_journal(&self, generation: u64, sequence: u64) -> Result<FrameWriter, StoreError> {
        let file = self.site.path(Name::Journal(generation));
        let begun = self.site.fs.append(&file).and_then(|appended| {
            let mut out = FrameWriter::new(appended, 0, sequence);
            begin(&self.site, &mut out, generation, sequence)?;
            Ok(out)
        });
        begun.map_err(|error| {
            // If this fails too, an empty journal stays behind: whoever reads it next knows it by its number.
            drop(self.site.fs.remove(&file));
            self.site.io("begin", &file, error)
        })
    }
    fn give_up(&mut self, error: &StoreError) {
        self.compaction = None;
        self.limit = self.len().saturating_add(self.options.limit(0));
        let cause = std::error::Error::source(error).map(ToString::to_string);
        tracing::warn!(store = %self.site.store, %error, cause, "no snapshot was made; the journal is kept and grows");
        drop(self.site.fs.remove(&self.site.path(Name::Unfinished(self.generation))));
    }
    fn io(&self, doing: &'static str, error: io::Error) -> StoreError {
        self.site.io(doing, &self.path(), error)
    }
    fn path(&self) -> PathBuf {
        self.site.path(Name::Journal(self.generation))
    }
}

enum Sync {
    Yes,
    No,
}

/// Writes a journal's header, over whatever an earlier try has left.
fn begin(site: &Site, out: &mut FrameWriter, generation: u64, sequence: u64) -> io::Result<()> {
    out.roll_back(Mark { len: 0, sequence })?;
    out.header(FileHeader::new(FileHeader::JOURNAL, generation, sequence));
    out.flush()?;
    site.fs.sync_folder(&site.folder)
}

/// Removes what a snapshot of this generation has made superfluous, and what was left of unfinished ones. What cannot be removed is tried again at the next start.
pub(super) fn remove_older(site: &Site, generation: u64) {
    for name in site.fs.list(&site.folder).unwrap_or_default() {
        let Some(kind) = names::parse(&name) else { continue };
        let stale = match kind {
            Name::Snapshot(of) | Name::Journal(of) => of < generation,
            Name::Unfinished(_) => true,
            Name::Lock => false,
        };
        if stale && let Err(error) = site.fs.remove(&site.path(kind)) {
            tracing::warn!(store = %site.store, file = name, %error, "an old file was not removed");
        }
    }
}

/// What is written of a snapshot at each commit, besides four times what the commit wrote.
const STEP_LEN: u64 = 1 << 16;
