//! What must hold in every state, and what must stay within reach.

use crate::broker::{Fate, Status, last_stable_offset, read_committed};
use crate::model::World;
use crate::process::{Phase, merge};
use crate::rules::{Config, Zombies};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// (a) A running process's base is not the fold of the records below its committed offset, or its layers are not.
    Base,
    /// (b) A fresh process would not restore the fold of the records below the committed offset.
    Restored,
    /// (c) Under exactly once a read_committed output is repeated or wrong.
    OutputRepeatedOrWrong,
    /// (c) An output of a committed record is missing.
    OutputMissing,
    /// (d) A committed offset went back.
    OffsetBack,
    /// (e) Nothing leads to the end of the input any more.
    Stuck,
}

/// Judges one state; `before` is where it came from.
pub(crate) fn violation(config: &Config, before: &World, world: &World) -> Option<Violation> {
    let committed = world.group.committed;
    if committed.offset < before.group.committed.offset {
        return Some(Violation::OffsetBack);
    }
    let judged = |id: usize| config.zombies == Zombies::Judged || world.group.owner == Some(id as u8);
    if !world.processes.iter().enumerate().filter(|(id, process)| process.phase == Phase::Running && judged(*id)).all(
        |(_, process)| {
            let mut top = process.disk.base;
            merge(&mut top, &process.frozen);
            merge(&mut top, &process.epoch);
            process.disk.base == config.fold(process.disk.mark.offset) && top == config.fold(process.next)
        },
    ) {
        return Some(Violation::Base);
    }
    restored(config, world).or_else(|| outputs(config, world))
}

/// The input is committed by a running owner and nothing is under way.
pub(crate) fn quiescent(config: &Config, world: &World) -> bool {
    let end = config.input.len() as u8;
    world.group.committed.offset == end
        && world.group.stable()
        && world.txns.iter().all(|txn| txn.status == Status::Idle)
        && world.group.owner.is_some_and(|owner| {
            let process = &world.processes[owner as usize];
            process.phase == Phase::Running && process.disk.mark.offset == end && !process.paused
        })
}

fn restored(config: &Config, world: &World) -> Option<Violation> {
    let committed = world.group.committed;
    let stable = last_stable_offset(&world.changelog);
    let position = match committed.position {
        _ if committed.number == 0 => 0,
        Some(position) => position,
        None if config.rules.unknown_reads_to_end => world.changelog.len() as u8,
        None => stable,
    };
    if !config.changelog || !world.group.stable() || stable < position {
        return None; // A reader would wait.
    }
    let mut state = [0; 2];
    read_committed(&world.changelog, 0, position, &mut state);
    (state != config.fold(committed.offset)).then_some(Violation::Restored)
}

fn outputs(config: &Config, world: &World) -> Option<Violation> {
    let seen: Vec<(u8, u8)> = world
        .outputs
        .iter()
        .filter(|output| output.fate == Fate::Committed)
        .map(|output| (output.record, output.value))
        .collect();
    let all = config.outputs(config.input.len() as u8);
    if seen.iter().any(|output| !all.contains(output)) || seen.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(Violation::OutputRepeatedOrWrong);
    }
    let due = config.outputs(world.group.committed.offset);
    let decided = world.txns.iter().all(|txn| txn.status != Status::Committing);
    if decided && due.iter().any(|output| !seen.contains(output)) {
        return Some(Violation::OutputMissing);
    }
    if config.exactly_once() && decided && seen.len() != due.len() {
        return Some(Violation::OutputRepeatedOrWrong); // Read as committed, though its record will be processed again.
    }
    None
}
