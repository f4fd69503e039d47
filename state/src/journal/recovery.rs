//! Opening a folder: the newest snapshot, then the journals from there on.

use super::Site;
use super::body::{self, Body};
use super::frame::{Bad, FileHeader, FrameReader, Kind, Mark, Next};
use super::names::{self, Name};
use crate::engine::{StoreError, WriteBatch};
use crate::resident::Resident;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a folder holds.
pub(super) struct Recovered {
    pub(super) resident: Resident,
    /// The journal to go on with, and where it ends in what is whole.
    pub(super) generation: u64,
    pub(super) end: Mark,
    /// The snapshot that was read, and its length in bytes.
    pub(super) first: u64,
    pub(super) snapshot_len: u64,
}

/// Reads all of a folder.
pub(super) fn recover(site: &Site) -> Result<Recovered, StoreError> {
    let names = site.fs.list(&site.folder).map_err(|error| site.io("list", &site.folder, error))?;
    let names: Vec<Name> = names.iter().filter_map(|name| names::parse(name)).collect();
    let snapshots = names.iter().filter_map(|name| if let Name::Snapshot(of) = name { Some(*of) } else { None });
    let journals = names.iter().filter_map(|name| if let Name::Journal(of) = name { Some(*of) } else { None });
    let snapshot = snapshots.max();
    let first = snapshot.unwrap_or(0);
    let mut last = journals.max().unwrap_or(0);
    // A journal without a frame may be one that could not be begun, nor be removed: then the one before it was continued.
    while last > first && !has_frames(site, last)? {
        last -= 1;
    }
    let mut replay = Replay { resident: Resident::new(site.store.clone()), open: WriteBatch::default(), sequence: 0 };
    let snapshot_len = match snapshot {
        Some(generation) => replay.snapshot(site, generation)?,
        None => 0,
    };
    if snapshot.is_some() && last < first {
        return Err(missing(site, first));
    }
    let mut end = Mark { len: 0, sequence: replay.sequence };
    for generation in first..=last {
        end = replay.journal(site, generation, generation == last)?;
    }
    Ok(Recovered { resident: replay.resident, generation: last, end, first, snapshot_len })
}

struct Replay {
    resident: Resident,
    /// Writes that no frame has said the meaning of yet.
    open: WriteBatch,
    sequence: u64,
}

impl Replay {
    /// Reads a snapshot, and gives its length in bytes.
    fn snapshot(&mut self, site: &Site, generation: u64) -> Result<u64, StoreError> {
        let path = site.path(Name::Snapshot(generation));
        let (mut reader, header) = open(site, &path)?;
        let header = header.ok_or_else(|| site.corrupt(&path, 0, "the file ends within its header"))?;
        check(site, &path, &header, FileHeader::new(FileHeader::SNAPSHOT, generation, header.sequence))?;
        let mut count = 0;
        let mut based = false;
        loop {
            let at = reader.offset();
            match reader.next() {
                Ok(Next::Frame(Kind::End, [])) if based => break,
                Ok(Next::Frame(Kind::Writes, frame)) if !based => {
                    let resident = &self.resident;
                    let read = body::writes(frame, |write| resident.load(&write));
                    count += read.ok_or_else(|| site.corrupt(&path, at, "writes that cannot be read"))?;
                }
                Ok(Next::Frame(Kind::Base, frame)) if !based => {
                    let mut body = Body(frame);
                    let base = body.count().zip(body.applied()).filter(|(said, _)| *said == count);
                    let (_, applied) = base.ok_or_else(|| site.corrupt(&path, at, "not as many entries as it says"))?;
                    self.resident.set_applied(applied);
                    based = true;
                }
                Ok(Next::Frame(kind @ (Kind::Writes | Kind::Prepared), frame)) if based => {
                    self.frame(kind, frame).ok_or_else(|| site.corrupt(&path, at, "a frame that cannot be read"))?;
                }
                Ok(Next::Frame(..)) => return Err(site.corrupt(&path, at, "a frame that has no place here")),
                Ok(Next::End | Next::Torn) => {
                    return Err(site.corrupt(&path, at, "the file ends before its end frame"));
                }
                Err(bad) => return Err(site.bad(&path, at, bad)),
            }
        }
        self.sequence = header.sequence;
        Ok(reader.offset())
    }

