//! The moves: a state in, every state that may follow out. Names of steps and sections are those of the commit protocol.

use crate::broker::{
    Changelog, Commit, Fate, Group, Output, Outputs, PROCESSES, Status, TRANSACTIONAL_IDS, Txn, last_stable_offset,
    read_committed,
};
use crate::process::{Disk, Membership, Phase, Prepared, Process, Step, merge};
use crate::rules::{Config, Faults, Record};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) group: Group,
    pub(crate) txns: [Txn; TRANSACTIONAL_IDS],
    pub(crate) changelog: Changelog,
    pub(crate) outputs: Outputs,
    pub(crate) processes: [Process; PROCESSES],
    pub(crate) lives: u8,
    /// Faults that are left.
    pub(crate) faults: Faults,
}

/// A move; the number is the process, or the transactional id for the coordinator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Start(u8),
    Join(u8),
    TakeTask(u8),
    LearnGeneration(u8),
    LearnLost(u8),
    Rejoin(u8),
    LeaveTask(u8),
    FetchOffsets(u8),
    Restore(u8),
    FenceStuckLso(u8),
    Recheck(u8),
    Process(u8),
    Overflow(u8),
    SendHeld(u8),
    Freeze(u8),
    WriteChangelog(u8),
    Prepare(u8),
    SendOffsets(u8),
    EndTxn(u8),
    EndTxnAnswered(u8),
    EndTxnFenced(u8),
    DropOnUnknown(u8),
    Apply(u8),
    AbortLane(u8),
    InitProducerId(u8),
    AcknowledgeRevocation(u8),
    AskToRevoke,
    Assign(u8),
    Evict(u8),
    EndTxnArrives(u8),
    WriteLogMarkers(u8),
    WriteOffsetsMarker(u8),
    TxnTimeout(u8),
    Crash(u8),
    CrashAndLoseDisk(u8),
    Pause(u8),
    Resume(u8),
    Compact,
    DropTombstones,
}

impl World {
    /// All processes are up and joined, the first has been given the partition.
    pub(crate) fn new(config: &Config) -> Self {
        let mut world = Self {
            group: Group { owner: Some(0), ..Group::default() },
            txns: Default::default(),
            changelog: Changelog::default(),
            outputs: Outputs::default(),
            processes: Default::default(),
            lives: config.processes as u8,
            faults: config.faults,
        };
        for id in 0..config.processes as u8 {
            world.group.members[id as usize] = true;
            *world.process(id) = Process {
                disk: Disk { transactional_id: id, ..Disk::default() },
                phase: if id == 0 { Phase::Fetch } else { Phase::Out },
                life: id + 1,
                membership: Membership::Member,
                generation_current: true,
                epoch_current: true,
                ..Process::default()
            };
        }
        world
    }

    /// Every move that is possible, with the state behind it.
    pub(crate) fn successors(&self, config: &Config, into: &mut Vec<(Move, Self)>) {
        let mut turn = Turn { config, before: self, into };
        for id in 0..config.processes as u8 {
            turn.faults_of(id);
            let process = &self.processes[id as usize];
            if process.paused {
                continue;
            }
            if process.phase == Phase::Down {
                turn.start(id);
                continue;
            }
            turn.membership(id);
            turn.recovery(id);
            turn.work(id);
            turn.commit(id);
            turn.outcome(id);
        }
        turn.group_coordinator();
        turn.transaction_coordinator();
        turn.cleaner();
    }

    pub(crate) fn process(&mut self, id: u8) -> &mut Process {
        &mut self.processes[id as usize]
    }

    /// From here on the task starts nothing new.
    pub(crate) fn asked_to_revoke(&self, id: u8) -> bool {
        self.group.revoking && self.group.owner == Some(id)
    }

    /// A new generation. A driver that is busy or stopped learns it later.
    pub(crate) fn next_generation(&mut self) {
        for process in &mut self.processes {
            process.generation_current = process.membership == Membership::Member && !process.paused && !process.in_txn;
        }
    }

    /// Aborts an open transaction; `InitProducerId`, the timeout and a fence bump the epoch too.
    pub(crate) fn abort(&mut self, transactional_id: u8, bump: bool) {
        if bump {
            for process in self.processes.iter_mut().filter(|p| p.disk.transactional_id == transactional_id) {
                process.epoch_current = false;
            }
        }
        if self.txns[transactional_id as usize].status != Status::Open {
            return;
        }
        let open = Fate::Open(transactional_id);
        self.txns[transactional_id as usize] = Txn::default();
        self.group.pending[transactional_id as usize] = None;
        self.outputs.retain(|output| output.fate != open);
        let aborted: Vec<u8> =
            (0..).zip(self.changelog.iter()).filter(|(_, entry)| entry.fate == open).map(|(at, _)| at).collect();
        self.remove_from_changelog(&aborted);
    }

