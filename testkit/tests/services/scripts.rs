//! The scripts in `foreign/`.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}
/// Has a program run a script, which prints `ok` as its last line.
pub(crate) fn run(program: &mut Command, name: &str, about: &str) {
    let output = program.arg(path(name)).arg(about).output().expect("the program is installed");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let is_ok = output.status.success() && out.trim_end().ends_with("ok");
    assert!(is_ok, "{name} ended with {}:\n{out}\n{err}", output.status);
}
/// What a command prints.
pub(crate) fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the program is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
/// What was printed on our cluster is what was printed on a real Kafka, line by line.
pub(crate) fn assert_same_lines(ours: &str, real: &str) {
    for (line, (real, ours)) in real.lines().zip(ours.lines()).enumerate() {
        assert_eq!(ours, real, "in line {}", line + 1);
    }
    assert_eq!(ours.lines().count(), real.lines().count());
}
