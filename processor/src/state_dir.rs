//! The application's folder: one process at a time, its id, and a folder per task.
//!
//! ```text
//! <state.dir>/<application>/.lock        held while the process lives
//!                           process      the process id, and the highest number of lanes ever used
//!                           0_3/<store>  a task's stores
//! ```

use crate::StreamsError;
use millstream_processor_core::TaskId;
use millstream_protocol::PartitionId;
use millstream_state::fs::{Fs, FsLock};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The application's folder, locked.
#[derive(Debug)]
pub(crate) struct StateDir {
    fs: Arc<dyn Fs>,
    folder: PathBuf,
    process: ProcessFile,
    _lock: Box<dyn FsLock>,
}

/// What the process file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessFile {
    id: u128,
    lanes: u32,
}

impl StateDir {
    /// Makes or finds the folder, and locks it. `lanes` are used from now on; `seed` gives another random number each time, for a
    /// new process id.
    pub(crate) fn open(
        fs: Arc<dyn Fs>,
        root: Option<&Path>,
        application: &str,
        lanes: u32,
        seed: impl Fn() -> u64,
    ) -> Result<Self, StreamsError> {
        let root = root.map_or_else(default_root, |root| Ok(root.to_owned()))?;
        let folder = root.join(application);
        let operation = || format!("open the state folder {}", folder.display());
        if folder.starts_with(std::env::temp_dir()) {
            tracing::warn!(folder = %folder.display(), "state is kept in a folder for temporary files: a restart may find it gone");
        }
        fs.create_folder(&folder).map_err(|error| StreamsError::state(operation(), error))?;
        let lock = lock(&*fs, &folder)?;
        let process = ProcessFile::read_or_make(&*fs, &folder, lanes, seed);
        let process = process.map_err(|error| StreamsError::state(operation(), error))?;
        Ok(Self { fs, folder, process, _lock: lock })
    }

    /// This process, across restarts.
    pub(crate) const fn process_id(&self) -> u128 {
        self.process.id
    }

    /// How many lanes ever were used: the transactions of all of them must be ended.
    pub(crate) const fn lanes_ever(&self) -> u32 {
        self.process.lanes
    }

    /// The folder of a task.
    pub(crate) fn task(&self, task: TaskId) -> PathBuf {
        self.folder.join(task.to_string())
    }

    /// The tasks that have a folder here: their state is at most what was committed elsewhere meanwhile behind.
    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        let names = self.fs.folders(&self.folder).unwrap_or_default();
        names.iter().filter_map(|name| task_id(name)).collect()
    }
}

fn lock(fs: &dyn Fs, folder: &Path) -> Result<Box<dyn FsLock>, StreamsError> {
    let operation = || format!("lock the state folder {}", folder.display());
    let lock = fs.lock(&folder.join(".lock")).map_err(|error| StreamsError::state(operation(), error))?;
    let why = "another process of this application uses it; give each its own `state.dir`";
    lock.ok_or_else(|| StreamsError::state(operation(), why))
}

fn default_root() -> Result<PathBuf, StreamsError> {
    let of = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || of("HOME").map(|home| home.join(".local").join("state"));
    let root = of("XDG_STATE_HOME").or_else(home).or_else(|| of("LOCALAPPDATA"));
    let operation = "find the user's folder for state";
    root.map(|root| root.join("millstream"))
        .ok_or_else(|| StreamsError::state(operation, "HOME is not set; set the option `state.dir`"))
}

fn task_id(name: &str) -> Option<TaskId> {
    let (subtopology, partition) = name.split_once('_')?;
    Some(TaskId::new(subtopology.parse().ok()?, PartitionId::new(partition.parse().ok()?)))
}

