//! What stands before a request's handler.

use super::patches::Patch;
use super::{Operation, ResourceType, Rights};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::Request;

/// An operation on a kind of resource.
pub(crate) type Need = (ResourceType, Operation);

/// The answer to a request of which nothing is done.
pub(crate) type Refuse<R> = fn(&R, ErrorCode) -> <R as Request>::Response;

/// A request whose sender must be allowed what it asks for.
pub(crate) trait Guard: Request {
    /// What may be needed for it.
    const NEEDS: &'static [Need];

    /// Takes out of the request what its sender may not do.
    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response>;
}

/// What a sender may do of what it asked for.
pub(crate) enum Verdict<A> {
    /// What is left of the request; the answer is to be changed.
    Granted(Option<Patch<A>>),
    /// Nothing.
    Denied(ErrorCode),
    /// Nothing, and this is the answer.
    Answered(A),
}
impl<A> Verdict<A> {
    pub(crate) const GRANTED: Self = Self::Granted(None);

    pub(crate) fn granted_if(may: bool, code: ErrorCode) -> Self {
        if may { Self::GRANTED } else { Self::Denied(code) }
    }
    pub(crate) fn patched(change: impl FnOnce(&Rights<'_>, &mut A) + Send + 'static) -> Self {
        Self::Granted(Some(Patch::new(change)))
    }
}

/// Answers that refuse parts of a request, to be joined with the answer to the rest.
pub(super) fn joined<A: Send + 'static>(refused: Vec<A>, join: fn(&mut A, A)) -> Verdict<A> {
    if refused.is_empty() {
        return Verdict::GRANTED;
    }
    Verdict::patched(move |_, answer| refused.into_iter().for_each(|part| join(answer, part)))
}
/// Moves out of a list what may not be.
pub(super) fn split<T>(items: &mut Vec<T>, may: impl Fn(&T) -> bool) -> Vec<T> {
    let (allowed, denied) = std::mem::take(items).into_iter().partition(|item| may(item));
    *items = allowed;
    denied
}
