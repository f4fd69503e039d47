//! Breadth first search over every state, so that the first violation has the shortest trace; then, backwards from the
//! quiescent states, whether each state can still reach one (a question "eventually" properties do not ask).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use crate::check::{Violation, quiescent, violation};
use crate::model::{Move, World};
use crate::rules::Config;

/// What a run found.
pub(crate) struct Report {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) depth: usize,
    pub(crate) violation: Option<(Violation, Vec<Move>, World)>,
}

/// Explores everything, up to the first violation.
pub(crate) fn explore(config: &Config) -> Report {
    let mut graph = Graph::new(World::new(config));
    let mut successors = Vec::new();
    let mut at = 0;
    while at < graph.worlds.len() {
        let world = graph.worlds[at];
        world.successors(config, &mut successors);
        for (name, next) in successors.drain(..) {
            let id = graph.insert(at as u32, name, next);
            if let Some(found) = violation(config, &world, &next) {
                graph.came_from[id as usize] = (at as u32, name);
                return graph.report(Some((found, id)));
            }
        }
        at += 1;
    }
    let stuck = graph.first_stuck(config);
    graph.report(stuck.map(|id| (Violation::Stuck, id)))
}

struct Graph {
    worlds: Vec<World>,
    /// By a 64-bit fingerprint: two states out of ten million share one with a chance of 3 in a million.
    ids: HashMap<u64, u32, BuildHasherDefault<Passed>>,
    came_from: Vec<(u32, Move)>,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn new(first: World) -> Self {
        let mut graph = Self { worlds: Vec::new(), ids: HashMap::default(), came_from: Vec::new(), edges: Vec::new() };
        graph.insert(0, Move::Compact, first);
        graph
    }

    fn insert(&mut self, from: u32, name: Move, world: World) -> u32 {
        let next = self.worlds.len() as u32;
        let id = match self.ids.entry(BuildHasherDefault::<Mixed>::default().hash_one(world)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.worlds.push(world);
                self.came_from.push((from, name));
                *free.insert(next)
            }
        };
        self.edges.push((from, id));
        id
    }

    /// The first state found from which no quiescent state can be reached.
    fn first_stuck(&self, config: &Config) -> Option<u32> {
        let mut starts = vec![0u32; self.worlds.len() + 1];
        self.edges.iter().for_each(|&(_, to)| starts[to as usize + 1] += 1);
        (0..self.worlds.len()).for_each(|at| starts[at + 1] += starts[at]);
        let mut ends = starts.clone();
        let mut sources = vec![0u32; self.edges.len()];
        for &(from, to) in &self.edges {
            sources[ends[to as usize] as usize] = from;
            ends[to as usize] += 1;
        }
        let mut reaches: Vec<bool> = self.worlds.iter().map(|world| quiescent(config, world)).collect();
        let mut queue: Vec<u32> = (0..self.worlds.len() as u32).filter(|&id| reaches[id as usize]).collect();
        while let Some(id) = queue.pop() {
            for &from in &sources[starts[id as usize] as usize..starts[id as usize + 1] as usize] {
                if !std::mem::replace(&mut reaches[from as usize], true) {
                    queue.push(from);
                }
            }
        }
        reaches.iter().position(|reached| !reached).map(|id| id as u32)
    }

    fn trace(&self, mut id: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        while id != 0 {
            let (from, name) = self.came_from[id as usize];
            moves.push(name);
            id = from;
        }
        moves.reverse();
        moves
    }

    fn report(&self, found: Option<(Violation, u32)>) -> Report {
        Report {
            states: self.worlds.len(),
            steps: self.edges.len(),
            depth: self.trace(self.worlds.len() as u32 - 1).len(),
            violation: found.map(|(violation, id)| (violation, self.trace(id), self.worlds[id as usize])),
        }
    }
}

/// A fast hash of plain data, mixed at the end so that its 64 bits serve as a fingerprint.
#[derive(Default)]
struct Mixed(u64);

impl Mixed {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        self.0 = (product as u64) ^ (product >> 64) as u64 ^ self.0.rotate_left(23);
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.fold(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.fold(value);
    }
    fn write_usize(&mut self, value: usize) {
        self.fold(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.fold(value as u64);
    }
    fn finish(&self) -> u64 {
        let mut mixed = Self(self.0);
        mixed.fold(0x2545_f491_4f6c_dd1d);
        mixed.fold(self.0);
        mixed.0
    }
}

/// The key is a fingerprint already.
#[derive(Default)]
struct Passed(u64);

impl Hasher for Passed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64")
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
