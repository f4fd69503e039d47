//! A real Kafka that ends with the test.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct RealKafka {
    pub(crate) launcher: PathBuf,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) bootstrap: String,
}
impl RealKafka {
    /// Starts one at any free port, with these options of the launcher besides; once more if it does not come up, since a port that was free
    /// may be taken by the time that Kafka is there.
    pub(crate) fn up(options: &[&str]) -> Self {
        Self::start(options).unwrap_or_else(|first| {
            eprintln!("Kafka does not start, and is started once more: {first}");
            Self::start(options).unwrap_or_else(|again| panic!("Kafka does not start: {again}"))
        })
    }
    fn start(options: &[&str]) -> Result<Self, String> {
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("kafka/kafka");
        let dir = tempfile::tempdir().expect("a directory for Kafka");
        let mut command = Command::new(&launcher);
        command.args(["up", "--dir"]).arg(dir.path()).args(["--port", "0"]).args(options);
        let output = command.output().expect("the launcher runs");
        let out = String::from_utf8_lossy(&output.stdout);
        let bootstrap = out.lines().find_map(|line| line.strip_prefix("bootstrap="));
        let bootstrap = bootstrap.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?.to_owned();
        Ok(Self { launcher, dir, bootstrap })
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
