//! Those who are, or may become, members of a group: each the same on both sides, under a name of the test's.

use crate::chance::Chance;
use crate::data::text;
use crate::ids::Ids;
use millstream_protocol::messages::StrBytes;

/// Somebody of the classic protocol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    /// A static member's name for itself.
    pub(crate) instance: Option<&'static str>,
}

/// Groups of the classic protocol.
pub(crate) const CLASSIC_GROUPS: &[&str] = &["classic-a", "classic-b"];

pub(crate) const ACTORS: &[Actor] = &[
    Actor { name: "a1", group: "classic-a", instance: None },
    Actor { name: "a2", group: "classic-a", instance: None },
    Actor { name: "a3", group: "classic-a", instance: None },
    Actor { name: "b1", group: "classic-b", instance: None },
    Actor { name: "b2", group: "classic-b", instance: None },
    Actor { name: "b3", group: "classic-b", instance: Some("static-3") },
    Actor { name: "b4", group: "classic-b", instance: Some("static-4") },
];

/// How a request tells who sends it: mostly the truth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) actor: &'static Actor,
    id: Truth,
    instance: Truth,
    generation_off: i32,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Told,
    KeptBack,
    Wrong,
}
impl Claim {
    pub(crate) fn true_of(actor: &'static Actor) -> Self {
        Self { actor, id: Truth::Told, instance: Truth::Told, generation_off: 0 }
    }
    pub(crate) fn choose(chance: &mut Chance) -> Self {
        let actor = chance.pick(ACTORS);
        if chance.below(3) > 0 {
            return Self::true_of(actor);
        }
        let kinds = &[Truth::Told, Truth::Told, Truth::KeptBack, Truth::Wrong];
        Self {
            actor,
            id: *chance.pick(kinds),
            instance: *chance.pick(kinds),
            generation_off: *chance.pick(&[0, 0, -1, 1]),
        }
    }
    /// Whether what is answered is about the actor itself.
    pub(crate) fn is_true(self) -> bool {
        self.id == Truth::Told && self.instance == Truth::Told && self.generation_off == 0
    }
    /// Whether it names a static member by what that one calls itself.
    pub(crate) fn is_named(self) -> bool {
        self.instance == Truth::Told && self.actor.instance.is_some()
    }
    pub(crate) fn member_id(self, ids: &Ids) -> StrBytes {
        match self.id {
            Truth::Told => ids.joined.get(self.actor.name).map(|joined| joined.id.clone()).unwrap_or_default(),
            Truth::KeptBack => StrBytes::new(),
            Truth::Wrong => text("nobody"),
        }
    }
    pub(crate) fn generation(self, ids: &Ids) -> i32 {
        ids.joined.get(self.actor.name).map_or(-1, |joined| joined.generation) + self.generation_off
    }
    /// From the version on that has such names.
    pub(crate) fn instance(self, has_instances: bool) -> Option<StrBytes> {
        if !has_instances {
            return None;
        }
        match self.instance {
            Truth::Told => self.actor.instance.map(text),
            Truth::KeptBack => None,
            Truth::Wrong => Some(text("static-9")),
        }
    }
}
