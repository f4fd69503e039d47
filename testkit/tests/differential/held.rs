//! JoinGroup and SyncGroup are answered when others have done their part: each goes over a connection of its member's own, and is compared
//! when both sides have answered. An answer that only one side gives is a difference.

use crate::classic::JOINS_STATICALLY;
use crate::data::text;
use crate::ids::{Ids, Joined};
use crate::members::{ACTORS, Actor, CLASSIC_GROUPS, Claim};
use crate::pair::{ADMINISTRATOR, Kind, Pair, Side};
use crate::wire::Heard;
use millstream_protocol::messages::join_group_response::JoinGroupResponseMember;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::{
    DescribeGroupsRequest, DescribeGroupsResponse, GroupId, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, StrBytes, SyncGroupRequest, SyncGroupResponse,
};
use millstream_protocol::{ApiKey, ErrorCode};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long nothing is heard of questions that are held back.
const QUIET: Duration = Duration::from_millis(25);
/// How long a side may take to answer what the other has answered.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one listens at a time.
const MOMENT: Duration = Duration::from_millis(1);

/// A question that may be held back.
pub(crate) struct Held {
    claim: Claim,
    version: i16,
    what: What,
    asked: String,
    ours: Option<Reply>,
    real: Option<Reply>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Join,
    Sync,
}
impl What {
    const fn api(self) -> ApiKey {
        match self {
            Self::Join => ApiKey::JOIN_GROUP,
            Self::Sync => ApiKey::SYNC_GROUP,
        }
    }
}
#[derive(Debug, Clone)]
enum Reply {
    Join(JoinGroupResponse),
    Sync(SyncGroupResponse),
    Ended,
}
impl Held {
    fn told(&self) -> String {
        format!("{:?} {} of {}: {}", self.what, self.version, self.claim.actor.name, self.asked)
    }
    /// Listens on both sides; says whether something came.
    fn hear(&mut self, ours: &mut Side, real: &mut Side) -> bool {
        let before = (self.ours.is_some(), self.real.is_some());
        if self.ours.is_none() {
            self.ours = self.listen(ours);
        }
        if self.real.is_none() {
            self.real = self.listen(real);
        }
        before != (self.ours.is_some(), self.real.is_some())
    }
    fn listen(&self, side: &mut Side) -> Option<Reply> {
        let wire = side.wire_of(self.claim.actor.name);
        match self.what {
            What::Join => heard(wire.receive::<JoinGroupRequest>(self.version, MOMENT), Reply::Join),
            What::Sync => heard(wire.receive::<SyncGroupRequest>(self.version, MOMENT), Reply::Sync),
        }
    }
}
fn heard<A>(heard: Heard<A>, reply: impl Fn(A) -> Reply) -> Option<Reply> {
    match heard {
        Heard::Answer(answer) => Some(reply(answer)),
        Heard::Ended => Some(Reply::Ended),
        Heard::Nothing => None,
    }
}

