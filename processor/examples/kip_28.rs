//! KIP-28's own example: sums per key, sent on every second of stream time.
//!
//! `cargo run --example kip_28 -- run --bootstrap localhost:9092`; it reads `number-topic` and writes `aggregate-topic`.

use millstream::{prelude::*, stores};
use std::time::Duration;

struct Sums {
    sums: KeyValueStore<String, i64>,
}

impl Processor for Sums {
    type In = Record<String, i64>;
    type Out = NoOutput;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        ctx.schedule(Duration::from_secs(1), PunctuationType::StreamTime);
        Ok(())
    }

    fn process(&mut self, record: Self::In, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        let sum = self.sums.get(&record.key)?.unwrap_or(0) + record.value;
        Ok(self.sums.put(&record.key, &sum)?)
    }

    fn punctuate(&mut self, _at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        for entry in self.sums.all() {
            let (key, sum) = entry?;
            ctx.send("aggregate-topic", &key, &sum);
        }
        Ok(())
    }
}

fn topology() -> Result<Topology, TopologyError> {
    let mut topology = Topology::builder();
    let sums = topology.add_state_store(stores::key_value("sums"));
    let numbers = topology.add_source::<String, i64>("numbers", "number-topic");
    topology.add_processor_with("sum", &numbers, &sums, |sums| Sums { sums });
    topology.build()
}

fn main() -> std::process::ExitCode {
    millstream::cli::main(topology)
}
