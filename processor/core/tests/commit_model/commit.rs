//! Steps 1 to 6 of a lane's commit, and what ends them otherwise.

use crate::broker::{Commit, Entry, Fate, Status};
use crate::model::{Move, Turn};
use crate::process::{Layer, Membership, Phase, Prepared, Step, merge};
use crate::rules::Config;

impl Turn<'_> {
    /// Steps 1 to 5.
    pub(crate) fn commit(&mut self, id: u8) {
        let Config { rules, changelog, .. } = *self.config;
        let process = &self.before.processes[id as usize];
        if process.phase != Phase::Running || process.membership != Membership::Member {
            return;
        }
        match process.step {
            Step::None => {
                let held = process.held.iter().any(Option::is_some);
                let overflows = process.overflowing && rules.overflow_holds_freeze;
                if process.next == process.disk.mark.offset || held || overflows || self.before.asked_to_revoke(id) {
                    return;
                }
                self.try_add(Move::Freeze(id), |world| {
                    let process = world.process(id);
                    process.frozen = std::mem::take(&mut process.epoch);
                    process.frozen_offset = process.next;
                    process.step = Step::Frozen;
                    world.begin(id)
                });
            }
            Step::Frozen if process.epoch_current || rules.plain_producer => {
                self.add(Move::WriteChangelog(id), |world| {
                    let process = world.processes[id as usize];
                    let fate =
                        if rules.plain_producer { Fate::Committed } else { Fate::Open(process.disk.transactional_id) };
                    for (key, value) in (0..).zip(process.frozen).filter(|_| changelog) {
                        if let Some(value) = value {
                            world.changelog.push(Entry { key, value, fate });
                        }
                    }
                    let position = if process.frozen != Layer::default() && changelog {
                        Some(world.changelog.len() as u8)
                    } else {
                        rules.carries_p.then_some(process.disk.position)
                    };
                    let process = world.process(id);
                    let used = if rules.fresh_numbers { process.last_number } else { 0 };
                    process.last_number = process.disk.mark.number.max(used) + 1;
                    process.commit = Commit {
                        offset: process.frozen_offset,
                        number: process.last_number,
                        life: process.life,
                        position,
                    };
                    process.step = Step::Logged;
                })
            }
            Step::Logged => self.add(Move::Prepare(id), |world| {
                let process = world.process(id);
                if process.frozen != Layer::default() && !rules.no_prepared_batch {
                    process.disk.prepared = Some(Prepared { commit: process.commit, batch: process.frozen });
                }
                process.step = Step::Prepared;
            }),
            Step::Prepared => {
                let accepted =
                    self.before.group.members[id as usize] && process.generation_current && process.epoch_current;
                if accepted && (process.txn_of_member || rules.keep_lane_when_lost) {
                    self.add(Move::SendOffsets(id), |world| {
                        let process = *world.process(id);
                        world.group.pending[process.disk.transactional_id as usize] = Some(process.commit);
                        world.process(id).step = Step::OffsetsSent;
                    });
                }
            }
            Step::OffsetsSent if process.epoch_current => self.add(Move::EndTxn(id), |world| {
                let transactional_id = world.process(id).disk.transactional_id;
                world.txns[transactional_id as usize].end_on_wire = true;
                world.process(id).step = Step::Ending;
            }),
            _ => {}
        }
    }

    /// Steps 5 and 6, and the lane's abort. These go on while the process knows that it is lost.
    pub(crate) fn outcome(&mut self, id: u8) {
        let rules = &self.config.rules;
        let process = &self.before.processes[id as usize];
        let transactional_id = process.disk.transactional_id;
        let status = self.before.txns[transactional_id as usize].status;
        if process.step == Step::Ending {
            if process.epoch_current && matches!(status, Status::Committing | Status::Idle) {
                self.add(Move::EndTxnAnswered(id), |world| world.process(id).step = Step::Committed);
            }
            if !process.epoch_current && rules.fenced_reads_outcome {
                self.add(Move::EndTxnFenced(id), |world| {
                    world.process(id).drop_layers();
                    let lost = world.process(id).membership == Membership::Lost;
                    world.process(id).phase = if lost { Phase::Out } else { Phase::Fetch };
                });
            }
            if rules.drop_on_unknown {
                self.add(Move::DropOnUnknown(id), |world| {
                    world.process(id).drop_layers();
                    world.process(id).disk.prepared = None;
                });
            }
        }
        if process.step == Step::Committed || (process.step == Step::Ending && rules.apply_before_outcome) {
            self.add(Move::Apply(id), |world| {
                let process = world.process(id);
                merge(&mut process.disk.base, &process.frozen);
                process.disk.mark = process.commit;
                process.disk.position = process.commit.position.unwrap_or(process.disk.position);
                process.disk.prepared = None;
                process.frozen = Layer::default();
                process.frozen_offset = 0;
                process.commit = Commit::default();
                process.step = Step::None;
                process.in_txn = false;
                process.txn_of_member = false;
            });
        }
        let undecided = process.in_txn && !matches!(process.step, Step::Ending | Step::Committed);
        let asked = self.before.asked_to_revoke(id);
        let refused = process.step == Step::Prepared && !self.before.group.members[id as usize];
        let lost = process.membership == Membership::Lost;
        if undecided && (asked || refused || lost || !process.epoch_current) {
            self.add(Move::AbortLane(id), |world| {
                if world.process(id).epoch_current {
                    world.abort(transactional_id, false);
                }
                world.process(id).drop_layers();
                if refused {
                    world.process(id).membership = Membership::Lost;
                }
            });
        }
        if !process.epoch_current && !process.in_txn && status == Status::Idle {
            self.add(Move::InitProducerId(id), |world| world.process(id).epoch_current = true);
        }
    }
}
