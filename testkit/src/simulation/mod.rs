//! The whole in one thread: production clients, the broker, the network, clocks and disks, driven from one seed in virtual time.
//!
//! The same seed gives the same run, to the last byte of the request log. Of what may happen next, the seed chooses: which task runs,
//! how long bytes take, what goes wrong and when. Time does not pass while anything can be done, so that minutes take moments.
//!
//! What runs here is what runs in production, but for the doors: `client::runtime::Runtime` and `state::fs::Fs`.

mod fault;
mod network;
mod process;
mod random;
mod runtime;
mod trace;
pub mod workload;
mod world;

pub use fault::{Fault, FaultCounts};
pub use network::{Bug, Links, Trouble};
pub use trace::RequestLog;
pub use world::SimulationError;

pub(crate) use fault::{Schedule, Targets, plan};
pub(crate) use random::Random;

use crate::broker::{Broker, Endpoint, Node, Settings, TestTopic};
use crate::checkers::Frame;
use millstream_client::Client;
use millstream_client::runtime::Runtime;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{NodeId, TopicName};
use network::{Network, PORT, host_of};
use process::{Process, ProcessId};
use runtime::{SimRuntime, timestamp};
use std::sync::Arc;
use std::time::Duration;
use world::World;

/// A cluster, a network and processes, in one thread and in virtual time.
///
/// ```
/// use millstream_client::{ProducerRecord, runtime::sleep_until};
/// use millstream_testkit::simulation::{Fault, Simulation};
/// use std::time::Duration;
///
/// let run = |seed| {
///     let simulation = Simulation::new(seed);
///     simulation.create_topic("orders", 3);
///     simulation.inject(Duration::from_secs(1), Fault::Crash(2.into(), Duration::from_secs(5)));
///     let shop = simulation.start_process("shop");
///     let client = shop.client();
///     let main = async move {
///         let producer = client.build().await?.producer().build().await?;
///         for number in 0..10_u8 {
///             producer.send(ProducerRecord::to("orders").value(&[number])).await?;
///             sleep_until(&*shop.runtime(), shop.runtime().now() + Duration::from_secs(1)).await;
///         }
///         producer.close(Duration::from_secs(10)).await
///     };
///     simulation.run("test", main, Duration::from_secs(600)).expect("it ends").expect("all is written");
///     simulation.request_log()
/// };
/// assert_eq!(run(7), run(7));
/// assert_ne!(run(7), run(8));
/// ```
#[derive(Debug)]
pub struct Simulation {
    world: Arc<World>,
    nodes: usize,
}

/// How many brokers a simulated cluster has.
const NODES: usize = 3;

impl Simulation {
    /// A cluster of three brokers, and nothing else yet.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_settings(seed, &[])
    }
    /// The same with options of the brokers, by Kafka's keys.
    ///
    /// # Panics
    ///
    /// When an option cannot be.
    #[must_use]
    pub fn with_settings(seed: u64, options: &[(&str, &str)]) -> Self {
        let random = Random::new(seed);
        let mut settings = Settings::new(NODES);
        for (key, value) in options {
            let set = settings.set(key, value);
            assert!(set.is_ok(), "the broker option `{key}` cannot be `{value}`: {set:?}");
        }
        let nodes = (1..).take(NODES).map(|id| node(NodeId::new(id))).collect();
        let broker = Broker::new(settings, nodes, random.fork(1).next(), timestamp(Duration::ZERO));
        let network = Network::new(broker, NODES, random.fork(2));
        Self { world: World::new(random.fork(3), network), nodes: NODES }
    }
    /// Where the cluster is.
    #[must_use]
    pub fn bootstrap_servers(&self) -> String {
        let address = |id: i32| format!("{}:{PORT}", host_of(NodeId::new(id)));
        (1..).take(self.nodes).map(address).collect::<Vec<_>>().join(",")
    }
    /// Makes a topic. Its leaders may move, and its records may be corrupt for a while, when faults say so.
    pub fn create_topic(&self, name: &str, partitions: i32) {
        let mut state = self.world.lock();
        state.network.broker.create_topic(&TestTopic::new(name, usize::try_from(partitions).unwrap_or(1)));
        state.network.expose(name, partitions);
    }
    /// Lets faults move the coordinator of this group or transactional id.
    pub fn expose_coordinator(&self, key: &str) {
        self.world.lock().network.expose_coordinator(key);
    }
    /// Lets faults give a topic more partitions.
    pub fn expose_to_growth(&self, topic: &str) {
        self.world.lock().network.expose_to_growth(topic);
    }
    /// Makes a topic that faults delete and make anew.
    pub fn create_renewed_topic(&self, name: &str, partitions: i32) {
        let mut state = self.world.lock();
        state.network.broker.create_topic(&TestTopic::new(name, usize::try_from(partitions).unwrap_or(1)));
        state.network.expose_to_renewal(name);
    }
    /// Makes a topic whose followers lag and then lead, when faults say so: what they lack is lost.
    pub fn create_parted_topic(&self, name: &str, partitions: i32) {
        let mut state = self.world.lock();
        state.network.broker.create_topic(&TestTopic::new(name, usize::try_from(partitions).unwrap_or(1)));
        state.network.expose_to_truncation(name);
    }
    /// Starts a process on a host. Of the same name as one before, it is the same host, and another process.
    #[must_use]
    pub fn start_process(&self, host: &str) -> SimulatedProcess {
        let mut state = self.world.lock();
        let id = ProcessId(state.next_id());
        let random = Random::new(state.random.next());
        state.processes.insert(id, Process { host: host.into(), random });
        drop(state);
        SimulatedProcess { world: Arc::clone(&self.world), id, bootstrap: self.bootstrap_servers() }
    }
    /// Plants a bug.
    pub fn plant(&self, bug: Bug) {
        self.plant_until(bug, Duration::MAX);
    }
    /// Plants a bug that is mended at a time since the beginning.
    pub fn plant_until(&self, bug: Bug, until: Duration) {
        self.world.lock().network.plant(bug, until);
    }
    /// Lets something go wrong at a time since the beginning. What happens to processes is the caller's to do.
    pub fn inject(&self, at: Duration, fault: Fault) {
        self.world.lock().network.schedule(at, fault);
    }
    /// Runs until `main` is over, on a host of this name; or the time since the beginning is `limit`.
    ///
    /// # Errors
    ///
    /// When it takes longer, when everybody waits for somebody else, or when a task panics.
    pub fn run<T: Send + 'static>(
        &self,
        host: &str,
        main: impl Future<Output = T> + Send + 'static,
        limit: Duration,
    ) -> Result<T, SimulationError> {
        let process = self.start_process(host);
        self.world.run(process.id, main, limit)
    }
    /// The time since the beginning.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.world.lock().now
    }
    /// Every request and answer since the beginning. The same seed gives the same.
    #[must_use]
    pub fn request_log(&self) -> RequestLog {
        self.world.lock().network.trace.log().clone()
    }
    /// Takes the frames out that have been sent since the last call, for checkers.
    #[must_use]
    pub fn take_frames(&self) -> Vec<Frame> {
        self.world.lock().network.trace.take_frames()
    }
    /// How often which fault has happened.
    #[must_use]
    pub fn fault_counts(&self) -> FaultCounts {
        self.world.lock().network.counts()
    }
    /// What is committed in a topic, as a reader of committed records would find it.
    #[must_use]
    pub fn records(&self, topic: &str) -> Vec<crate::ClusterRecord> {
        let committed = self.world.lock().network.broker.committed(topic);
        crate::cluster::decode_records(&TopicName::from(topic), committed)
    }
    /// A handle for what runs inside.
    pub(crate) fn handle(&self) -> Handle {
        Handle { world: Arc::clone(&self.world), bootstrap: self.bootstrap_servers() }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // Tasks hold the world, which holds them.
        let processes: Vec<ProcessId> = self.world.lock().processes.keys().copied().collect();
        processes.into_iter().for_each(|process| self.world.kill(process));
    }
}

