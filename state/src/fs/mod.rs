//! Files, as the journal sees them: a seam, so that tests can fail any operation and lose what was not synced.

mod disk;
mod memory;

pub use disk::DiskFs;
pub use memory::MemoryFs;

use std::fmt::Debug;
use std::io::{self, Read};
use std::path::Path;

/// Files in folders. Every path is of one file system; nothing here follows a working directory.
pub trait Fs: Debug + Send + Sync {
    /// Makes a folder and those above it. One that exists is no error.
    ///
    /// # Errors
    /// As the system says.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// The names of the files in a folder.
    ///
    /// # Errors
    /// As the system says.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// The names of the folders in a folder.
    ///
    /// # Errors
    /// As the system says.
    fn folders(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Opens a file to read it from its start, and gives its length in bytes.
    ///
    /// # Errors
    /// As the system says; `NotFound` if there is none.
    fn read(&self, file: &Path) -> io::Result<(Box<dyn Read + Send>, u64)>;
    /// Opens a file to append to it; one that is not there is made.
    ///
    /// # Errors
    /// As the system says.
    fn append(&self, file: &Path) -> io::Result<Box<dyn FsFile>>;
    /// Renames a file, in one step; one of the new name is replaced.
    ///
    /// # Errors
    /// As the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// As the system says.
    fn remove(&self, file: &Path) -> io::Result<()>;
    /// Makes what was created, renamed and removed in a folder survive a power loss.
    ///
    /// # Errors
    /// As the system says.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Locks a file, which is made if need be, until the lock is dropped or the process ends. None if another holds it.
    ///
    /// # Errors
    /// As the system says.
    fn lock(&self, file: &Path) -> io::Result<Option<Box<dyn FsLock>>>;
}

/// A file that grows.
pub trait FsFile: Debug + Send {
    /// Appends all of `bytes`. After an error, some of them may be there.
    ///
    /// # Errors
    /// As the system says.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to a length.
    ///
    /// # Errors
    /// As the system says.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
    /// Makes what was written survive a power loss.
    ///
    /// # Errors
    /// As the system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// A lock on a file: dropping it gives the file free.
pub trait FsLock: Debug + Send + Sync {}
