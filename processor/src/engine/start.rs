//! From a topology and options to a running engine: topics, lanes, membership, workers.

use super::Engine;
use crate::assignor::TaskAssignor;
use crate::group::{Group, GroupOptions};
use crate::internal_topics::{TopicOptions, Topics};
use crate::jobs::Jobs;
use crate::lane::{Lane, LaneEvent, LaneProducer, ProducerOptions};
use crate::metrics::Counters;
use crate::queue::ReadyQueue;
use crate::shared::{Shared, Signals, View};
use crate::standstill::Standstills;
use crate::state_dir::StateDir;
use crate::workers::Workers;
use crate::{State, StreamsConfig, StreamsError};
use millstream_client::Producer;
use millstream_client::runtime::Runtime;
use millstream_processor_core::Topology;
use millstream_processor_core::commit::CommitNumbers;
use millstream_processor_core::task::TaskOptions;
use millstream_protocol::TopicName;
use millstream_protocol::hash::HashMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What the handle keeps of a running engine.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) view: Arc<View>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) queue: Arc<ReadyQueue>,
    pub(crate) workers: Arc<Workers>,
}

/// Prepares everything; the group is joined when the engine runs.
pub(crate) async fn start(
    topology: Topology,
    config: StreamsConfig,
    runtime: Arc<dyn Runtime>,
) -> Result<(Engine, Started), StreamsError> {
    let StreamsConfig { application_id, client, options, handlers, on_task_failure, changes, fs, .. } = config;
    let failed = |error| StreamsError::client(format!("connect application `{application_id}`"), error);
    let client = client.connect_on(Arc::clone(&runtime)).await.map_err(failed)?;
    let root = options.state_dir.0.as_deref();
    let state_dir = Arc::new(StateDir::open(Arc::clone(&fs), root, &application_id, LANES, || runtime.seed())?);
    let topic_options =
        TopicOptions { replication_factor: options.replication_factor, configs: &changes.topic_options };
    let topics = Topics::prepare(&client, &topology, &application_id, &topic_options).await?;
    let (counters, queue, view) = (Arc::<Counters>::default(), Arc::<ReadyQueue>::default(), Arc::new(View::new()));
    let shared = Arc::new(Shared {
        task_options: TaskOptions::new(&application_id).handlers(handlers).max_task_idle(Some(options.max_task_idle)),
        numbers: CommitNumbers::new(runtime.seed().max(1)),
        given_up: Arc::default(),
        jobs: Jobs::start(runtime.as_ref())?,
        signals: Arc::<Signals>::default(),
        counters: Arc::clone(&counters),
        queue: Arc::clone(&queue),
        view: Arc::clone(&view),
        layout: topics.layout,
        delete_retention: topics.delete_retention,
        application_id,
        topology,
        options,
        changes,
        fs,
        client,
    });
    let ids = LaneIds::new(&shared, &state_dir);
    let (lane_tell, lane_events) = mpsc::channel(EVENTS);
    // It joins while the lanes' producers are made; what is assigned meanwhile waits for the engine.
    let group = join(&shared, &state_dir)?;
    let producers = lane_producers(&shared, &ids, state_dir.lanes_ever(), &topics.outputs).await?;
    let workers = Arc::new(Workers::start(Arc::clone(&shared), shared.options.num_workers.0)?);
    let lanes = start_lanes(&shared, &group, producers, &lane_tell);
    view.set_state(State::Rebalancing);
    let (tell, outcomes) = mpsc::channel(EVENTS);
    let now = runtime.now();
    let engine = Engine {
        next_commit: now + shared.options.commit_interval,
        timer: runtime.timer(),
        shared,
        group,
        lanes,
        workers: Arc::clone(&workers),
        state_dir,
        on_task_failure,
        tasks: HashMap::default(),
        failures: HashMap::default(),
        lane_events,
        outcomes,
        tell,
        beside: Vec::new(),
        is_member: false,
        attempts: 0,
        standstills: Standstills::new(now),
    };
    Ok((engine, Started { view, counters, queue, workers }))
}

/// The transactional ids of this process: the same after each start, so that a start ends what an earlier life left open.
#[derive(Debug)]
struct LaneIds {
    prefix: String,
}

impl LaneIds {
    fn new(shared: &Shared, state_dir: &StateDir) -> Self {
        let process = || format!("{:032x}", state_dir.process_id());
        let member = shared.options.group_instance_id.0.clone().unwrap_or_else(process);
        Self { prefix: format!("{}-{member}", shared.application_id) }
    }

    fn of(&self, lane: u32) -> String {
        format!("{}-{lane}", self.prefix)
    }
}

/// A lane's two producers: of changelogs and offsets, and of outputs.
type Producers = Vec<(LaneProducer, Producer)>;

/// Makes the lanes' producers, which ends the transactions of an earlier life; those of lanes that are not used any more too, since
/// their offsets would keep others waiting.
async fn lane_producers(
    shared: &Shared,
    ids: &LaneIds,
    lanes_ever: u32,
    outputs: &[TopicName],
) -> Result<Producers, StreamsError> {
    let lane = |lane: u32| async move {
        let options = ProducerOptions::new(&shared.client, &shared.changes, &shared.options);
        let failed = |error| {
            StreamsError::client(format!("start commit lane {lane}, transactional id `{}`", ids.of(lane)), error)
        };
        let transactional = LaneProducer::connect(&options, ids.of(lane)).await.map_err(failed)?;
        let output = options.output().build().await.map_err(failed)?;
        // What is about to be written is asked for now, so that the first output does not wait for it.
        outputs.iter().for_each(|topic| _ = output.known_partition_count(topic.as_str()));
        Ok::<_, StreamsError>((transactional, output))
    };
    let (first, second) = tokio::try_join!(lane(0), lane(1))?;
    let unused = (LANES..lanes_ever).map(|lane| ids.of(lane));
    let fenced = shared.client.admin().transactions().fence(unused).await;
    for (id, answer) in
        fenced.map_err(|error| StreamsError::client("end the transactions of unused lanes", error))?.iter()
    {
        if let Err(error) = answer {
            tracing::warn!(id, %error, "the transaction of an unused lane, if any, is left to its timeout");
        }
    }
    Ok(vec![first, second])
}

fn start_lanes(shared: &Arc<Shared>, group: &Group, producers: Producers, tell: &mpsc::Sender<LaneEvent>) -> Vec<Lane> {
    let lane = |(transactional, output)| Lane::start(shared, group.clone(), transactional, output, tell.clone());
    producers.into_iter().map(lane).collect()
}

fn join(shared: &Shared, state_dir: &Arc<StateDir>) -> Result<Group, StreamsError> {
    let (topology, application_id) = (shared.topology.clone(), shared.application_id.clone());
    let assignor = TaskAssignor::new(topology, application_id, Arc::clone(state_dir), Arc::clone(&shared.given_up));
    let topics = shared.topology.source_topics(&shared.application_id).into_iter().map(|(topic, _)| topic).collect();
    Group::start(shared, GroupOptions { topics, assignor })
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

/// How many lanes a process has: a lane's commit is a round trip of several requests, and what one lane aborts, the other does not.
const LANES: u32 = 2;
/// Each task has at most a few events under way.
const EVENTS: usize = 1024;
