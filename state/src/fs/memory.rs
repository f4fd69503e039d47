//! Files in memory that fail on request, and lose what was not synced when the power goes.

use super::{Fs, FsFile, FsLock};
use crate::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files in memory, for tests of what stands on files. Cloning gives another handle to the same.
///
/// Operations that change something are counted, and any of them can be made to fail. What is written is kept apart from what is
/// durable, so that a power loss can be had.
///
/// ```
/// use millstream_state::fs::{Fs, MemoryFs};
/// use std::io::ErrorKind;
/// let fs = MemoryFs::new();
/// fs.fail_from(fs.operations() + 1, ErrorKind::StorageFull);
/// let mut file = fs.append("a".as_ref())?; // the next operation is fine
/// assert_eq!(file.write(b"text").unwrap_err().kind(), ErrorKind::StorageFull);
/// fs.heal();
/// file.write(b"text")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryFs(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    files: BTreeMap<PathBuf, Content>,
    durable_names: BTreeMap<PathBuf, Content>,
    locks: BTreeSet<PathBuf>,
    operations: u64,
    failure: Option<(u64, u64, ErrorKind)>,
}
type Content = Arc<Mutex<Bytes>>;
#[derive(Debug, Default)]
struct Bytes {
    written: Vec<u8>,
    durable: Vec<u8>,
}

impl MemoryFs {
    /// No files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// How many operations that change something were asked for until now.
    #[must_use]
    pub fn operations(&self) -> u64 {
        lock(&self.0).operations
    }
    /// Lets the operation of this number (the first is 0) fail. A write that fails leaves half of its bytes.
    pub fn fail_at(&self, operation: u64, kind: ErrorKind) {
        lock(&self.0).failure = Some((operation, operation, kind));
    }
    /// Lets all operations from this number on fail.
    pub fn fail_from(&self, operation: u64, kind: ErrorKind) {
        lock(&self.0).failure = Some((operation, u64::MAX, kind));
    }
    /// Ends all failures.
    pub fn heal(&self) {
        lock(&self.0).failure = None;
    }
    /// The power goes: what was not synced is lost, but for the first `kept` bytes of what each file had more.
    pub fn lose_power(&self, kept: usize) {
        let mut disk = lock(&self.0);
        disk.files = disk.durable_names.clone();
        for content in disk.files.values() {
            let mut bytes = lock(content);
            let len = bytes.durable.len().saturating_add(kept).min(bytes.written.len());
            let survives = if bytes.written.starts_with(&bytes.durable) {
                bytes.written[..len].to_vec()
            } else {
                bytes.durable.clone()
            };
            *bytes = Bytes { durable: survives.clone(), written: survives };
        }
        disk.locks.clear();
    }
    /// A file's bytes.
    #[must_use]
    pub fn contents(&self, file: &Path) -> Option<Vec<u8>> {
        lock(&self.0).files.get(file).map(|content| lock(content).written.clone())
    }
    /// Replaces a file's bytes, durably.
    pub fn set_contents(&self, file: &Path, bytes: Vec<u8>) {
        let content = Arc::new(Mutex::new(Bytes { durable: bytes.clone(), written: bytes }));
        let mut disk = lock(&self.0);
        disk.files.insert(file.to_owned(), Arc::clone(&content));
        disk.durable_names.insert(file.to_owned(), content);
    }
    /// The paths of all files.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        lock(&self.0).files.keys().cloned().collect()
    }
}

impl Disk {
    /// Counts an operation, and says whether it is to fail.
    fn count(&mut self) -> io::Result<()> {
        let number = self.operations;
        self.operations += 1;
        match self.failure {
            Some((from, to, kind)) if (from..=to).contains(&number) => Err(io::Error::new(kind, "the test says so")),
            _ => Ok(()),
        }
    }
}
fn missing(file: &Path) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("no file `{}`", file.display()))
}

impl Fs for MemoryFs {
    fn create_folder(&self, _folder: &Path) -> io::Result<()> {
        lock(&self.0).count()
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let disk = lock(&self.0);
        let within = disk.files.keys().filter(|file| file.parent() == Some(folder));
        Ok(within.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect())
    }
    fn folders(&self, folder: &Path) -> io::Result<Vec<String>> {
        let disk = lock(&self.0);
        let below =
            disk.files.keys().filter_map(|file| file.parent()?.strip_prefix(folder).ok()?.iter().next()?.to_str());
        Ok(below.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect())
    }
    fn read(&self, file: &Path) -> io::Result<(Box<dyn Read + Send>, u64)> {
        let bytes = self.contents(file).ok_or_else(|| missing(file))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok((Box::new(Cursor::new(bytes)), len))
    }
    fn append(&self, file: &Path) -> io::Result<Box<dyn FsFile>> {
        let mut disk = lock(&self.0);
        disk.count()?;
        let content = Arc::clone(disk.files.entry(file.to_owned()).or_default());
        Ok(Box::new(MemoryFile { disk: Arc::clone(&self.0), content }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = lock(&self.0);
        disk.count()?;
        let content = disk.files.remove(from).ok_or_else(|| missing(from))?;
        disk.files.insert(to.to_owned(), content);
        Ok(())
    }
    fn remove(&self, file: &Path) -> io::Result<()> {
        let mut disk = lock(&self.0);
        disk.count()?;
        disk.files.remove(file).map(drop).ok_or_else(|| missing(file))
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut disk = lock(&self.0);
        disk.count()?;
        let within = |file: &PathBuf| file.parent() == Some(folder);
        let now: Vec<_> =
            disk.files.iter().filter(|(file, _)| within(file)).map(|(a, b)| (a.clone(), Arc::clone(b))).collect();
        disk.durable_names.retain(|file, _| !within(file));
        disk.durable_names.extend(now);
        Ok(())
    }
    fn lock(&self, file: &Path) -> io::Result<Option<Box<dyn FsLock>>> {
        let mut disk = lock(&self.0);
        disk.count()?;
        let free = disk.locks.insert(file.to_owned());
        Ok(free.then(|| Box::new(MemoryLock { disk: Arc::clone(&self.0), file: file.to_owned() }) as Box<dyn FsLock>))
    }
}

#[derive(Debug)]
struct MemoryFile {
    disk: Arc<Mutex<Disk>>,
    content: Content,
}
impl FsFile for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let allowed = lock(&self.disk).count();
        let some = if allowed.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        lock(&self.content).written.extend_from_slice(some);
        allowed
    }
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        lock(&self.disk).count()?;
        lock(&self.content).written.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }
    fn sync(&mut self) -> io::Result<()> {
        lock(&self.disk).count()?;
        let mut content = lock(&self.content);
        content.durable = content.written.clone();
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryLock {
    disk: Arc<Mutex<Disk>>,
    file: PathBuf,
}
impl FsLock for MemoryLock {}
impl Drop for MemoryLock {
    fn drop(&mut self) {
        lock(&self.disk).locks.remove(&self.file);
    }
}
