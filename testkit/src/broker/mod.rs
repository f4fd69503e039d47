//! A Kafka cluster without sockets or clocks: requests and `now` go in, replies and the next deadline come out. One value is all nodes of
//! the cluster, which share their state; a request says at which node it arrived.

mod authorizer;
mod bounds;
mod call;
mod configs;
mod coordinating;
mod faults;
mod features;
mod fetching;
mod groups;
mod handlers;
mod java_hash;
mod java_order;
mod life;
mod log;
mod looking;
mod nodes;
mod own;
mod producing;
mod pushed;
mod quorum;
mod quotas;
mod re2;
mod replication;
mod request_log;
mod security;
mod settings;
#[cfg(feature = "server")]
mod states;
mod steering;
mod telemetry;
mod timers;
mod topics;
mod transactions;
mod upkeep;
mod versions;

pub(crate) use call::{Closing, ConnectionId, Fault, ListenerId, Outcome, Peer, Reply};
pub(crate) use faults::{APIS_OF_GROUPS, Action, Answerer, Faults, Reacted, Rule, Scope, Step, When};
pub(crate) use handlers::all_versions as served_versions;
pub(crate) use handlers::served;
pub(crate) use life::{ImpossibleMove, NodeState};
pub(crate) use log::producers::Aborted;
pub(crate) use looking::Committed;
pub(crate) use nodes::{Endpoint, Node, Nodes};
pub(crate) use pushed::PushedLeader;
pub(crate) use request_log::{Answered, Exchange, RequestLog};
pub use security::SecurityProtocol;
#[cfg(feature = "server")]
pub(crate) use security::mechanism::Mechanism;
#[cfg(feature = "tls")]
pub(crate) use security::settings::ClientAuth;
pub(crate) use settings::Settings;
#[cfg(feature = "server")]
pub(crate) use states::{ReplicaState, TopicState};
pub use topics::TestTopic;
pub(crate) use topics::plain;
#[cfg(feature = "server")]
pub(crate) use topics::{MAX_PARTITIONS, TopicRefusal};
pub(crate) use versions::Release;

use authorizer::{Authorizer, Guard, Patches};
use bounds::Tally;
use bytes::Bytes;
use call::Call;
use configs::Configs;
use features::Features;
use fetching::sessions::FetchSessions;
use fetching::waits::FetchWaits;
use groups::Groups;
use millstream_protocol::Timestamp;
use millstream_protocol::frame;
use millstream_protocol::messages::{Request, StrBytes, Uuid};
use producing::waits::ProduceWaits;
use pushed::PushedLeaders;
use quorum::Quorum;
use quotas::Quotas;
use security::{Gate, Security};
use telemetry::Telemetry;
use timers::{TimerKey, Timers};
use topics::Topics;
use transactions::Transactions;
use versions::Versions;

/// The cluster.
#[derive(Debug)]
pub(crate) struct Broker {
    now: Timestamp,
    settings: Settings,
    features: Features,
    cluster_id: StrBytes,
    nodes: Nodes,
    topics: Topics,
    groups: Groups,
    configs: Configs,
    quorum: Quorum,
    quotas: Quotas,
    telemetry: Telemetry,
    transactions: Transactions,
    fetch_sessions: FetchSessions,
    fetch_waits: FetchWaits,
    produce_waits: ProduceWaits,
    timers: Timers,
    faults: Faults,
    pushed_leaders: PushedLeaders,
    log: RequestLog,
    security: Security,
    authorizer: Authorizer,
    versions: Versions,
    patches: Patches,
    records_kept: Tally,
    state_kept: Tally,
    /// Makes names unlike those of other clusters and of each other.
    seed: u64,
    names_given: u64,
    replies: Vec<Reply>,
}