/// The simulation as seen from inside: by what starts and kills processes.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    world: Arc<World>,
    bootstrap: String,
}
impl Handle {
    pub(crate) fn now(&self) -> Duration {
        self.world.lock().now
    }
    pub(crate) fn count(&self, fault: &Fault) {
        self.world.lock().network.count(fault);
    }
    pub(crate) fn start_process(&self, host: &str) -> SimulatedProcess {
        let mut state = self.world.lock();
        let id = ProcessId(state.next_id());
        let random = Random::new(state.random.next());
        state.processes.insert(id, Process { host: host.into(), random });
        drop(state);
        SimulatedProcess { world: Arc::clone(&self.world), id, bootstrap: self.bootstrap.clone() }
    }
    /// What is committed in a topic now.
    pub(crate) fn records(&self, topic: &str) -> Vec<crate::ClusterRecord> {
        crate::cluster::decode_records(&TopicName::from(topic), self.with_broker(|broker| broker.committed(topic)))
    }
    /// Looks at the broker, or does something to it.
    pub(crate) fn with_broker<T>(&self, act: impl FnOnce(&mut Broker) -> T) -> T {
        act(&mut self.world.lock().network.broker)
    }
}

/// A process of a simulation. It lives until it is killed.
#[derive(Debug, Clone)]
pub struct SimulatedProcess {
    world: Arc<World>,
    id: ProcessId,
    bootstrap: String,
}
impl SimulatedProcess {
    /// What its clients run on.
    #[must_use]
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        let state = self.world.lock();
        let pace = state.processes.get(&self.id).map_or(1, |process| state.network.pace(&process.host));
        drop(state);
        Arc::new(SimRuntime::new(Arc::clone(&self.world), self.id, pace))
    }
    /// A client of the simulated cluster in this process.
    pub fn client(&self) -> millstream_client::ClientBuilder {
        Client::builder(&self.bootstrap).runtime(self.runtime())
    }
    /// Ends it where it is: its tasks go no further, its connections are reset.
    pub fn kill(&self) {
        self.world.kill(self.id);
    }
    /// Starts a task in it, which ends by itself or with it.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.world.spawn(self.id, Box::pin(task));
    }
    /// The number that frames of this process carry.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.id.0
    }
}

/// The rack that a node stands in, alone.
pub(crate) fn rack_of(node: NodeId) -> String {
    format!("rack-{node}")
}
fn node(id: NodeId) -> Node {
    let endpoint = Endpoint { host: StrBytes::from_string(host_of(id)), port: PORT };
    Node {
        id,
        endpoints: vec![endpoint],
        state: crate::broker::NodeState::Running,
        rack: Some(StrBytes::from_string(rack_of(id))),
    }
}
