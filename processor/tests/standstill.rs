//! A record that takes longer than `max.poll.interval.ms` costs its task, and nothing else.

mod common;

use common::{PATIENCE, config, last_values, send, until, within};
use millstream::State;
use millstream::client::ProducerRecord;
use millstream::prelude::*;
use millstream::stores;
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What a record waits for.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        let is_open = self.is_open.lock().expect("nobody panics with it");
        drop(self.opened.wait_while(is_open, |is_open| !*is_open).expect("nobody panics with it"));
    }

    fn open(&self) {
        *self.is_open.lock().expect("nobody panics with it") = true;
        self.opened.notify_all();
    }
}

/// Sums; a record of the key `slow` waits at the gate.
struct Sums {
    sums: KeyValueStore<String, i64>,
    gate: Arc<Gate>,
}

impl Processor for Sums {
    type In = Record<String, i64>;
    type Out = Record<String, i64>;

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        if record.key == "slow" {
            self.gate.pass();
        }
        let sum = self.sums.get(&record.key)?.unwrap_or(0) + record.value;
        self.sums.put(&record.key, &sum)?;
        ctx.emit(record.key, sum);
        Ok(())
    }
}

fn sums(gate: &Arc<Gate>) -> Topology {
    let mut topology = Topology::builder();
    let store = topology.add_state_store(stores::key_value("sums"));
    let numbers = topology.add_source::<String, i64>("numbers", "numbers");
    let gate = Arc::clone(gate);
    let sums = topology.add_processor_with("sum", &numbers, &store, move |sums| Sums { sums, gate: Arc::clone(&gate) });
    topology.add_sink("to-sums", &sums, "sums");
    topology.build().expect("the topology is sound")
}

async fn send_slow(cluster: &TestCluster, partition: i32) {
    let producer = Producer::connect(cluster).await.expect("the cluster is there");
    let value = 1000_i64.to_be_bytes();
    let record = ProducerRecord::to("numbers").partition(partition).key("slow").value(&value);
    producer.enqueue(record).await.expect("there is room").await.expect("it is written");
}

#[tokio::test]
async fn task_that_stands_still_is_given_up_alone_and_comes_back() {
    let cluster = TestCluster::builder().topic("numbers", 3).topic("sums", 1).start().await;
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let gates = [Arc::<Gate>::default(), Arc::default()];
    let start = |at: usize| {
        // One worker: another one takes its place while it is inside the record. Nothing but the gate takes as long as that.
        let config = config(&cluster, "slow", folders[at].path()).num_workers(1);
        Streams::start(sums(&gates[at]), config.max_poll_interval(Duration::from_secs(5)))
    };
    let both = [start(0).await.expect("it starts"), start(1).await.expect("it starts")];
    let tasks = |streams: &Streams| streams.local_metadata().active.iter().map(|task| task.task).collect::<Vec<_>>();
    let counts = || [tasks(&both[0]).len(), tasks(&both[1]).len()];
    until("three tasks in all", || matches!(counts(), [1, 2] | [2, 1])).await;
    let at = usize::from(counts() == [1, 2]);
    gates[1 - at].open();
    let (slow, quick) = (&both[at], &both[1 - at]);
    let value_of = |name: &str| slow.metrics().value_of(name).unwrap_or(0.0);
    let closed_before = value_of("task-closed-total");
    let task = tasks(slow)[0];
    send_slow(&cluster, task.partition.get()).await;
    let numbers: Vec<(String, i64)> = (1..=40).map(|number| (format!("key-{}", number % 8), number)).collect();
    let mut expected = BTreeMap::from([("slow".to_owned(), 1000)]);
    numbers.iter().for_each(|(key, number)| *expected.entry(key.clone()).or_insert(0) += number);
    send(&cluster, numbers).await;
    until("the other process has the task", || tasks(quick).contains(&task)).await;
    until("everything is summed", || last_values(&cluster, "sums") == expected).await;
    assert_eq!(value_of("task-given-up-total"), 1.0);
    assert_eq!(value_of("task-closed-total") - closed_before, 1.0, "its other task stays as it is");
    assert_eq!(slow.state(), State::Running, "it goes on");

    gates[at].open();
    let of_slow = || cluster.records("sums").iter().filter(|record| record.key.as_deref() == Some(b"slow")).count();
    let [one, two] = both;
    let (slow, quick) = if at == 0 { (one, two) } else { (two, one) };
    within("it closes", quick.close(PATIENCE)).await.expect("it closes");
    until("the task has come back", || tasks(&slow).len() == 3).await;
    send(&cluster, [("key-1".to_owned(), 5)]).await;
    *expected.entry("key-1".to_owned()).or_insert(0) += 5;
    until("nothing is counted twice", || last_values(&cluster, "slow-sums-changelog") == expected).await;
    assert_eq!(of_slow(), 1, "the record that took too long has no output: its task was another's by then");
    within("it closes", slow.close(PATIENCE)).await.expect("it closes");
}
