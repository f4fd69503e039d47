//! The log of a process that serves: lines for standard error that never hold up whoever writes them.
//!
//! A process that was started with a pipe for standard error, which nobody reads, stands still at the first line that finds the pipe full.
//! So lines wait in a bounded queue for a thread of their own; those that find no place in it are counted, and told of.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many lines wait at a time.
const WAITING: usize = 1024;
/// How long the end of the process waits for lines that nobody may ever read.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// The log of a process on standard error. Dropping it waits a second at most for what is not written yet.
#[derive(Debug)]
pub struct StderrLog(LogLines);

impl StderrLog {
    /// Starts the thread that writes; panics of all threads are told by it from here on, too.
    ///
    /// # Errors
    ///
    /// When the system has no thread left.
    pub fn start() -> io::Result<Self> {
        let lines = LogLines::to(io::stderr())?;
        let of_panics = lines.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let trace = std::backtrace::Backtrace::capture();
            of_panics.push(format!("{panic}\n{trace}\n").into_bytes());
        }));
        Ok(Self(lines))
    }
    /// Where a subscriber writes its lines.
    #[must_use]
    pub fn lines(&self) -> LogLines {
        self.0.clone()
    }
}
impl Drop for StderrLog {
    fn drop(&mut self) {
        self.0.wait_until_written(LAST_WORDS_WITHIN);
    }
}

/// Takes lines, one a write, and never waits.
#[derive(Debug, Clone)]
pub struct LogLines(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}
#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Entry>,
    is_writing: bool,
}
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Line(Vec<u8>),
    /// So many lines found no place here.
    Lost(u64),
}

impl LogLines {
    fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let lines = Self(Arc::default());
        let queue = Arc::clone(&lines.0);
        // It ends with the process: it may wait for a reader that never comes.
        std::thread::Builder::new().name("millstream-log".to_owned()).spawn(move || queue.write_all(out))?;
        Ok(lines)
    }
    fn push(&self, line: Vec<u8>) {
        self.0.lock().push(line);
        self.0.changed.notify_all();
    }
    fn wait_until_written(&self, within: Duration) {
        let is_busy = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        // Poisoned or too late: there is nobody to tell.
        let _waited = self.0.changed.wait_timeout_while(self.0.lock(), within, is_busy);
    }
}
impl Write for LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line.to_vec());
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn write_all(&self, mut out: impl Write) {
        loop {
            let text = self.next().text();
            // Standard error is closed: there is nobody to tell.
            let _ = out.write_all(&text);
        }
    }
    /// Waits for the next entry. What was taken before has been written.
    fn next(&self) -> Entry {
        let mut state = self.lock();
        loop {
            if let Some(entry) = state.waiting.pop_front() {
                state.is_writing = true;
                return entry;
            }
            state.is_writing = false;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
impl State {
    fn push(&mut self, line: Vec<u8>) {
        let places = WAITING.saturating_sub(self.waiting.len());
        match (places, self.waiting.back_mut()) {
            (2.., _) => self.waiting.push_back(Entry::Line(line)),
            // The last place says how many found none.
            (_, Some(Entry::Lost(count))) => *count += 1,
            _ => self.waiting.push_back(Entry::Lost(1)),
        }
    }
}
impl Entry {
    fn text(self) -> Vec<u8> {
        match self {
            Self::Line(line) => line,
            Self::Lost(count) => {
                format!("{count} lines of the log are lost: nobody read standard error\n").into_bytes()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Takes a piece when it is told to, and shows it.
    struct Slow {
        turns: mpsc::Receiver<()>,
        written: mpsc::Sender<String>,
    }
    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Whoever tells is gone: nothing is read any more.
            self.turns.recv().map_err(io::Error::other)?;
            self.written.send(String::from_utf8_lossy(bytes).into_owned()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_nobody_reads_are_counted_and_hold_nobody_up() {
        let ((turn, turns), (written, shown)) = (mpsc::channel(), mpsc::channel());
        let mut lines = LogLines::to(Slow { turns, written }).expect("a thread");
        lines.write_all(b"0\n").expect("it takes lines");
        // The first is in the writer's hands; the queue is empty.
        while !lines.0.lock().is_writing {
            std::thread::yield_now();
        }
        (1..2000).for_each(|number| lines.write_all(format!("{number}\n").as_bytes()).expect("it takes lines"));
        assert_eq!(lines.0.lock().waiting.len(), WAITING);
        (0..=WAITING).for_each(|_| turn.send(()).expect("it waits"));
        let all: Vec<String> = (0..=WAITING).map(|_| shown.recv().expect("it writes")).collect();
        let kept = all[..WAITING].iter().enumerate();
        assert!(kept.into_iter().all(|(at, line)| *line == format!("{at}\n")));
        let lost = 2000 - WAITING;
        assert_eq!(all[WAITING], format!("{lost} lines of the log are lost: nobody read standard error\n"));
        lines.write_all(b"again\n").expect("it takes lines");
        turn.send(()).expect("it waits");
        assert_eq!(shown.recv().expect("it writes"), "again\n");
        lines.wait_until_written(Duration::from_secs(60));
        assert!(!lines.0.lock().is_writing);
    }
}
