//! The two clusters, and what it means to ask both.

use crate::held::Held;
use crate::ids::Ids;
use crate::wire::{Login, Wire};
use millstream_protocol::messages::{ApiVersionsRequest, Request, StrBytes};
use millstream_protocol::{ApiKey, ErrorCode, api};
use millstream_testkit::{TestCluster, TestClusterBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How many clients take turns, each with a connection of its own to each side.
pub(crate) const CLIENTS: usize = 3;
/// One more client, who may do everything.
pub(crate) const ADMINISTRATOR: usize = CLIENTS;
/// What a real Kafka answers while it is still doing something that the embedded one does at once.
const TRANSIENT: &[ErrorCode] = &[
    ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode::COORDINATOR_NOT_AVAILABLE,
    ErrorCode::NOT_COORDINATOR,
    ErrorCode::CONCURRENT_TRANSACTIONS,
    ErrorCode::LEADER_NOT_AVAILABLE,
    ErrorCode::NOT_LEADER_OR_FOLLOWER,
    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode::UNKNOWN_TOPIC_ID,
    ErrorCode::NOT_ENOUGH_REPLICAS,
];
pub(crate) const TRIES: usize = 200;
const SOME_TRIES: usize = 1000;
const MANY_TRIES: usize = 6000;
const PAUSE: Duration = Duration::from_millis(5);

/// One cluster.
pub(crate) struct Side {
    bootstrap: String,
    wires: Vec<Wire>,
    /// The connections of those whose answers may be held back; they log in as the first client does.
    own: BTreeMap<&'static str, Wire>,
    login: Option<Login>,
    pub(crate) ids: Ids,
}
impl Side {
    /// Where there are several nodes, each client speaks to one of its own.
    fn new(bootstrap: &str, logins: &[Option<Login>]) -> Self {
        let addresses = || bootstrap.split(',').cycle();
        let wires = logins.iter().zip(addresses()).map(|(login, address)| Wire::new(address, *login)).collect();
        let login = logins.first().copied().flatten();
        let first = addresses().next().unwrap_or(bootstrap);
        Self { bootstrap: first.to_owned(), wires, own: BTreeMap::new(), login, ids: Ids::default() }
    }
    /// One more connection, on which nothing was said yet.
    pub(crate) fn open(&self) -> Wire {
        Wire::new(&self.bootstrap, None)
    }
    /// The connection that somebody has alone.
    pub(crate) fn wire_of(&mut self, who: &'static str) -> &mut Wire {
        self.own.entry(who).or_insert_with(|| Wire::new(&self.bootstrap, self.login))
    }
}

/// Whether asking again changes nothing, so that a real Kafka can be given the time that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reads,
    Writes,
    /// Reads what takes a real Kafka seconds: a node's death, followers in step.
    Settles,
}

/// What an exchange with one side was.
pub(crate) struct Told {
    pub(crate) text: String,
    /// Whether it may become another after a while.
    pub(crate) may_change: bool,
    /// How often it is asked for then.
    pub(crate) tries: usize,
    /// Whether the embedded broker is asked again, too: what was said on another connection may have reached it later than this.
    pub(crate) only_reads: bool,
    /// The version in which there was an answer.
    pub(crate) answered: Option<i16>,
}