impl Broker {
    /// A cluster without topics. `seed` tells it from others.
    pub(crate) fn new(settings: Settings, nodes: Vec<Node>, seed: u64, now: Timestamp) -> Self {
        let mut broker = Self {
            now,
            cluster_id: StrBytes::from_string(format!("millstream-{seed:016x}")),
            nodes: Nodes::new(nodes),
            topics: Topics::new(seed),
            groups: Groups::default(),
            configs: Configs::new(&settings),
            quorum: Quorum::default(),
            quotas: Quotas::default(),
            telemetry: Telemetry::default(),
            transactions: Transactions::default(),
            fetch_sessions: FetchSessions::new(settings.max_fetch_sessions),
            fetch_waits: FetchWaits::default(),
            produce_waits: ProduceWaits::default(),
            timers: Timers::default(),
            faults: Faults::default(),
            pushed_leaders: PushedLeaders::default(),
            log: RequestLog::default(),
            security: Security::new(settings.protocols().collect(), seed),
            features: Features::new(settings.transaction_version, settings.group_version).of_release(settings.release),
            authorizer: Authorizer::default(),
            versions: Versions::new(settings.release, &settings.api_versions),
            patches: Patches::default(),
            records_kept: Tally::default(),
            state_kept: Tally::default(),
            seed,
            names_given: 0,
            replies: Vec::new(),
            settings,
        };
        broker.arm_chores();
        broker
    }
    /// Takes a request in: a frame without its size. A connection sends the next one only when this one has its reply.
    pub(crate) fn handle(&mut self, now: Timestamp, peer: &Peer, payload: &Bytes) {
        self.now = self.now.max(now);
        if self.keep_if_still(peer, payload) {
            return;
        }
        if let Some(outcome) = self.answer(peer, payload) {
            self.push_reply(peer.node, peer.connection, outcome);
        }
    }
    /// Does what is due by now.
    pub(crate) fn handle_time(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some(key) = self.timers.pop(self.now) {
            match key {
                TimerKey::Produce(connection) => self.handle_produce_time(connection),
                TimerKey::Replicas(key) => self.handle_replica_time(key),
                TimerKey::Chore(chore) => self.handle_chore_time(chore),
                TimerKey::Session(node) => self.handle_session_time(node),
                TimerKey::Fetch(connection) => self.complete_fetch(connection),
                TimerKey::LastWords(connection) => self.say_last_words(connection),
                TimerKey::Group(id) => self.handle_group_time(&id),
                TimerKey::Offsets => self.handle_offsets_time(),
                TimerKey::Topic(name) => self.handle_topic_time(&name),
                TimerKey::Transaction(id) => self.handle_transaction_time(&id),
                TimerKey::Late(number) => self.handle_late(number),
            }
        }
    }
    /// Forgets a connection that is gone. Members and producers live on, until their time is up.
    pub(crate) fn handle_disconnect(&mut self, connection: ConnectionId) {
        self.drop_fetch(connection);
        self.forget_waiting(connection);
        self.forget_produce(connection);
        self.log.disconnected(connection);
        self.drop_last_words(connection);
        self.security.forget(connection);
        self.patches.forget(connection);
        self.telemetry.disconnected(connection);
    }
    /// When there is next something to do.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.next()
    }
    /// Takes the replies that are due.
    pub(crate) fn poll_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.replies)
    }

    fn answer(&mut self, peer: &Peer, payload: &Bytes) -> Option<Outcome> {
        if let Some(outcome) = self.take_bare_token(peer, payload) {
            return outcome;
        }
        let header = match frame::decode_request_header(payload) {
            Ok(header) => header,
            Err(error) => return Some(Outcome::Close(Closing::refused(error.to_string()))),
        };
        self.log.asked(self.now, peer, &header, payload);
        let Some(principal) = self.principal(peer) else {
            let why = "no rule of ssl.principal.mapping.rules is about the name in its certificate";
            return Some(Outcome::Close(Closing::refused(why)));
        };
        let call = Call {
            connection: peer.connection,
            node: peer.node,
            host: peer.host.clone(),
            listener: peer.listener,
            principal,
            client_id: StrBytes::from_string(header.client_id().unwrap_or_default().to_owned()),
            version: header.version(),
            correlation_id: header.correlation_id(),
            is_held: false,
        };
        tracing::trace!(api = %header.api(), version = call.version, node = %call.node, principal = %call.principal, "request");
        let body = header.body_of(payload);
        match self.gate(header.api(), &call, body.clone()) {
            Gate::Open => handlers::dispatch(self, header.api(), &call, body),
            Gate::Shut(outcome) => outcome,
        }
    }
    /// Answers a call that was kept.
    fn complete<R: Guard>(&mut self, call: &Call, response: &R::Response) {
        let outcome = if self.patches.has(call.connection) {
            let mut patched = response.clone();
            self.patch::<R>(call, &mut patched);
            encode::<R>(call, &patched)
        } else {
            encode::<R>(call, response)
        };
        self.push_reply(call.node, call.connection, outcome);
    }
    /// A name that nobody has had: for members.
    fn unique_name(&mut self, prefix: &str) -> StrBytes {
        let id = self.unique_uuid();
        StrBytes::from_string(format!("{prefix}-{id}"))
    }
    /// An id that nobody has had, as Kafka writes ids for which a name is no part.
    fn unique_id(&mut self) -> StrBytes {
        StrBytes::from_string(self.unique_uuid().to_string())
    }
    fn unique_uuid(&mut self) -> Uuid {
        self.names_given += 1;
        Uuid::from_u64_pair(self.seed, (1 << 63) | self.names_given)
    }
}

fn encode<R: Request>(call: &Call, response: &R::Response) -> Outcome {
    match frame::encode_response::<R>(call.version, call.correlation_id, response) {
        Ok(frame) => Outcome::Frame(frame),
        Err(error) => Outcome::Close(unwritten(&error)),
    }
}
/// Why a connection ends whose answer does not fit its version.
fn unwritten(error: &frame::EncodeError) -> Closing {
    Closing::failed(format!("its answer cannot be written: {error}"))
}