    /// Takes records out of the log; every position behind one moves down.
    pub(crate) fn remove_from_changelog(&mut self, gone: &[u8]) {
        for &at in gone.iter().rev() {
            self.changelog.remove(at as usize);
            let lower = |position: &mut u8| *position -= (*position > at) as u8;
            let in_commit = |commit: &mut Commit| commit.position.iter_mut().for_each(lower);
            in_commit(&mut self.group.committed);
            self.group.pending.iter_mut().flatten().for_each(in_commit);
            for process in &mut self.processes {
                lower(&mut process.disk.position);
                process.disk.prepared.iter_mut().for_each(|prepared| in_commit(&mut prepared.commit));
                [&mut process.disk.mark, &mut process.commit, &mut process.fetched].into_iter().for_each(in_commit);
            }
        }
    }

    pub(crate) fn has_log_records(&self, transactional_id: u8) -> bool {
        let open = Fate::Open(transactional_id);
        self.changelog.iter().any(|entry| entry.fate == open) || self.outputs.iter().any(|output| output.fate == open)
    }

    /// A transaction whose markers are all written is over.
    pub(crate) fn settle(&mut self, transactional_id: u8) {
        let committing = self.txns[transactional_id as usize].status == Status::Committing;
        if committing
            && !self.has_log_records(transactional_id)
            && self.group.pending[transactional_id as usize].is_none()
        {
            self.txns[transactional_id as usize].status = Status::Idle;
        }
    }

    /// Begins the lane's transaction if none is open; false if the coordinator would not have it now.
    pub(crate) fn begin(&mut self, id: u8) -> bool {
        let process = &mut self.processes[id as usize];
        let txn = &mut self.txns[process.disk.transactional_id as usize];
        if !process.epoch_current || (!process.in_txn && txn.status != Status::Idle) {
            return false;
        }
        if !process.in_txn {
            txn.status = Status::Open;
            process.in_txn = true;
            process.txn_of_member = true;
        }
        true
    }

    /// Sends one output: at once, into the lane's transaction, or into the hold behind a freeze. False if it must wait.
    pub(crate) fn emit(&mut self, config: &Config, id: u8, record: u8, value: u8) -> bool {
        let fate = if !config.exactly_once() {
            Fate::Committed
        } else if self.process(id).step != Step::None {
            self.process(id).held[record as usize] = Some(value);
            return true;
        } else if self.begin(id) {
            Fate::Open(self.process(id).disk.transactional_id)
        } else {
            return false;
        };
        let output = Output { record, value, fate };
        // Under at least once a repeat is the same to every check.
        if config.exactly_once() || !self.outputs.contains(&output) {
            self.outputs.push(output);
            self.outputs.sort();
        }
        true
    }
}

/// One state's successors in the making.
pub(crate) struct Turn<'a> {
    pub(crate) config: &'a Config,
    pub(crate) before: &'a World,
    into: &'a mut Vec<(Move, World)>,
}