/// Both.
pub(crate) struct Pair {
    pub(crate) ours: Side,
    pub(crate) real: Side,
    /// Questions whose answers are held back.
    pub(crate) held: Vec<Held>,
    /// Who leads a group of the classic protocol on both sides.
    pub(crate) leaders: BTreeMap<&'static str, StrBytes>,
    /// Groups whose leaders are not the same.
    pub(crate) split: BTreeSet<&'static str>,
    pub(crate) cluster: TestCluster,
    /// The clients whose turn it is one after the other.
    pub(crate) up: Vec<usize>,
    /// Which client asks next.
    client: usize,
    /// Who asks instead.
    pub(crate) only: Option<usize>,
    pub(crate) step: usize,
    pub(crate) api: Option<ApiKey>,
    /// The versions in which both gave an answer, and the same.
    pub(crate) answered: BTreeMap<ApiKey, BTreeSet<i16>>,
    pub(crate) differences: usize,
    /// Whether every exchange is printed.
    tells_all: bool,
    /// When the run began: the time of its records.
    pub(crate) now: i64,
    /// What the next request carries that its own text does not show.
    pub(crate) carries: String,
    /// When somebody was heard of the group that asks for topics by expressions.
    pub(crate) heard: Vec<Instant>,
}
impl Pair {
    /// With a client for each login, the first [`CLIENTS`] of which take turns.
    pub(crate) fn begin(
        builder: TestClusterBuilder,
        bootstrap: &str,
        seed: u64,
        logins: [Option<Login>; CLIENTS + 1],
    ) -> Self {
        let cluster = builder.try_start().expect("loopback has free ports");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_millis();
        Self {
            ours: Side::new(&cluster.bootstrap_servers(), &logins),
            real: Side::new(bootstrap, &logins),
            held: Vec::new(),
            leaders: BTreeMap::new(),
            split: BTreeSet::new(),
            cluster,
            up: (0..CLIENTS).collect(),
            client: usize::try_from(seed % 3).expect("small"),
            only: None,
            step: 0,
            api: None,
            answered: BTreeMap::new(),
            differences: 0,
            tells_all: std::env::var_os("MILLSTREAM_VERBOSE").is_some(),
            now: i64::try_from(now).expect("a time"),
            carries: String::new(),
            heard: Vec::new(),
        }
    }
    /// The versions of an API that both speak.
    pub(crate) fn versions(&self, key: ApiKey) -> (i16, i16) {
        let range = api::stable(key).expect("an API that the table knows");
        (range.min(), range.max())
    }
    /// What the embedded broker serves, with its versions.
    pub(crate) fn served(&mut self) -> Vec<(ApiKey, i16, i16)> {
        let told = self.ours.wires[0].ask(0, &ApiVersionsRequest::default()).expect("an answer");
        told.api_keys.iter().map(|row| (ApiKey::new(row.api_key), row.min_version, row.max_version)).collect()
    }
    /// Has the next client ask both, each with its own ids, and compares what they say once `tidy` has taken out what must differ.
    pub(crate) fn ask<R: Request + std::fmt::Debug>(
        &mut self,
        kind: Kind,
        version: i16,
        make: impl Fn(&Ids) -> R,
        tidy: impl Fn(&mut R::Response, &mut Ids),
    ) where
        R::Response: std::fmt::Debug + Clone,
    {
        let client = self.next_client();
        self.ask_as(client, kind, version, make, tidy);
    }
    /// Whose turn it is.
    pub(crate) fn next_client(&mut self) -> usize {
        self.client += 1;
        self.only.unwrap_or(self.up[self.client % self.up.len()])
    }
    /// Has this client ask both.
    pub(crate) fn ask_as<R: Request + std::fmt::Debug>(
        &mut self,
        client: usize,
        kind: Kind,
        version: i16,
        make: impl Fn(&Ids) -> R,
        tidy: impl Fn(&mut R::Response, &mut Ids),
    ) where
        R::Response: std::fmt::Debug + Clone,
    {
        let what = format!("{} {version} of client {client}: {:?}", R::KEY, make(&self.ours.ids));
        // What has come to differ may never settle: it is not waited for as long again and again.
        let has_parted = self.differences > 0;
        self.compare(R::KEY, &what, |side| {
            let request = make(&side.ids);
            let mut answer = side.wires[client].ask(version, &request);
            let may_change = kind != Kind::Writes || is_transient(&format!("{answer:?}"));
            if let Some(answer) = &mut answer {
                tidy(answer, &mut side.ids);
            }
            let tries = match kind {
                Kind::Settles if has_parted => SOME_TRIES,
                Kind::Settles => MANY_TRIES,
                Kind::Reads | Kind::Writes => TRIES,
            };
            let (text, only_reads) = (format!("{answer:#?}"), kind != Kind::Writes);
            Told { text, may_change, tries, only_reads, answered: answer.map(|_| version) }
        });
    }
    /// Does the same with both, and compares what is told of it.
    pub(crate) fn compare(&mut self, api: ApiKey, what: &str, exchange: impl Fn(&mut Side) -> Told) {
        let mut ours = exchange(&mut self.ours);
        self.tell(what, &without_requests(&ours.text));
        for tried in 1.. {
            let real = exchange(&mut self.real);
            let (text, real_text) = (without_requests(&ours.text), without_requests(&real.text));
            if real_text == text {
                self.answered.entry(api).or_default().extend(ours.answered);
                return;
            }
            if !real.may_change || tried >= real.tries {
                return self.report(what, &text, &real_text);
            }
            std::thread::sleep(PAUSE);
            if ours.only_reads {
                ours = exchange(&mut self.ours);
            }
        }
    }
    /// Prints an exchange, if the whole run is wanted.
    pub(crate) fn tell(&self, what: &str, answered: &str) {
        if self.tells_all {
            let words: Vec<&str> =
                answered.split_whitespace().filter(|word| *word != "unknown_tagged_fields:").collect();
            println!("step {}: {what}\n    {}", self.step, words.join(" "));
        }
    }
    pub(crate) fn report(&mut self, what: &str, ours: &str, real: &str) {
        self.differences += 1;
        println!("--- step {}: {what:.1500} {}", self.step, self.carries);
        for (whose, text, other) in [("ours", ours, real), ("real", real, ours)] {
            changed_lines(text, other).iter().take(30).for_each(|line| println!("  {whose} {line}"));
        }
    }
}

/// Where a real Kafka tells all about a request that is not allowed, the sentence that goes with the code.
fn without_requests(text: &str) -> String {
    let is_about_request = |line: &str| line.contains("\"Request Request(") && line.contains(" permission.");
    let told = text.lines().map(|line| match line.find('"') {
        Some(start) if is_about_request(line) => format!("{}\"Cluster authorization failed.\",", &line[..start]),
        _ => line.to_owned(),
    });
    told.collect::<Vec<_>>().join("\n")
}
/// From the first line that is not the other's to the last.
fn changed_lines<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().zip(other.lines()).take_while(|(one, other)| **one == *other).count();
    let end = lines.iter().rev().zip(other.lines().rev()).take_while(|(one, other)| **one == *other).count();
    let end = end.min(lines.len().min(other.lines().count()) - begin);
    lines[begin..lines.len() - end].to_vec()
}
/// Whether one of the codes in an answer is among those, and not only begins as one of them does: 3 is none of 36.
fn is_transient(answer: &str) -> bool {
    let code = |rest: &str| rest.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?.parse().ok();
    let codes = answer.split("error_code: ").skip(1).filter_map(code);
    codes.map(ErrorCode::new).any(|code| TRANSIENT.contains(&code))
}

#[test]
fn a_code_that_begins_as_a_transient_one_does_is_not_transient() {
    let answered = |code: ErrorCode| format!("CreatableTopicResult {{ error_code: {}, name: None }}", code.get());
    assert!(is_transient(&answered(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)));
    assert!(!is_transient(&answered(ErrorCode::TOPIC_ALREADY_EXISTS)));
    assert!(!is_transient(&answered(ErrorCode::UNKNOWN_SERVER_ERROR)));
}
