//! A real Kafka that ends with the test.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct RealKafka {
    pub(crate) launcher: PathBuf,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) bootstrap: String,
}
impl RealKafka {
    /// Starts one at any free port, with these options of the launcher besides.
    pub(crate) fn up(options: &[&str]) -> Self {
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("kafka/kafka");
        let dir = tempfile::tempdir().expect("a directory for Kafka");
        let mut command = Command::new(&launcher);
        command.args(["up", "--dir"]).arg(dir.path()).args(["--port", "0"]).args(options);
        let output = command.output().expect("the launcher runs");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let bootstrap = out.lines().find_map(|line| line.strip_prefix("bootstrap="));
        let bootstrap = bootstrap.unwrap_or_else(|| panic!("Kafka does not start: {out}")).to_owned();
        Self { launcher, dir, bootstrap }
    }
}
impl Drop for RealKafka {
    fn drop(&mut self) {
        let ended = Command::new(&self.launcher).args(["down", "--dir"]).arg(self.dir.path()).output();
        if let Err(error) = ended {
            eprintln!("the Kafka in {} was not ended: {error}", self.dir.path().display());
        }
    }
}
