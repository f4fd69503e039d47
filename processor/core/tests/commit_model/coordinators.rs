//! The cluster's moves, and the faults.

use crate::broker::{Fate, Group, PROCESSES, Status, TRANSACTIONAL_IDS, Txn, superseded, tombstones};
use crate::model::{Move, Turn};
use crate::process::{Disk, Phase};
use crate::rules::Faults;

impl Turn<'_> {
    pub(crate) fn group_coordinator(&mut self) {
        let Group { members, owner, revoking, .. } = self.before.group;
        for id in 0..self.config.processes as u8 {
            let process = &self.before.processes[id as usize];
            let silent = process.paused || process.phase == Phase::Down || (revoking && owner == Some(id));
            if members[id as usize] && silent {
                self.add(Move::Evict(id), |world| {
                    world.group.members[id as usize] = false;
                    if owner == Some(id) {
                        world.group.owner = None;
                        world.group.revoking = false;
                    }
                    world.next_generation();
                });
            }
            if members[id as usize] && owner.is_none() {
                self.add(Move::Assign(id), |world| {
                    world.group.owner = Some(id);
                    world.next_generation();
                });
            }
        }
        if owner.is_some() && !revoking && self.before.faults.moves > 0 {
            self.add(Move::AskToRevoke, |world| {
                world.faults.moves -= 1;
                world.group.revoking = true;
            });
        }
    }

    pub(crate) fn transaction_coordinator(&mut self) {
        for id in 0..TRANSACTIONAL_IDS as u8 {
            let txn = self.before.txns[id as usize];
            match txn.status {
                Status::Idle => {}
                Status::Open => {
                    if txn.end_on_wire {
                        self.add(Move::EndTxnArrives(id), |world| {
                            world.txns[id as usize] = Txn { status: Status::Committing, end_on_wire: false };
                            world.settle(id);
                        });
                    }
                    let alive = self.before.processes.iter().any(|process| {
                        process.disk.transactional_id == id && process.phase != Phase::Down && !process.paused
                    });
                    if !alive || self.before.faults.timeouts > 0 {
                        self.add(Move::TxnTimeout(id), |world| {
                            world.faults.timeouts -= alive as u8;
                            world.abort(id, true);
                        });
                    }
                }
                Status::Committing => self.markers(id),
            }
        }
    }

    /// A commit's markers reach the logs and the group coordinator in either order.
    fn markers(&mut self, id: u8) {
        let open = Fate::Open(id);
        if self.before.has_log_records(id) {
            self.add(Move::WriteLogMarkers(id), |world| {
                let fates = world.changelog.iter_mut().map(|entry| &mut entry.fate);
                fates
                    .chain(world.outputs.iter_mut().map(|output| &mut output.fate))
                    .filter(|fate| **fate == open)
                    .for_each(|fate| {
                        *fate = Fate::Committed;
                    });
                world.outputs.sort();
                world.settle(id);
            });
        }
        if self.before.group.pending[id as usize].is_some() {
            self.add(Move::WriteOffsetsMarker(id), |world| {
                let pending = world.group.pending[id as usize].take();
                world.group.committed = pending.expect("it was seen above");
                world.settle(id);
            });
        }
    }

    pub(crate) fn cleaner(&mut self) {
        let faults = self.before.faults;
        let superseded = superseded(&self.before.changelog);
        let tombstones = tombstones(&self.before.changelog);
        if faults.compactions > 0 && !superseded.is_empty() {
            self.add(Move::Compact, |world| {
                world.faults.compactions -= 1;
                world.remove_from_changelog(&superseded);
            });
        }
        if faults.tombstone_drops > 0 && superseded.is_empty() && !tombstones.is_empty() {
            self.add(Move::DropTombstones, |world| {
                world.faults.tombstone_drops -= 1;
                let last = *tombstones.last().expect("it is not empty");
                for disk in world.processes.iter_mut().map(|process| &mut process.disk) {
                    disk.too_old |= disk.position <= last;
                }
                world.remove_from_changelog(&tombstones);
            });
        }
    }

    pub(crate) fn faults_of(&mut self, id: u8) {
        let process = &self.before.processes[id as usize];
        let Faults { crashes, wipes, pauses, .. } = self.before.faults;
        if process.phase != Phase::Down && crashes > 0 {
            self.add(Move::Crash(id), |world| {
                world.faults.crashes -= 1;
                world.process(id).crash();
            });
            if wipes > 0 && process.disk.mark.number + process.disk.prepared.is_some() as u8 > 0 {
                self.add(Move::CrashAndLoseDisk(id), |world| {
                    world.faults.crashes -= 1;
                    world.faults.wipes -= 1;
                    world.process(id).crash();
                    world.process(id).disk = Disk { transactional_id: PROCESSES as u8, ..Disk::default() };
                });
            }
        }
        if process.paused {
            self.add(Move::Resume(id), |world| world.process(id).paused = false);
        } else if pauses > 0 && !matches!(process.phase, Phase::Down | Phase::Out) {
            self.add(Move::Pause(id), |world| {
                world.faults.pauses -= 1;
                world.process(id).paused = true;
            });
        }
    }
}
