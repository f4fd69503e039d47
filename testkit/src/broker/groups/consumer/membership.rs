//! Who a heartbeat comes from: new members, known ones, static ones that come back under another id.

use super::member::{AWAY, Assignment, Member, MemberState, Owned};
use super::{ConsumerGroup, Context};
use crate::broker::call::Refusal;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ErrorCode, Timestamp};

/// What a heartbeat says of its sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) id: &'a StrBytes,
    pub(super) instance_id: Option<&'a StrBytes>,
    pub(super) epoch: i32,
    pub(super) owned: Option<&'a Assignment>,
}

/// How the sender of a heartbeat gets in.
#[derive(Debug)]
pub(super) enum Admission {
    Known,
    New,
    /// It is back under another id.
    Replaces(StrBytes),
}

impl ConsumerGroup {
    pub(super) fn unknown(&self, member_id: &str) -> Refusal {
        (ErrorCode::UNKNOWN_MEMBER_ID, format!("Member {member_id} is not a member of group {}.", self.id))
    }
    pub(super) fn check_room(&self, member_id: &str, max_size: usize) -> Result<(), Refusal> {
        if self.members.len() < max_size || self.members.contains_key(member_id.as_bytes()) {
            return Ok(());
        }
        let sentence = format!("The consumer group has reached its maximum capacity of {max_size} members.");
        Err((ErrorCode::GROUP_MAX_SIZE_REACHED, sentence))
    }
    /// Says how the sender gets in, if it does.
    pub(super) fn check_admission(&self, claim: &Claim<'_>) -> Result<Admission, Refusal> {
        match claim.instance_id {
            None => self.check_dynamic(claim),
            Some(instance_id) if claim.epoch == 0 => self.check_joining_static(claim, instance_id),
            Some(instance_id) => {
                check_epoch(self.check_static(claim.id, instance_id)?, claim).map(|()| Admission::Known)
            }
        }
    }
    fn check_dynamic(&self, claim: &Claim<'_>) -> Result<Admission, Refusal> {
        match self.members.get(claim.id) {
            Some(member) => check_epoch(member, claim).map(|()| Admission::Known),
            None if claim.epoch == 0 => Ok(Admission::New),
            None => Err(self.unknown(claim.id)),
        }
    }
    fn check_joining_static(&self, claim: &Claim<'_>, instance_id: &StrBytes) -> Result<Admission, Refusal> {
        match self.find_static(instance_id) {
            None => Ok(Admission::New),
            // One of the classic protocol never says that it comes back.
            Some(holder) if holder.epoch == AWAY || holder.classic.is_some() => {
                Ok(Admission::Replaces(holder.id.clone()))
            }
            // Also of the holder itself: it does not say that it is the one.
            Some(holder) => {
                let sentence = format!(
                    "Static member {} with instance id {instance_id} cannot join the group because the instance id is owned by {} member.",
                    claim.id, holder.id
                );
                Err((ErrorCode::UNRELEASED_INSTANCE_ID, sentence))
            }
        }
    }
    /// Takes the sender in, who may be.
    pub(super) fn admit(&mut self, claim: &Claim<'_>, admission: Admission, now: Timestamp) {
        match admission {
            Admission::Known => {}
            Admission::New => {
                let instance_id = claim.instance_id.cloned();
                self.members.insert(claim.id.clone(), Member { instance_id, ..Member::new(claim.id.clone(), now) });
            }
            Admission::Replaces(old_id) => self.replace(&old_id, claim.id, now),
        }
    }
    /// Finds a static member by both its ids.
    pub(super) fn check_static(&self, member_id: &str, instance_id: &str) -> Result<&Member, Refusal> {
        let unknown = || (ErrorCode::UNKNOWN_MEMBER_ID, format!("Instance id {instance_id} is unknown."));
        let holder = self.find_static(instance_id).ok_or_else(unknown)?;
        if holder.id.as_str() == member_id {
            return Ok(holder);
        }
        let sentence =
            format!("Static member {member_id} with instance id {instance_id} was fenced by member {}.", holder.id);
        Err((ErrorCode::FENCED_INSTANCE_ID, sentence))
    }
    /// A static member is back under another id: it takes over the target of its old self, and what that had is free.
    pub(super) fn replace(&mut self, old_id: &StrBytes, id: &StrBytes, now: Timestamp) {
        let Some(old) = self.members.remove(old_id) else { return };
        let member = Member {
            id: id.clone(),
            epoch: 0,
            previous_epoch: 0,
            state: MemberState::Stable,
            assigned: Owned::new(),
            revoking: Owned::new(),
            session_until: now,
            revoke_until: None,
            ..old
        };
        let target = self.targets.remove(old_id).unwrap_or_default();
        self.targets.insert(id.clone(), target);
        self.members.insert(id.clone(), member);
    }
    pub(super) fn remove(&mut self, id: &StrBytes) {
        self.members.remove(id);
        self.targets.remove(id);
        self.note_subscriptions();
        self.forget_expressions();
    }
    /// Lets a member go, for a while if it is static and says so.
    pub(super) fn leave(&mut self, claim: &Claim<'_>, ctx: &Context<'_>) -> Result<(), Refusal> {
        if let Some(instance_id) = claim.instance_id {
            self.check_static(claim.id, instance_id)?;
        }
        let Some(member) = self.members.get_mut(claim.id) else { return Err(self.unknown(claim.id)) };
        if claim.epoch == AWAY {
            member.epoch = AWAY;
            member.revoking = Owned::new();
            member.revoke_until = None;
            return Ok(());
        }
        let id = member.id.clone();
        self.remove(&id);
        self.bump_after_loss(ctx);
        Ok(())
    }
}

/// The epoch has to be the member's own. Zero begins anew; the one before may be meant if the answer that told the new one was lost.
fn check_epoch(member: &Member, claim: &Claim<'_>) -> Result<(), Refusal> {
    let relation = match claim.epoch.cmp(&member.epoch) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => "greater",
        std::cmp::Ordering::Less if claim.epoch == 0 => return Ok(()),
        std::cmp::Ordering::Less if claim.epoch == member.previous_epoch && member.owns_no_more(claim.owned) => {
            return Ok(());
        }
        std::cmp::Ordering::Less => "smaller",
    };
    let sentence = format!(
        "The consumer group member has a {relation} member epoch ({}) than the one known by the group coordinator ({}). The member must abandon all its partitions and rejoin.",
        claim.epoch, member.epoch
    );
    Err((ErrorCode::FENCED_MEMBER_EPOCH, sentence))
}