    /// Reads a journal, and gives where it ends. Only the last may end within a frame.
    fn journal(&mut self, site: &Site, generation: u64, is_last: bool) -> Result<Mark, StoreError> {
        let path = site.path(Name::Journal(generation));
        let nothing = Mark { len: 0, sequence: self.sequence };
        let (mut reader, header) = match open(site, &path) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return if generation == 0 && is_last { Ok(nothing) } else { Err(missing(site, generation)) };
            }
            opened => opened?,
        };
        let Some(header) = header else {
            return if is_last { Ok(nothing) } else { Err(site.corrupt(&path, 0, "the file ends within its header")) };
        };
        check(site, &path, &header, FileHeader::new(FileHeader::JOURNAL, generation, self.sequence))?;
        let mut whole = Mark { len: reader.offset(), sequence: reader.sequence() };
        loop {
            let at = reader.offset();
            match reader.next() {
                Ok(Next::Frame(kind, frame)) => {
                    self.frame(kind, frame).ok_or_else(|| site.corrupt(&path, at, "a frame that cannot be read"))?;
                    if kind != Kind::Writes {
                        whole = Mark { len: reader.offset(), sequence: reader.sequence() };
                    }
                }
                Ok(Next::Torn) if !is_last => return Err(site.corrupt(&path, at, "the file ends within a frame")),
                Ok(Next::Torn | Next::End) => break,
                Err(bad) => return Err(site.bad(&path, at, bad)),
            }
        }
        // Writes without the frame that says what they are: their writer was stopped.
        self.open = WriteBatch::default();
        self.sequence = whole.sequence;
        Ok(whole)
    }

    /// Does again what a frame says; none if it makes no sense.
    fn frame(&mut self, kind: Kind, frame: &[u8]) -> Option<()> {
        let mut body = Body(frame);
        match kind {
            Kind::Writes => {
                let open = &mut self.open;
                return body::writes(frame, |write| open.push(write)).map(drop);
            }
            Kind::Prepared => {
                let (commit, position) = (body.commit()?, body.position()?);
                let batch = Arc::new(self.take_open(body.count()?)?);
                self.resident.prepare(commit, &batch, &position).ok()?;
            }
            Kind::Applied => self.resident.apply(body.commit()?).ok()?,
            Kind::Discarded => self.resident.discard(body.commit()?),
            Kind::Restored => {
                let position = body.position()?;
                let batch = self.take_open(body.count()?)?;
                self.resident.restore(&batch, &position);
            }
            Kind::Adopted => self.resident.adopt(body.commit()?, &body.position()?),
            Kind::Cleared => self.resident.clear(),
            Kind::Base | Kind::End => return None,
        }
        body.end()?;
        self.open.is_empty().then_some(())
    }
    fn take_open(&mut self, count: u64) -> Option<WriteBatch> {
        let batch = std::mem::take(&mut self.open);
        (u64::try_from(batch.len()) == Ok(count)).then_some(batch)
    }
}

fn open(site: &Site, path: &Path) -> Result<(FrameReader, Option<FileHeader>), StoreError> {
    let (file, len) = site.fs.read(path).map_err(|error| site.io("read", path, error))?;
    let mut reader = FrameReader::new(file, len);
    let header = reader.header().map_err(|bad| site.bad(path, 0, bad))?;
    Ok((reader, header))
}
fn has_frames(site: &Site, generation: u64) -> Result<bool, StoreError> {
    match open(site, &site.path(Name::Journal(generation))) {
        Ok((_, None)) => Ok(false),
        Ok((mut reader, Some(_))) => Ok(!matches!(reader.next(), Ok(Next::End | Next::Torn))),
        Err(error @ StoreError::Io { .. }) => Err(error),
        // Reading the journals in order says more.
        Err(_) => Ok(true),
    }
}
fn check(site: &Site, path: &Path, found: &FileHeader, expected: FileHeader) -> Result<(), StoreError> {
    if found.magic == expected.magic && found.version != expected.version {
        let (found, supported) = (found.version, expected.version);
        return Err(StoreError::Version { store: site.store.clone(), file: path.to_owned(), found, supported });
    }
    if *found == expected {
        return Ok(());
    }
    let problem = format!(
        "it is generation {} from frame {}, where generation {} from frame {} is expected",
        found.generation, found.sequence, expected.generation, expected.sequence
    );
    Err(site.corrupt(path, 0, problem))
}
fn missing(site: &Site, generation: u64) -> StoreError {
    let path: PathBuf = site.path(Name::Journal(generation));
    site.corrupt(&path, 0, "the file is missing")
}

impl Site {
    fn bad(&self, path: &Path, offset: u64, bad: Bad) -> StoreError {
        match bad {
            Bad::Io(error) => self.io("read", path, error),
            Bad::Corrupt(problem) => self.corrupt(path, offset, problem),
        }
    }
    fn corrupt(&self, path: &Path, offset: u64, problem: impl Into<String>) -> StoreError {
        StoreError::Corrupt { store: self.store.clone(), file: path.to_owned(), offset, problem: problem.into() }
    }
}