impl Pair {
    pub(crate) fn is_held(&self, actor: &Actor) -> bool {
        self.held.iter().any(|held| held.claim.actor == actor)
    }
    /// Sends a JoinGroup to both; [`Self::settle`] takes the answers.
    pub(crate) fn send_join(&mut self, claim: Claim, version: i16, make: impl Fn(&Ids) -> JoinGroupRequest) {
        for side in [&mut self.ours, &mut self.real] {
            let request = make(&side.ids);
            side.wire_of(claim.actor.name).send(version, &request);
        }
        let asked = format!("{:?}", make(&self.ours.ids));
        self.hold(claim, version, What::Join, asked);
    }
    /// Sends a SyncGroup to both; [`Self::settle`] takes the answers.
    pub(crate) fn send_sync(&mut self, claim: Claim, version: i16, make: impl Fn(&Ids) -> SyncGroupRequest) {
        for side in [&mut self.ours, &mut self.real] {
            let request = make(&side.ids);
            side.wire_of(claim.actor.name).send(version, &request);
        }
        let asked = format!("{:?}", make(&self.ours.ids));
        self.hold(claim, version, What::Sync, asked);
    }
    fn hold(&mut self, claim: Claim, version: i16, what: What, asked: String) {
        self.held.push(Held { claim, version, what, asked, ours: None, real: None });
    }
    /// Hangs up for whoever has left while it waited for its assignment: it waits for ever.
    pub(crate) fn forget_held_sync(&mut self, actor: &Actor) {
        let is_its = |held: &mut Held| held.claim.actor == actor && held.what == What::Sync;
        for held in self.held.extract_if(.., is_its).collect::<Vec<_>>() {
            self.ours.wire_of(held.claim.actor.name).end();
            self.real.wire_of(held.claim.actor.name).end();
        }
    }
    /// Takes the answers that come, until both sides are silent, and compares them; groups that still hold some back are in the same state.
    pub(crate) fn settle(&mut self) {
        self.take_answers();
        while let Some(group) = self.split.pop_first() {
            self.empty(group);
            self.take_answers();
        }
        CLASSIC_GROUPS.iter().for_each(|group| ask_state(self, group));
    }
    fn take_answers(&mut self) {
        let done = self.hear_all();
        self.learn(&done);
        done.iter().for_each(|held| self.compare_held(held));
        self.compare_leaders(&done);
    }
    /// Lets all members of a group go: whoever comes first then leads it, on both sides.
    fn empty(&mut self, group: &'static str) {
        let members = || ACTORS.iter().filter(|actor| actor.group == group);
        let make = |ids: &Ids| {
            let identity = |actor: &Actor| {
                let member_id = ids.joined.get(actor.name)?.id.clone();
                let identity = MemberIdentity::default().with_member_id(member_id);
                Some(identity.with_group_instance_id(actor.instance.map(text)))
            };
            let leaving = LeaveGroupRequest::default().with_group_id(GroupId(text(group)));
            leaving.with_members(members().filter_map(identity).collect())
        };
        self.ask_as(ADMINISTRATOR, Kind::Writes, 5, make, tidy_left);
        for actor in members() {
            self.forget_held_sync(actor);
            self.ours.ids.joined.remove(actor.name);
            self.real.ids.joined.remove(actor.name);
        }
    }
    fn hear_all(&mut self) -> Vec<Held> {
        let (mut done, mut heard_at) = (Vec::new(), Instant::now());
        while !self.held.is_empty() {
            let Self { held, ours, real, .. } = self;
            let news = held.iter_mut().map(|held| held.hear(ours, real)).filter(|came| *came).count();
            if news > 0 {
                heard_at = Instant::now();
            }
            done.extend(held.extract_if(.., |held| held.ours.is_some() && held.real.is_some()));
            let limit =
                if held.iter().any(|held| held.ours.is_some() || held.real.is_some()) { PATIENCE } else { QUIET };
            if heard_at.elapsed() > limit {
                break;
            }
        }
        self.give_up_on_half_answered();
        done.sort_by_key(|held| held.claim.actor.name);
        done
    }
    fn give_up_on_half_answered(&mut self) {
        let is_half = |held: &mut Held| held.ours.is_some() || held.real.is_some();
        for held in self.held.extract_if(.., is_half).collect::<Vec<_>>() {
            let what = held.told();
            let ours = tidied(held.ours.as_ref(), &self.ours.ids);
            let real = tidied(held.real.as_ref(), &self.real.ids);
            self.report(&what, &ours, &real);
            for side in [&mut self.ours, &mut self.real] {
                side.wire_of(held.claim.actor.name).end();
                side.ids.joined.remove(held.claim.actor.name);
            }
        }
    }
    fn learn(&mut self, done: &[Held]) {
        for held in done {
            learn(&mut self.ours.ids, held.claim, held.ours.as_ref());
            learn(&mut self.real.ids, held.claim, held.real.as_ref());
        }
    }
    fn compare_held(&mut self, held: &Held) {
        let ours = tidied(held.ours.as_ref(), &self.ours.ids);
        let real = tidied(held.real.as_ref(), &self.real.ids);
        self.tell(&held.told(), &ours);
        if ours != real {
            return self.report(&held.told(), &ours, &real);
        }
        if !matches!(held.ours, Some(Reply::Ended)) {
            self.answered.entry(held.what.api()).or_default().insert(held.version);
        }
    }

    /// Who leads is the same, unless the last leader has gone: then Kafka takes whom its map of random ids names first, and the group
    /// begins anew.
    fn compare_leaders(&mut self, done: &[Held]) {
        let groups: BTreeSet<&'static str> = done.iter().map(|held| held.claim.actor.group).collect();
        for group in groups {
            let of_group = || done.iter().filter(|held| held.claim.actor.group == group);
            let ours: Vec<_> = of_group().filter_map(|held| joined(held.version, held.ours.as_ref())).collect();
            let real: Vec<_> = of_group().filter_map(|held| joined(held.version, held.real.as_ref())).collect();
            if !ours.is_empty() && !real.is_empty() {
                let mut ours = Led::read(&ours, &self.ours.ids);
                let mut real = Led::read(&real, &self.real.ids);
                if ours.names_instances != real.names_instances {
                    ours.forget_instances();
                    real.forget_instances();
                }
                self.compare_led(group, &ours, &real);
            }
        }
    }
    fn compare_led(&mut self, group: &'static str, ours: &Led, real: &Led) {
        let last = self.leaders.get(group);
        let is_chosen_anew = last.is_none_or(|last| !ours.present.contains(last));
        let (told_ours, told_real) = (format!("{:#?}", ours.members), format!("{:#?}", real.members));
        if (!is_chosen_anew && ours.leaders != real.leaders) || told_ours != told_real {
            let (ours, real) = (format!("{:?}\n{told_ours}", ours.leaders), format!("{:?}\n{told_real}", real.leaders));
            self.report(&format!("what the leader of {group} is told"), &ours, &real);
        }
        match ours.leaders.first() {
            Some(leader) if ours.leaders == real.leaders => {
                self.leaders.insert(group, leader.clone());
            }
            _ => {
                self.leaders.remove(group);
                self.split.insert(group);
            }
        }
    }
}

