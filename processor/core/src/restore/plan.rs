//! One store's part of a recovery: which prepared batch was committed, whether its base may stay, and what is read into it.

use super::{Committed, Mark, StateSource, StoreFacts};
use crate::commit::store_hash;
use millstream_protocol::{Offset, Timestamp};
use millstream_state::CommitId;
use std::time::Duration;

/// What a store does to become what is committed. In this order: the prepared batches, the base, the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorePlan {
    /// The prepared batch whose commit is the committed one: it becomes part of the base. Every other one is discarded; it was
    /// kept until this was decided.
    pub applies: Option<CommitId>,
    /// What becomes of its base.
    pub base: BaseVerdict,
    /// The changelog's records from here on are read into it …
    pub from: Offset,
    /// … up to here.
    pub to: ReadTo,
}

/// What becomes of a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be decided")]
pub enum BaseVerdict {
    /// It stays.
    Keep,
    /// It is older than its changelog keeps tombstones: what was deleted meanwhile would come back.
    ClearTooOld,
    /// It is ahead of what is committed: offsets were reset or have expired, or the changelog was made anew.
    ClearAhead,
    /// The changelog is off and another owner has committed meanwhile: it starts empty, and says so.
    ClearForeign,
    /// The changelog is off and nothing is here, though there was something: it starts empty, and says so.
    StartsEmpty,
}

/// How far a changelog is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be decided")]
pub enum ReadTo {
    /// Not at all: the base is as committed.
    Nothing,
    /// To this P, waiting until the last stable offset is there. A P beyond the log's end: the changelog has lost data.
    Position(Offset),
    /// To the end that the log has now (read_uncommitted, asked after the fetch), waiting for the last stable offset as for any P.
    End,
}

impl StorePlan {
    /// Whether anything is read.
    #[must_use]
    pub const fn reads(&self) -> bool {
        !matches!(self.to, ReadTo::Nothing)
    }
}

/// One store's plan.
#[must_use]
pub fn plan(store: &StoreFacts, committed: &Committed, now: Timestamp) -> StorePlan {
    let applied = store.prepared.iter().find(|mark| mark.commit.is_some() && mark.commit == committed.commit());
    let mark = applied.or(store.mark.as_ref()).copied();
    let applies = applied.and_then(|mark| mark.commit);
    let is_current = mark.is_some_and(|mark| mark.commit.is_some() && mark.commit == committed.commit());
    match store.source {
        StateSource::Nowhere => local(applies, mark, is_current, committed),
        StateSource::Changelog { delete_retention } => {
            let to = if committed.is_none() {
                ReadTo::Position(Offset::new(0))
            } else {
                committed.position_of(store_hash(&store.name)).map_or(ReadTo::End, ReadTo::Position)
            };
            from_log(applies, mark.map(|mark| aged(mark, is_current, delete_retention, now)), to)
        }
        StateSource::Input { at, delete_retention } => {
            let offset =
                committed.inputs().get(at).and_then(Option::as_ref).map_or(Offset::new(0), |input| input.offset);
            from_log(applies, mark.map(|mark| aged(mark, is_current, delete_retention, now)), ReadTo::Position(offset))
        }
    }
}

/// A base's position, or that it is too old to be brought forward.
#[derive(Debug, Clone, Copy)]
enum Base {
    At(Offset),
    TooOld,
}

/// The age counts only if others have committed since: a store that is as committed misses no tombstone.
fn aged(mark: Mark, is_current: bool, delete_retention: Duration, now: Timestamp) -> Base {
    let margin = (delete_retention / 10).min(LONGEST_MARGIN);
    let is_old = now.as_millis() > (mark.time + (delete_retention - margin)).as_millis();
    if is_old && !is_current { Base::TooOld } else { Base::At(mark.position) }
}

fn from_log(applies: Option<CommitId>, base: Option<Base>, to: ReadTo) -> StorePlan {
    let anew = |verdict| StorePlan { applies, base: verdict, from: Offset::new(0), to: read(Offset::new(0), to) };
    match (base, to) {
        (None, _) => anew(BaseVerdict::Keep),
        (Some(Base::TooOld), _) => anew(BaseVerdict::ClearTooOld),
        (Some(Base::At(position)), ReadTo::Position(end)) if position > end => anew(BaseVerdict::ClearAhead),
        (Some(Base::At(position)), _) => {
            StorePlan { applies, base: BaseVerdict::Keep, from: position, to: read(position, to) }
        }
    }
}

fn read(from: Offset, to: ReadTo) -> ReadTo {
    if to == ReadTo::Position(from) { ReadTo::Nothing } else { to }
}

/// Without a changelog a store is as committed, or it is empty.
fn local(applies: Option<CommitId>, mark: Option<Mark>, is_current: bool, committed: &Committed) -> StorePlan {
    let base = match mark {
        Some(_) if is_current => BaseVerdict::Keep,
        Some(_) => BaseVerdict::ClearForeign,
        None if committed.is_none() => BaseVerdict::Keep,
        None => BaseVerdict::StartsEmpty,
    };
    StorePlan { applies, base, from: Offset::new(0), to: ReadTo::Nothing }
}

/// Clocks differ, and the log cleaner is not punctual.
const LONGEST_MARGIN: Duration = Duration::from_secs(3600);
