//! The files of the operating system.

use super::{Fs, FsFile, FsLock};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

/// The files of the operating system.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct DiskFs;

impl Fs for DiskFs {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        Ok(names.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
    fn folders(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        Ok(names)
    }
    fn read(&self, file: &Path) -> io::Result<(Box<dyn Read + Send>, u64)> {
        let file = File::open(file)?;
        let len = file.metadata()?.len();
        Ok((Box::new(file), len))
    }
    fn append(&self, file: &Path) -> io::Result<Box<dyn FsFile>> {
        Ok(Box::new(DiskFile(OpenOptions::new().append(true).create(true).open(file)?)))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }
    fn remove(&self, file: &Path) -> io::Result<()> {
        std::fs::remove_file(file)
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and its entries are durable with the files.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
    fn lock(&self, file: &Path) -> io::Result<Option<Box<dyn FsLock>>> {
        let file = OpenOptions::new().append(true).create(true).open(file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(DiskLock(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct DiskFile(File);
impl FsFile for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// The system gives the lock free when the file is closed.
#[derive(Debug)]
struct DiskLock(#[expect(dead_code, reason = "held open")] File);
impl FsLock for DiskLock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_grows_is_cut_and_renamed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (a, b) = (folder.path().join("deep/a"), folder.path().join("deep/b"));
        DiskFs.create_folder(&folder.path().join("deep")).expect("a folder");
        let mut file = DiskFs.append(&a).expect("a file");
        file.write(b"one two").and_then(|()| file.truncate(3)).and_then(|()| file.write(b"!")).expect("written");
        file.sync()
            .and_then(|()| DiskFs.rename(&a, &b))
            .and_then(|()| DiskFs.sync_folder(folder.path()))
            .expect("renamed");
        let (mut reader, len) = DiskFs.read(&b).expect("there");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!((text.as_str(), len), ("one!", 4));
        assert_eq!(DiskFs.list(&folder.path().join("deep")).expect("listed"), ["b"]);
        DiskFs.remove(&b).expect("removed");
        assert_eq!(DiskFs.read(&b).map(drop).expect_err("gone").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_lock_is_held_by_one_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("lock");
        let first = DiskFs.lock(&file).expect("locks").expect("free");
        assert!(DiskFs.lock(&file).expect("asks").is_none());
        drop(first);
        assert!(DiskFs.lock(&file).expect("asks").is_some());
    }
}
