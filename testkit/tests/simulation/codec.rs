//! K-18 by a codec that is not ours: kio, which is generated from Kafka's own schemas.

use millstream_protocol::ApiKey;
use millstream_testkit::checkers::{Frame, FrameKind};
use millstream_testkit::simulation::workload::{Case, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const WORKLOADS: [Workload; 5] =
    [Workload::Producing, Workload::Copying, Workload::Grouping, Workload::Counting, Workload::Exchanging];
/// Of frames that differ in nothing but their times and numbers there are thousands.
const MOST_OF_A_KIND: usize = 400;

/// What the script is told of a frame; none of what is no frame on purpose.
fn line(frame: &Frame) -> Option<String> {
    let direction = match frame.kind {
        FrameKind::Request => "request",
        FrameKind::Response if !frame.payload.is_empty() => "response",
        _ => return None,
    };
    let mut line = format!("{}\t{}\t{direction}\t", frame.api.get(), frame.version);
    frame.payload.iter().for_each(|byte| write!(line, "{byte:02x}").expect("text"));
    Some(line)
}

#[test]
#[ignore = "needs python3 with kio"]
fn kio_reads_every_frame_of_a_run_and_writes_it_as_it_was() {
    let mut lines = Vec::new();
    let mut kinds: BTreeMap<(ApiKey, i16), usize> = BTreeMap::new();
    for workload in WORKLOADS {
        let report = Case::new(workload, 1).lasting(Duration::from_secs(40)).run();
        assert!(report.is_good(), "{report}");
        for frame in report.history.frames() {
            let seen = kinds.entry((frame.api, frame.version)).or_default();
            *seen += 1;
            lines.extend(line(frame).filter(|_| *seen <= MOST_OF_A_KIND));
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/simulation/kio_codec.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut input = python.stdin.take().expect("piped");
    let told = std::thread::scope(|scope| {
        scope.spawn(|| lines.iter().try_for_each(|line| writeln!(input, "{line}")).map(|()| drop(input)));
        python.wait_with_output().expect("it ends")
    });
    // kio's schemas end before the newest version of one API, which Kafka's own classes judge in `protocol`.
    let unknown = lines.iter().filter(|line| line.starts_with("18\t5\t")).count();
    let text = String::from_utf8_lossy(&told.stdout);
    assert_eq!(text.trim_end(), format!("ok {}, without 18 v5", lines.len() - unknown));
    let apis: BTreeSet<ApiKey> = kinds.keys().map(|(api, _)| *api).collect();
    println!("{} frames of {} APIs: {apis:?}", lines.len(), apis.len());
}
