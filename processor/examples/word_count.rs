//! Counts words: `cargo run --example word_count -- run --bootstrap localhost:9092`.

use millstream::prelude::*;

fn main() -> std::process::ExitCode {
    millstream::cli::main(topology) // word_count run --bootstrap localhost:9092
}

fn topology() -> Result<Topology, TopologyError> {
    let builder = StreamsBuilder::new();
    builder
        .stream::<(), String>("lines")
        .flat_map_values(|line| line.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
        .group_by(|(), word| word.clone())
        .count_with("counts")
        .to("word-counts");
    builder.build()
}
