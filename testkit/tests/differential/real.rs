//! A real Kafka that ends with the test.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct RealKafka {
    launcher: PathBuf,
    dir: tempfile::TempDir,
    pub(crate) bootstrap: String,
}
impl RealKafka {
    pub(crate) fn up() -> Self {
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("kafka/kafka");
        let dir = tempfile::tempdir().expect("a directory for Kafka");
        let output = Command::new(&launcher).args(["up", "--dir"]).arg(dir.path()).args(["--port", "0"]).output();
        let output = output.expect("the launcher runs");
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
