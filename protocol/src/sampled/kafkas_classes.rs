//! A second opinion: Kafka's own classes read what this crate writes, write it again, and make the same bytes of the same
//! JSON.

use super::sample::{Chance, Manner, body};
use super::{Subject, seed, subjects};
use crate::ApiKey;
use crate::frame::{self, Direction};
use crate::picture::Picture;
use bytes::Bytes;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};

/// Messages of each API, version and direction.
const ROUNDS: usize = 12;

/// A message of this crate's making, as it writes it.
struct Sent {
    subject: Subject,
    bytes: Bytes,
    /// None where Kafka's converter does not have all that the bytes have.
    json: Option<String>,
}

fn sent(subject: Subject, round: usize, chance: &mut Chance) -> Sent {
    let Subject { api, version, direction, shape } = subject;
    // Unknown tagged fields are in no JSON.
    let unknown_tags = round % 3 == 2;
    let sample = body(shape, version, Manner::Varied { unknown_tags }, chance);
    let message = frame::decode_body(api, version, direction, sample).expect("a message");
    let bytes = frame::encode_body(version, &message).expect("it was read");
    let picture = match direction {
        Direction::Request => Picture::of_request(api, version, &bytes),
        Direction::Response => Picture::of_response(api, version, &bytes),
    };
    // Of a snapshot's records Kafka's converter writes nothing.
    let has_json = !unknown_tags && (api, direction) != (ApiKey::FETCH_SNAPSHOT, Direction::Response);
    let json = has_json.then(|| picture.expect("Kafka has it").whole().json().expect("it was read"));
    Sent { subject, bytes, json }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text");
        text
    })
}

/// `MILLSTREAM_KAFKA_JARS` names the folder of Kafka 4.4.0's jars.
#[test]
#[ignore = "needs Java and Kafka's jars"]
fn kafkas_classes_read_and_write_what_this_crate_writes() {
    let mut chance = Chance::new(seed());
    let all: Vec<_> = subjects()
        .flat_map(|subject| (0..ROUNDS).map(move |round| (subject, round)))
        .map(|(subject, round)| sent(subject, round, &mut chance))
        .collect();
    let jars = std::env::var("MILLSTREAM_KAFKA_JARS").expect("MILLSTREAM_KAFKA_JARS names the jars");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/SecondOpinion.java");
    let mut java = Command::new("java")
        .args(["-cp", &format!("{jars}/*"), program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("java is there");
    let mut requests = java.stdin.take().expect("piped");
    let answers = BufReader::new(java.stdout.take().expect("piped")).lines();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for Sent { subject, bytes, json } in &all {
                let direction = if subject.direction == Direction::Request { "request" } else { "response" };
                let json = json.as_deref().unwrap_or("");
                writeln!(requests, "{}\t{}\t{direction}\t{}\t{json}", subject.api.get(), subject.version, hex(bytes))
                    .expect("java reads");
            }
            drop(requests);
        });
        let answers: Vec<_> = answers.map(|answer| answer.expect("text")).collect();
        assert_eq!(answers.len(), all.len(), "Java does not answer each message");
        let wrong: Vec<_> = all.iter().zip(&answers).filter_map(|(sent, answer)| judge(sent, answer)).collect();
        assert!(wrong.is_empty(), "{} of {} messages:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    });
    assert!(java.wait().expect("java ends").success());
    let with_json = all.iter().filter(|sent| sent.json.is_some()).count();
    println!("{} messages, {with_json} of them as JSON, too", all.len());
}

/// What is wrong with Kafka's answer: the bytes that its class wrote after it read ours, and those that it wrote after it
/// read our JSON.
fn judge(sent: &Sent, answer: &str) -> Option<String> {
    let ours = hex(&sent.bytes);
    let expected = format!("{ours}\t{}", sent.json.as_ref().map_or("", |_| &ours));
    let Subject { api, version, direction, .. } = sent.subject;
    (answer != expected)
        .then(|| format!("{api} {direction:?} {version}\n ours {expected}\n java {answer}\n json {:?}", sent.json))
}
