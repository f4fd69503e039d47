//! The application's processes. Each ends with its standard input, and so with the demo.

use super::setting::Setting;
use crate::failure::Failure;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

#[derive(Debug)]
pub(super) struct Processes(Vec<Child>);

impl Processes {
    pub(super) fn start(setting: &Setting, count: usize) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::new("find this program's own file", error))?;
        let start = |number: usize| {
            Command::new(&program)
                .arg("demo-app")
                .arg("--state-dir")
                .arg(setting.state_of(number))
                .args(setting.connection().arguments())
                .stdin(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
        };
        let started: Result<Vec<_>, _> = (1..=count).map(start).collect();
        Ok(Self(started.map_err(|error| Failure::new("start a process of the demo's application", error))?))
    }

    /// Waits until one of them has ended, which none should do by itself.
    pub(super) async fn first_exit(&mut self) -> Failure {
        loop {
            for (number, process) in self.0.iter_mut().enumerate() {
                if let Ok(Some(status)) = process.try_wait() {
                    return Failure::because(format!(
                        "process {} of the application ended by itself: {status}",
                        number + 1
                    ));
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Ends them in order.
    pub(super) async fn close(mut self) -> Result<(), Failure> {
        for process in &mut self.0 {
            drop(process.stdin.take());
        }
        for (number, process) in self.0.iter_mut().enumerate() {
            let ended = timeout(Duration::from_secs(40), process.wait()).await;
            match ended.map(Result::ok) {
                Ok(Some(status)) if ExitStatus::success(&status) => {}
                Ok(status) => {
                    let status = status.map_or_else(|| "no status".to_owned(), |status| status.to_string());
                    return Err(Failure::because(format!(
                        "process {} of the application failed: {status}",
                        number + 1
                    )));
                }
                Err(_) => {
                    return Err(Failure::because(format!("process {} of the application does not end", number + 1)));
                }
            }
        }
        Ok(())
    }
}
