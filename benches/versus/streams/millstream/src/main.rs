// The measured programs on millstream: TOPOLOGY key=value..., until SIGTERM. Workloads and arguments: see ../../README.md.
use bytes::Bytes;
use millstream::prelude::*;
use millstream::stores;
use std::collections::HashMap;
use std::time::Duration;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let topology = std::env::args().nth(1).expect("a topology: pass, map, count or kip28");
    let mut given: HashMap<String, String> = std::env::args()
        .skip(2)
        .map(|each| each.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).expect("key=value"))
        .collect();
    let mut take = |key: &str| given.remove(key).unwrap_or_default();
    let (boot, app, input, output, state) = (take("boot"), take("app"), take("in"), take("out"), take("state"));
    let in_memory = take("store") == "mem";
    let topology = match topology.as_str() {
        "pass" => pass(&input, &output),
        "map" => map(&input, &output),
        "count" => count(&input, &output, in_memory),
        "kip28" => kip28(&input, &output, in_memory),
        other => panic!("no topology {other}"),
    };
    let mut config = StreamsConfig::new(app, boot).state_dir(state);
    for (key, value) in given.iter().filter(|(key, _)| *key != "statestore.cache.max.bytes") {
        config = config.set(key, value);
    }
    let streams = Streams::start(topology.expect("the topology is sound"), config).await.expect("starts");
    let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).expect("signals");
    streams.run_until(async move { terminated.recv().await }).await.expect("runs");
}

fn pass(input: &str, output: &str) -> Result<Topology, TopologyError> {
    let builder = StreamsBuilder::new();
    builder.stream::<Option<Bytes>, Option<Bytes>>(input).to(output);
    builder.build()
}

fn map(input: &str, output: &str) -> Result<Topology, TopologyError> {
    let builder = StreamsBuilder::new();
    builder
        .stream::<Bytes, Bytes>(input)
        .filter(|_, value| value[8] & 1 == 0)
        .map_values(|value| {
            let mut flipped = value.to_vec();
            flipped[..8].iter_mut().for_each(|byte| *byte = !*byte);
            Bytes::from(flipped)
        })
        .to(output);
    builder.build()
}

fn count(input: &str, output: &str, in_memory: bool) -> Result<Topology, TopologyError> {
    let materialized = Materialized::named("counts");
    let materialized = if in_memory { materialized.in_memory() } else { materialized };
    let builder = StreamsBuilder::new();
    builder.stream::<String, Bytes>(input).group_by_key().count_with(materialized).to(output);
    builder.build()
}

struct Counts {
    counts: KeyValueStore<String, i64>,
}
impl Processor for Counts {
    type In = Record<String, Bytes>;
    type Out = Record<String, i64>;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        ctx.schedule(Duration::from_secs(1), PunctuationType::WallClockTime);
        Ok(())
    }
    fn process(&mut self, record: Self::In, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let count = self.counts.get(&record.key)?.unwrap_or(0) + 1;
        Ok(self.counts.put(&record.key, &count)?)
    }
    fn punctuate(&mut self, at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        for entry in self.counts.all() {
            let (key, count) = entry?;
            ctx.forward(Record::new(key, count, at.timestamp));
        }
        ctx.request_commit();
        Ok(())
    }
}

fn kip28(input: &str, output: &str, in_memory: bool) -> Result<Topology, TopologyError> {
    let mut topology = Topology::builder();
    let store = stores::key_value::<String, i64>("agg");
    let store = topology.add_state_store(if in_memory { store.in_memory() } else { store });
    let source = topology.add_source::<String, Bytes>("in", input);
    let counts = topology.add_processor_with("agg", &source, &store, |counts| Counts { counts });
    topology.add_sink("out", &counts, output);
    topology.build()
}
