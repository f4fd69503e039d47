//! A commit lane: the tasks that commit together, and the actor that commits for them.
//!
//! What to do next is decided by `millstream_processor_core::commit::Lane`; here it is done.

mod batch;
mod commit;
mod producer;

pub(crate) use producer::{LaneProducer, ProducerOptions};

use crate::StreamsError;
use crate::group::Group;
use crate::shared::{Shared, lock};
use crate::slot::Slot;
use commit::Committer;
use millstream_client::Producer;
use millstream_client::runtime::Task as Spawned;
use millstream_processor_core::TaskId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, mpsc, oneshot};

/// What a lane tells the engine.
#[derive(Debug)]
pub(crate) enum LaneEvent {
    /// A commit was aborted: these tasks go on from what is committed, with the stores that they have.
    Rewound(Vec<Arc<Slot>>),
    /// The lane was fenced while ending a transaction: these tasks recover, with the stores that they have.
    InDoubt(Vec<Arc<Slot>>),
    /// A task's store failed: the task cannot go on.
    Failed(TaskId, StreamsError),
    /// The lane cannot go on.
    Broken(StreamsError),
}

/// A lane, from outside. Cloning gives another handle.
#[derive(Debug, Clone)]
pub(crate) struct Lane(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    members: Members,
    commands: mpsc::Sender<Command>,
    lost: Arc<Lost>,
    output: Producer,
    _actor: Spawned,
}

/// The tasks of a lane.
type Members = Arc<Mutex<Vec<Arc<Slot>>>>;

/// What a lane is asked.
#[derive(Debug)]
enum Command {
    /// Commits what its tasks have finished.
    Commit(oneshot::Sender<()>),
    /// Commits, and lets these tasks go.
    Leave(Vec<TaskId>, oneshot::Sender<()>),
    /// Aborts, or waits for the outcome if it is too late for that, and lets all tasks go.
    Lose(oneshot::Sender<()>),
    /// Commits, lets all tasks go and closes its producers.
    Close(oneshot::Sender<()>),
}

/// Says at once, also inside a commit, that the tasks are somebody else's.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    is_lost: AtomicBool,
    changed: Notify,
}

impl Lost {
    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    fn set(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Release);
        self.changed.notify_waiters();
    }

    async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Lane {
    /// Starts a lane whose producer is there.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        group: Group,
        producer: LaneProducer,
        output: Producer,
        events: mpsc::Sender<LaneEvent>,
    ) -> Self {
        let (commands, asked) = mpsc::channel(COMMANDS);
        let (members, lost) = (Members::default(), Arc::<Lost>::default());
        let committer = Committer::new(Arc::clone(shared), group, producer, output.clone(), events, Arc::clone(&lost));
        let actor = run(asked, Arc::clone(&members), committer);
        let actor = shared.runtime().spawn(Box::pin(actor));
        Self(Arc::new(Handle { members, commands, lost, output, _actor: actor }))
    }

    /// The producer of the outputs of its tasks.
    pub(crate) fn output(&self) -> &Producer {
        &self.0.output
    }

    /// How many tasks it has.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0.members).len()
    }

    /// Takes a task in.
    pub(crate) fn add(&self, slot: &Arc<Slot>) {
        lock(&self.0.members).push(Arc::clone(slot));
    }

    /// Asks for a commit and does not wait.
    pub(crate) fn ask_commit(&self) {
        let (done, _) = oneshot::channel();
        // When the queue is full, a commit is in it that will see the same.
        let _ = self.0.commands.try_send(Command::Commit(done));
    }

    /// Commits and lets these tasks go; when it is back, no transaction holds them.
    pub(crate) async fn leave(&self, tasks: Vec<TaskId>) {
        self.ask(|done| Command::Leave(tasks, done)).await;
    }

    /// Lets all tasks go, without a commit that is not on its way; when it is back, nothing is undecided.
    pub(crate) async fn lose(&self) {
        self.0.lost.set(true);
        self.ask(Command::Lose).await;
    }

    /// Commits, lets all tasks go and closes the producers.
    pub(crate) async fn close(&self) {
        self.ask(Command::Close).await;
    }

    async fn ask(&self, command: impl FnOnce(oneshot::Sender<()>) -> Command) {
        let (done, is_done) = oneshot::channel();
        // A lane that is closed has nothing left to decide.
        if self.0.commands.send(command(done)).await.is_ok() {
            let _ = is_done.await;
        }
    }
}

/// Does what the lane is asked, one thing after the other.
async fn run(mut asked: mpsc::Receiver<Command>, members: Members, mut committer: Committer) {
    while let Some(command) = asked.recv().await {
        let done = match command {
            Command::Commit(done) => {
                committer.commit(&members).await;
                done
            }
            Command::Leave(tasks, done) => {
                committer.commit(&members).await;
                lock(&members).retain(|slot| !tasks.contains(&slot.id));
                done
            }
            Command::Lose(done) => {
                lock(&members).clear();
                committer.found();
                done
            }
            Command::Close(done) => {
                committer.commit(&members).await;
                lock(&members).clear();
                committer.close().await;
                // Whoever asked may not wait for the answer; so also below.
                let _ = done.send(());
                return;
            }
        };
        let _ = done.send(());
    }
}

const COMMANDS: usize = 16;
