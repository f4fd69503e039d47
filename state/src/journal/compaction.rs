//! Writing a snapshot, a step at each commit, so that no commit waits for all of it.

use super::Site;
use super::body;
use super::frame::{FileHeader, FrameWriter, Kind, Mark};
use super::log::remove_older;
use super::names::Name;
use crate::Entry;
use crate::engine::{Applied, Prepared, StoreError, WriteBatch};
use crate::resident::Resident;
use std::fmt;
use std::io;
use std::sync::Arc;

/// A snapshot that is being written: of the entries as they were when its journal began.
pub(super) struct Compaction {
    generation: u64,
    out: FrameWriter,
    entries: Box<dyn Iterator<Item = Entry> + Send>,
    count: u64,
    applied: Option<Applied>,
    prepared: Vec<(Prepared, Arc<WriteBatch>)>,
}

impl Compaction {
    pub(super) fn begin(site: &Site, generation: u64, sequence: u64, resident: &Resident) -> Result<Self, StoreError> {
        let file = site.path(Name::Unfinished(generation));
        let begun = site.fs.append(&file).and_then(|appended| {
            let mut out = FrameWriter::new(appended, 0, sequence);
            out.roll_back(Mark { len: 0, sequence })?;
            out.header(FileHeader::new(FileHeader::SNAPSHOT, generation, sequence));
            Ok(out)
        });
        let out = begun.map_err(|error| site.io("begin", &file, error))?;
        let (applied, prepared) = (resident.applied(), resident.prepared_batches());
        Ok(Self { generation, out, entries: Box::new(resident.entries()), count: 0, applied, prepared })
    }
    /// Writes about this many bytes more. When the snapshot is in place, gives its length in bytes.
    pub(super) fn step(&mut self, site: &Site, budget: u64) -> Result<Option<u64>, StoreError> {
        let file = site.path(Name::Unfinished(self.generation));
        let done = self.write(budget).map_err(|error| site.io("write", &file, error))?;
        if !done {
            return Ok(None);
        }
        let target = site.path(Name::Snapshot(self.generation));
        let placed = site.fs.rename(&file, &target).and_then(|()| site.fs.sync_folder(&site.folder));
        placed.map_err(|error| site.io("put in place", &target, error))?;
        remove_older(site, self.generation);
        Ok(Some(self.out.mark().len))
    }

    fn write(&mut self, budget: u64) -> io::Result<bool> {
        let mut written = 0_u64;
        while written < budget {
            let Some(len) = self.write_frame()? else {
                self.finish()?;
                return Ok(true);
            };
            written += len;
        }
        self.out.flush()?;
        Ok(false)
    }
    /// Writes one frame of entries, and gives its length; none when there are no more.
    fn write_frame(&mut self) -> io::Result<Option<u64>> {
        let Some(mut next) = self.entries.next() else { return Ok(None) };
        let mut len = 0;
        self.out.frame(Kind::Writes, |out| {
            let start = out.len();
            loop {
                body::put_write(out, &next.0, Some(&next.1));
                self.count += 1;
                len = out.len() - start;
                if len >= body::FRAME_LEN {
                    break;
                }
                let Some(more) = self.entries.next() else { break };
                next = more;
            }
        })?;
        Ok(Some(u64::try_from(len).unwrap_or(u64::MAX)))
    }
    fn finish(&mut self) -> io::Result<()> {
        body::base(&mut self.out, self.applied.as_ref(), self.count)?;
        for (prepared, batch) in &self.prepared {
            body::prepare(&mut self.out, prepared.commit, &prepared.position, batch)?;
        }
        self.out.frame(Kind::End, |_| {})?;
        self.out.flush()?;
        self.out.sync()
    }
}
impl fmt::Debug for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compaction")
            .field("generation", &self.generation)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}