/// What the members of one generation were told of their leader.
struct Led {
    leaders: BTreeSet<StrBytes>,
    present: BTreeSet<StrBytes>,
    members: Vec<JoinGroupResponseMember>,
    /// Whether the leader's version tells who is a static member: two that were chosen by chance may have asked in two versions.
    names_instances: bool,
}
impl Led {
    fn read(joined: &[(i16, &JoinGroupResponse)], ids: &Ids) -> Self {
        let names_instances =
            joined.iter().any(|(version, joined)| !joined.members.is_empty() && *version >= JOINS_STATICALLY);
        let joined = || joined.iter().map(|(_, joined)| *joined);
        let mut members: Vec<JoinGroupResponseMember> = joined().flat_map(|joined| joined.members.clone()).collect();
        members.iter_mut().for_each(|member| member.member_id = ids.tidy_member(&member.member_id));
        members.sort_by(|one, other| one.member_id.cmp(&other.member_id));
        Self {
            leaders: joined().map(|joined| ids.tidy_member(&joined.leader)).collect(),
            present: joined().map(|joined| ids.tidy_member(&joined.member_id)).collect(),
            members,
            names_instances,
        }
    }
    fn forget_instances(&mut self) {
        self.members.iter_mut().for_each(|member| member.group_instance_id = None);
    }
}
fn joined(version: i16, reply: Option<&Reply>) -> Option<(i16, &JoinGroupResponse)> {
    match reply {
        Some(Reply::Join(response)) if response.error_code == 0 => Some((version, response)),
        _ => None,
    }
}
fn learn(ids: &mut Ids, claim: Claim, reply: Option<&Reply>) {
    let name = claim.actor.name;
    let Some(Reply::Join(response)) = reply else { return };
    match ErrorCode::new(response.error_code) {
        ErrorCode::NONE => {
            ids.learn_member(&response.member_id);
            let leads = response.leader == response.member_id;
            let joined = Joined { id: response.member_id.clone(), generation: response.generation_id, leads };
            ids.joined.insert(name, joined);
        }
        ErrorCode::MEMBER_ID_REQUIRED => {
            ids.learn_member(&response.member_id);
            ids.joined.insert(name, Joined { id: response.member_id.clone(), generation: -1, leads: false });
        }
        ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::FENCED_INSTANCE_ID if claim.is_true() => {
            ids.joined.remove(name);
        }
        _ => {}
    }
}
fn tidied(reply: Option<&Reply>, ids: &Ids) -> String {
    match reply {
        Some(Reply::Join(response)) => {
            let member_id = ids.tidy_member(&response.member_id);
            let rest = response.clone().with_member_id(member_id).with_members(Vec::new());
            format!("{:#?}", rest.with_leader(StrBytes::new()))
        }
        Some(Reply::Sync(response)) => format!("{response:#?}"),
        Some(Reply::Ended) => "the connection ends".to_owned(),
        None => "nothing".to_owned(),
    }
}

/// Asks for a group's state until both say the same.
pub(crate) fn ask_state(pair: &mut Pair, group: &str) {
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text(group))]);
    pair.ask_as(ADMINISTRATOR, Kind::Reads, 5, |_| request.clone(), tidy_described);
}
pub(crate) fn tidy_left(response: &mut LeaveGroupResponse, ids: &mut Ids) {
    for member in &mut response.members {
        member.member_id = ids.tidy_member(&member.member_id);
    }
}
pub(crate) fn tidy_described(response: &mut DescribeGroupsResponse, ids: &mut Ids) {
    response.groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    for group in &mut response.groups {
        group.members.iter_mut().for_each(|member| member.member_id = ids.tidy_member(&member.member_id));
        group.members.sort_by(|one, other| {
            (&one.member_id, &one.group_instance_id).cmp(&(&other.member_id, &other.group_instance_id))
        });
    }
}
