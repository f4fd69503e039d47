//! K-17: once nothing is wrong any more, everything is read within a bounded time.

use super::{Checker, Event, History, Policy, Violation};

pub(super) fn check(history: &History, policy: &Policy, found: &mut Vec<Violation>) {
    let when = |wanted: &Event| history.events().find(|(_, _, event)| *event == wanted).map(|(at, _, _)| at);
    let Some(healed) = when(&Event::Healed) else { return };
    let caught_up = when(&Event::CaughtUp);
    if caught_up.is_none_or(|at| at > healed + policy.catch_up) {
        let text = match caught_up {
            Some(at) => format!("healed at {healed:?}, caught up at {at:?}; it may take {:?}", policy.catch_up),
            None => format!("healed at {healed:?}, and never caught up"),
        };
        found.push(Violation::new(Checker::K17, "liveness", text));
    }
}
