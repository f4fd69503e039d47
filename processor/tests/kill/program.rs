//! The program `millstream-sums`, running: what it has said, and signals to it.

use crate::cases::Stop;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The program, running. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    output: Receiver<String>,
    lines: Vec<String>,
}

impl Program {
    /// Starts it with these arguments.
    pub(crate) fn start(arguments: &[String], stop: Option<Stop>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream-sums"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("MILLSTREAM_STOP_AT").env_remove("MILLSTREAM_STOP_HOW");
        match stop {
            Some(Stop::Kill(point)) => {
                command.env("MILLSTREAM_STOP_AT", point.name).env("MILLSTREAM_STOP_HOW", "kill");
            }
            Some(Stop::Pause(point)) => {
                command.env("MILLSTREAM_STOP_AT", point.name);
            }
            None => {}
        }
        let mut child = command.spawn().expect("the program is built");
        let (tell, output) = channel();
        listen(child.stdout.take().expect("it is piped"), tell.clone());
        listen(child.stderr.take().expect("it is piped"), tell);
        Self { child, output, lines: Vec::new() }
    }

    /// Whether it has ended; all that it has said is known then.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.try_wait().expect("it is our child").is_some();
        if ended {
            // Its last lines may still be in the pipes, which its end has closed.
            self.lines.extend(self.output.iter());
        }
        ended
    }

    /// Lets it close: commits, leaves the group.
    pub(crate) fn ask_to_close(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Whether it has ended without an error.
    pub(crate) fn has_closed_well(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some_and(|status| status.success())
    }

    /// Every line so far, of its output and its log.
    pub(crate) fn lines(&mut self) -> &[String] {
        self.lines.extend(self.output.try_iter());
        &self.lines
    }

    /// How many of its lines have this in them.
    pub(crate) fn count(&mut self, part: &str) -> usize {
        self.lines().iter().filter(|line| line.contains(part)).count()
    }

    pub(crate) fn has_said(&mut self, part: &str) -> bool {
        self.count(part) > 0
    }

    /// The last sum of each key that its stores had at a punctuation.
    pub(crate) fn sums(&mut self) -> BTreeMap<String, i64> {
        let sum = |line: &String| {
            let (key, sum) = line.strip_prefix("sum ")?.split_once(' ')?;
            Some((key.to_owned(), sum.parse().ok()?))
        };
        self.lines().iter().filter_map(sum).collect()
    }

    /// How many changelog records it has read, by the last time that it said so.
    pub(crate) fn restored(&mut self) -> Option<u64> {
        let restored = |line: &String| line.strip_prefix("restored ")?.parse().ok();
        self.lines().iter().rev().find_map(restored)
    }

    /// Whether it is stopped, by SIGSTOP.
    pub(crate) fn is_paused(&mut self) -> bool {
        let pid = self.child.id().to_string();
        let state = Command::new("ps").args(["-o", "stat=", "-p", &pid]).output().expect("there is ps");
        state.stdout.starts_with(b"T")
    }

    /// Lets a paused one go on.
    pub(crate) fn resume(&self) {
        let resumed = Command::new("kill").args(["-CONT", &self.child.id().to_string()]).status();
        assert!(resumed.expect("there is kill").success());
    }
}

/// Tells every line of a pipe, until it is closed.
fn listen(pipe: impl Read + Send + 'static, tell: Sender<String>) {
    let lines = BufReader::new(pipe).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.into_iter().try_for_each(|line| tell.send(line)));
}

impl Drop for Program {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let all = self.lines().join("\n  ");
            eprintln!("process {} said:\n  {all}", self.child.id());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
