//! Random messages of every API and version, made after their shapes, and what must hold of them.

mod kafkas_classes;
mod memory_limit;
mod round_trip;
mod sample;

use crate::ApiKey;
use crate::guard::{self, Direction, Shape};

/// A message's kind.
#[derive(Debug, Clone, Copy)]
struct Subject {
    api: ApiKey,
    version: i16,
    direction: Direction,
    shape: &'static Shape,
}

/// Every API at every version in both directions.
fn subjects() -> impl Iterator<Item = Subject> {
    crate::api::all().flat_map(|(api, _)| {
        [Direction::Request, Direction::Response].into_iter().flat_map(move |direction| {
            let shape = guard::shape(api, direction).expect("every API has its shapes");
            (shape.versions.0..=shape.versions.1).map(move |version| Subject { api, version, direction, shape })
        })
    })
}

/// The seed of a run: printed, and set by `MILLSTREAM_SEED`.
fn seed() -> u64 {
    let given = std::env::var("MILLSTREAM_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or(0x6b61_666b_612d_3434);
    println!("MILLSTREAM_SEED={seed}");
    seed
}