impl Turn<'_> {
    pub(crate) fn add(&mut self, name: Move, change: impl FnOnce(&mut World)) {
        self.try_add(name, |world| {
            change(world);
            true
        });
    }

    pub(crate) fn try_add(&mut self, name: Move, change: impl FnOnce(&mut World) -> bool) {
        let mut after = *self.before;
        if change(&mut after) {
            self.into.push((name, after));
        }
    }

    fn start(&mut self, id: u8) {
        if self.before.group.members[id as usize] {
            return; // The old member is still waited for.
        }
        self.try_add(Move::Start(id), |world| {
            let transactional_id = world.process(id).disk.transactional_id;
            match world.txns[transactional_id as usize].status {
                Status::Open => world.abort(transactional_id, true),
                Status::Idle => {
                    world.lives += 1;
                    let life = world.lives;
                    let process = world.process(id);
                    process.phase = Phase::Out;
                    process.life = life;
                    process.epoch_current = true;
                }
                Status::Committing => return false,
            }
            true
        });
    }

    fn membership(&mut self, id: u8) {
        let rules = &self.config.rules;
        let process = &self.before.processes[id as usize];
        let group = &self.before.group;
        let known = group.members[id as usize];
        let owner = group.owner == Some(id);
        let join = |world: &mut World| {
            world.group.members[id as usize] = true;
            world.process(id).membership = Membership::Member;
            world.next_generation();
        };
        match process.membership {
            Membership::None if process.phase == Phase::Out => self.add(Move::Join(id), join),
            Membership::Member if !known => self.add(Move::LearnLost(id), |world| {
                world.process(id).membership = Membership::Lost;
            }),
            Membership::Member if !process.generation_current => self.add(Move::LearnGeneration(id), |world| {
                world.process(id).generation_current = true;
            }),
            Membership::Member if owner && process.phase == Phase::Out => self.add(Move::TakeTask(id), |world| {
                world.process(id).phase = Phase::Fetch;
            }),
            Membership::Member if !owner && process.phase != Phase::Out && process.decided() => {
                self.add(Move::LeaveTask(id), |world| {
                    world.process(id).drop_layers();
                    world.process(id).phase = Phase::Out;
                })
            }
            Membership::Lost if process.decided() => self.add(Move::Rejoin(id), |world| {
                world.process(id).drop_layers();
                world.process(id).phase = Phase::Out;
                join(world);
            }),
            Membership::Lost if rules.keep_lane_when_lost => self.add(Move::Rejoin(id), join),
            _ => {}
        }
        let may_acknowledge = process.decided() || rules.acknowledge_undecided;
        if owner && known && group.revoking && process.membership == Membership::Member && may_acknowledge {
            self.add(Move::AcknowledgeRevocation(id), |world| {
                world.group.owner = None;
                world.group.revoking = false;
                if world.process(id).decided() {
                    world.process(id).drop_layers();
                    world.process(id).phase = Phase::Out;
                }
                world.next_generation();
            });
        }
    }

    fn recovery(&mut self, id: u8) {
        let rules = &self.config.rules;
        let process = &self.before.processes[id as usize];
        if process.membership != Membership::Member {
            return;
        }
        match process.phase {
            Phase::Fetch if self.before.group.stable() || rules.unstable_offsets => {
                self.add(Move::FetchOffsets(id), |world| {
                    let (committed, end) = (world.group.committed, world.changelog.len() as u8);
                    let process = world.process(id);
                    process.fetched = committed;
                    process.phase = Phase::Restore;
                    if committed.number > 0 && committed.position.is_none() && rules.unknown_reads_to_end {
                        process.fetched.position = Some(end);
                    }
                    if let Some(Prepared { commit, batch }) = process.disk.prepared.take()
                        && commit.number == committed.number
                        && (commit.life == committed.life || rules.ignore_life)
                    {
                        merge(&mut process.disk.base, &batch);
                        process.disk.mark = commit;
                        process.disk.position = commit.position.unwrap_or(process.disk.position);
                    }
                })
            }
            Phase::Restore => self.restore(id),
            Phase::Recheck if self.before.group.stable() || rules.unstable_offsets => {
                self.add(Move::Recheck(id), |world| {
                    let committed = world.group.committed;
                    let process = world.process(id);
                    let same = std::mem::take(&mut process.fetched).is_same_as(&committed);
                    process.phase = if same { Phase::Running } else { Phase::Fetch };
                })
            }
            _ => {}
        }
    }

    /// Reads the changelog up to P, once the LSO is there; a stuck LSO is freed by fencing the producer that holds it.
    fn restore(&mut self, id: u8) {
        let rules = &self.config.rules;
        let fetched = self.before.processes[id as usize].fetched;
        let stable = last_stable_offset(&self.before.changelog);
        let target = match fetched.position {
            _ if !self.config.changelog || fetched.number == 0 => 0,
            Some(position) if !rules.restore_to_lso => position,
            _ => stable,
        };
        if target <= stable {
            return self.add(Move::Restore(id), |world| {
                let changelog = world.changelog;
                let process = world.process(id);
                let disk = &mut process.disk;
                if rules.old_state_restores_from_start && disk.too_old && !disk.mark.is_same_as(&fetched) {
                    *disk = Disk { transactional_id: disk.transactional_id, ..Disk::default() };
                }
                read_committed(&changelog, disk.position, target, &mut disk.base);
                disk.position = disk.position.max(target);
                disk.mark = Commit { position: Some(disk.position), ..fetched };
                process.next = fetched.offset;
                process.phase = Phase::Recheck;
                if !rules.recheck_after_restore {
                    process.fetched = Commit::default();
                    process.phase = Phase::Running;
                }
            });
        }
        let Fate::Open(holder) = self.before.changelog[stable as usize].fate else { return };
        if self.before.txns[holder as usize].status == Status::Open && !rules.no_fencing_of_stuck_lso {
            self.add(Move::FenceStuckLso(id), |world| world.abort(holder, true));
        }
    }

    fn work(&mut self, id: u8) {
        let config = self.config;
        let process = &self.before.processes[id as usize];
        let at = process.next as usize;
        if process.phase != Phase::Running
            || process.membership != Membership::Member
            || self.before.asked_to_revoke(id)
        {
            return;
        }
        if process.step == Step::None && process.held.iter().any(Option::is_some) {
            return self.try_add(Move::SendHeld(id), |world| {
                let held = std::mem::take(&mut world.process(id).held);
                (0..).zip(held).all(|(record, value)| value.is_none_or(|value| world.emit(config, id, record, value)))
            });
        }
        let Some(&record) = config.input.get(at) else { return };
        let (key, value) = match record {
            Record::Add(key) | Record::Big(key) => (key, process.read(key) + 1),
            Record::Delete(key) => (key, 0),
            Record::Poison => {
                return self.add(Move::Process(id), |world| world.process(id).next += 1);
            }
        };
        if matches!(record, Record::Big(_)) && !process.overflowing {
            return self.try_add(Move::Overflow(id), |world| {
                world.process(id).overflowing = true;
                world.emit(config, id, at as u8, value)
            });
        }
        self.try_add(Move::Process(id), |world| {
            let sent_before = std::mem::take(&mut world.process(id).overflowing);
            world.process(id).epoch[key] = Some(value);
            world.process(id).next += 1;
            sent_before || world.emit(config, id, at as u8, value)
        });
    }
}
