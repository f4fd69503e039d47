//! Replays what Kafka Streams did: every case of `testkit/vectors/golden` (or of `MILLSTREAM_GOLDEN_DIR`) whose topology uses only
//! what is built. The others are listed, each with what it waits for.

mod case;
mod not_built;
mod replay;
mod topologies;

use case::Case;
use std::path::{Path, PathBuf};

#[test]
fn every_case_that_can_be_built_does_what_kafka_streams_did() {
    let folder = std::env::var_os("MILLSTREAM_GOLDEN_DIR").map_or_else(vendored, PathBuf::from);
    let (mut passed, mut listed, mut problems) = (0, 0, Vec::new());
    for case in cases(&folder) {
        match (topologies::build(&case), not_built::reason(&case)) {
            (Some(setup), None) => match replay::replay(&case, setup) {
                Ok(()) => passed += 1,
                Err(problem) => problems.push(format!("{}: {problem}", case.name())),
            },
            (None, Some(_)) => listed += 1,
            (None, None) => problems.push(format!("{}: neither built nor listed as not built", case.name())),
            (Some(_), Some(_)) => problems.push(format!("{}: built, and listed as not built", case.name())),
        }
    }
    println!("{passed} cases pass, {listed} wait for what is not built");
    assert!(problems.is_empty(), "{} problems, {passed} passed:\n{}", problems.len(), problems.join("\n"));
    assert!(passed > 0, "no case was found in {}", folder.display());
}

fn vendored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden")
}
/// The cases of all areas, in order of their names. `vectors/` below the folder holds none.
fn cases(folder: &Path) -> Vec<Case> {
    let list = |folder: &Path| std::fs::read_dir(folder).expect("the folder of golden files is there");
    let areas = list(folder).map(|entry| entry.expect("readable").path());
    let areas = areas.filter(|area| area.is_dir() && area.file_name().is_some_and(|name| name != "vectors"));
    let files = areas.flat_map(|area| list(&area).map(|entry| entry.expect("readable").path()).collect::<Vec<_>>());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files.iter().flat_map(|file| Case::read(file)).collect()
}