impl ProcessFile {
    fn read_or_make(fs: &dyn Fs, folder: &Path, lanes: u32, seed: impl Fn() -> u64) -> io::Result<Self> {
        match text_of(fs, &folder.join(PROCESS)) {
            Ok(text) => {
                let damaged = || format!("the file `{PROCESS}` is damaged; delete it");
                let known = Self::parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, damaged()))?;
                if known.lanes >= lanes { Ok(known) } else { Self { lanes, ..known }.written(fs, folder) }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let id = u128::from(seed()) << 64 | u128::from(seed());
                Self { id, lanes }.written(fs, folder)
            }
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(' ').map(str::to_owned);
        Some(Self { id: u128::from_str_radix(&value("id")?, 16).ok()?, lanes: value("lanes")?.parse().ok()? })
    }

    /// Written aside and renamed, so that a crash leaves the old or the new one.
    fn written(self, fs: &dyn Fs, folder: &Path) -> io::Result<Self> {
        let aside = folder.join("process.new");
        let mut file = fs.append(&aside)?;
        file.truncate(0)?; // A crash may have left one.
        file.write(format!("id {:032x}\nlanes {}\n", self.id, self.lanes).as_bytes())?;
        file.sync()?;
        fs.rename(&aside, &folder.join(PROCESS))?;
        fs.sync_folder(folder).map(|()| self)
    }
}

fn text_of(fs: &dyn Fs, file: &Path) -> io::Result<String> {
    let (mut reader, _) = fs.read(file)?;
    let mut text = String::new();
    reader.read_to_string(&mut text).map(|_| text)
}

const PROCESS: &str = "process";

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_state::fs::DiskFs;
    use std::fs;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn seed() -> impl Fn() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        || NEXT.fetch_add(1, Ordering::Relaxed)
    }

    fn open(
        root: Option<&Path>,
        application: &str,
        lanes: u32,
        seed: impl Fn() -> u64,
    ) -> Result<StateDir, StreamsError> {
        StateDir::open(Arc::new(DiskFs), root, application, lanes, seed)
    }

    #[test]
    fn process_id_and_lanes_survive_a_restart() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let first = open(Some(root.path()), "app", 4, seed()).expect("it is free");
        let id = first.process_id();
        assert_eq!(first.lanes_ever(), 4);
        drop(first);
        let second = open(Some(root.path()), "app", 2, seed()).expect("it is free again");
        assert_eq!(second.process_id(), id);
        assert_eq!(second.lanes_ever(), 4, "fewer lanes now: the others' transactions are ended too");
        drop(second);
        drop(open(Some(root.path()), "app", 5, seed()).expect("it is free again"));
        let last = open(Some(root.path()), "app", 2, seed()).expect("it is free again");
        assert_eq!((last.process_id(), last.lanes_ever()), (id, 5));
    }

    #[test]
    fn second_process_is_told_that_the_folder_is_in_use() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let _first = open(Some(root.path()), "app", 2, seed()).expect("it is free");
        let error = open(Some(root.path()), "app", 2, seed()).expect_err("it is locked");
        let why = std::error::Error::source(&error).expect("it has a reason").to_string();
        assert!(error.to_string().starts_with("lock the state folder"), "{error}");
        assert!(why.contains("another process"), "{why}");
        assert!(open(Some(root.path()), "other", 2, seed()).is_ok());
    }

    #[test]
    fn tasks_with_a_folder_are_found() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let state = open(Some(root.path()), "app", 2, seed()).expect("it is free");
        for name in ["0_3", "12_0", "global", "1_x"] {
            fs::create_dir(state.folder.join(name)).expect("it can be made");
        }
        let mut tasks = state.tasks();
        tasks.sort();
        assert_eq!(tasks.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0_3", "12_0"]);
        assert_eq!(state.task(tasks[0]), root.path().join("app").join("0_3"));
    }

    #[test]
    fn damaged_process_file_says_what_to_do() {
        let root = tempfile::tempdir().expect("a folder for the test");
        fs::create_dir(root.path().join("app")).expect("it can be made");
        fs::write(root.path().join("app").join(PROCESS), "id zz\n").expect("it can be written");
        let error = open(Some(root.path()), "app", 2, seed()).expect_err("the file is damaged");
        assert_eq!(
            std::error::Error::source(&error).map(ToString::to_string).as_deref(),
            Some("the file `process` is damaged; delete it")
        );
    }
}
