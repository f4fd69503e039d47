//! The two clusters, and what it means to ask both.

use crate::ids::Ids;
use crate::wire::Wire;
use millstream_protocol::messages::{ApiVersionsRequest, Request};
use millstream_protocol::{ApiKey, ErrorCode, api};
use millstream_testkit::TestCluster;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many clients there are, each with a connection of its own to each side.
pub(crate) const CLIENTS: usize = 3;
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
const TRIES: usize = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// One cluster.
pub(crate) struct Side {
    wires: Vec<Wire>,
    pub(crate) ids: Ids,
}
impl Side {
    fn new(bootstrap: &str) -> Self {
        Self { wires: (0..CLIENTS).map(|_| Wire::new(bootstrap)).collect(), ids: Ids::default() }
    }
}

/// Whether asking again changes nothing, so that a real Kafka can be given the time that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reads,
    Writes,
}

/// Both.
pub(crate) struct Pair {
    ours: Side,
    real: Side,
    _cluster: TestCluster,
    /// Which client asks next.
    client: usize,
    pub(crate) step: usize,
    pub(crate) api: Option<ApiKey>,
    pub(crate) asked: BTreeMap<ApiKey, BTreeSet<i16>>,
    pub(crate) differences: usize,
    /// When the run began: the time of its records.
    pub(crate) now: i64,
}
impl Pair {
    pub(crate) fn begin(bootstrap: &str, seed: u64) -> Self {
        // As the launcher sets the real one up.
        let builder = TestCluster::builder().config("auto.create.topics.enable", "false");
        let builder =
            builder.config("offsets.topic.num.partitions", "4").config("transaction.state.log.num.partitions", "4");
        let cluster = builder.try_start().expect("loopback has free ports");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_millis();
        Self {
            ours: Side::new(&cluster.bootstrap_servers()),
            real: Side::new(bootstrap),
            _cluster: cluster,
            client: usize::try_from(seed % 3).expect("small"),
            step: 0,
            api: None,
            asked: BTreeMap::new(),
            differences: 0,
            now: i64::try_from(now).expect("a time"),
        }
    }
    /// The versions of an API that both speak.
    pub(crate) fn versions(&self, key: ApiKey) -> (i16, i16) {
        let range = api::supported(key).expect("an API that the table knows");
        (range.min(), range.max())
    }
    /// What the embedded broker serves.
    pub(crate) fn served(&mut self) -> Vec<ApiKey> {
        let told = self.ours.wires[0].ask(3, &ApiVersionsRequest::default()).expect("an answer");
        told.api_keys.iter().map(|row| ApiKey::new(row.api_key)).collect()
    }
    /// Asks both, each with its own ids, and compares what they say once `tidy` has taken out what must differ.
    pub(crate) fn ask<R: Request + std::fmt::Debug>(
        &mut self,
        kind: Kind,
        version: i16,
        make: impl Fn(&Ids) -> R,
        tidy: impl Fn(&mut R::Response, &mut Ids),
    ) where
        R::Response: std::fmt::Debug + Clone,
    {
        self.asked.entry(R::KEY).or_default().insert(version);
        self.client = (self.client + 1) % CLIENTS;
        let client = self.client;
        let ask = |side: &mut Side| {
            let request = make(&side.ids);
            let mut answer = side.wires[client].ask(version, &request);
            let raw = format!("{answer:?}");
            if let Some(answer) = &mut answer {
                tidy(answer, &mut side.ids);
            }
            (format!("{answer:#?}"), raw)
        };
        let (ours, _) = ask(&mut self.ours);
        for tried in 0..TRIES {
            let (real, raw) = ask(&mut self.real);
            if real == ours {
                return;
            }
            let may_try_again = kind == Kind::Reads || is_transient(&raw);
            if !may_try_again || tried + 1 == TRIES {
                let request = make(&self.ours.ids);
                return self.report(&format!("{} {version}", R::KEY), &format!("{request:?}"), &ours, &real);
            }
            std::thread::sleep(PAUSE);
        }
    }
    fn report(&mut self, what: &str, request: &str, ours: &str, real: &str) {
        self.differences += 1;
        println!("--- step {}: {what}\n{}", self.step, &request[..request.len().min(1500)]);
        let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
        ours.lines().filter(|line| lacks(real, line)).for_each(|line| println!("  ours {line}"));
        real.lines().filter(|line| lacks(ours, line)).for_each(|line| println!("  real {line}"));
    }
}

fn is_transient(answer: &str) -> bool {
    TRANSIENT.iter().any(|code| answer.contains(&format!("error_code: {}", code.get())))
}
