//! The entries of all layers as one, in byte order, from both ends.

use crate::Blob;
use crate::engine::{Entry, EntryIter, StoreError, Write};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::iter::Peekable;

/// Entries of the layers over entries of the base. Owns all that it needs.
pub(crate) struct Merged {
    /// What the layers have in the range: it hides what the base has under the same key.
    over: VecDeque<(Blob, Option<Blob>)>,
    base: EntryIter,
    front: Option<Entry>,
    back: Option<Entry>,
}

impl Merged {
    /// Of two layers' writes, each sorted by key, the upper hiding the lower, and the base's entries.
    pub(super) fn new<'a>(
        upper: impl Iterator<Item = &'a Write>,
        lower: impl Iterator<Item = &'a Write>,
        base: EntryIter,
    ) -> Self {
        let (mut upper, mut lower) = (upper.peekable(), lower.peekable());
        let mut over = VecDeque::new();
        while let Some(write) = least(&mut upper, &mut lower) {
            over.push_back((write.key.clone(), write.value.clone()));
        }
        Self { over, base, front: None, back: None }
    }
    /// Of the base alone.
    pub(crate) fn of_base(base: EntryIter) -> Self {
        Self { over: VecDeque::new(), base, front: None, back: None }
    }

    fn fill_front(&mut self) -> Result<(), StoreError> {
        if self.front.is_none() {
            self.front = self.base.next().transpose()?.or_else(|| self.back.take());
        }
        Ok(())
    }
    fn fill_back(&mut self) -> Result<(), StoreError> {
        if self.back.is_none() {
            self.back = self.base.next_back().transpose()?.or_else(|| self.front.take());
        }
        Ok(())
    }
}
impl Iterator for Merged {
    type Item = Result<Entry, StoreError>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.fill_front() {
                return Some(Err(error));
            }
            let order = match (self.over.front(), &self.front) {
                (Some((over, _)), Some((base, _))) => over.cmp(base),
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
            };
            if order == Ordering::Greater {
                return self.front.take().map(Ok);
            }
            if order == Ordering::Equal {
                self.front = None;
            }
            if let (key, Some(value)) = self.over.pop_front()? {
                return Some(Ok((key, value)));
            }
        }
    }
}
impl DoubleEndedIterator for Merged {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.fill_back() {
                return Some(Err(error));
            }
            let order = match (self.over.back(), &self.back) {
                (Some((over, _)), Some((base, _))) => over.cmp(base),
                (None, _) => Ordering::Less,
                (_, None) => Ordering::Greater,
            };
            if order == Ordering::Less {
                return self.back.take().map(Ok);
            }
            if order == Ordering::Equal {
                self.back = None;
            }
            if let (key, Some(value)) = self.over.pop_back()? {
                return Some(Ok((key, value)));
            }
        }
    }
}

/// The next write by key; of two of one key, the upper.
fn least<'a>(
    upper: &mut Peekable<impl Iterator<Item = &'a Write>>,
    lower: &mut Peekable<impl Iterator<Item = &'a Write>>,
) -> Option<&'a Write> {
    let order = match (upper.peek(), lower.peek()) {
        (Some(upper), Some(lower)) => upper.key.cmp(&lower.key),
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
    };
    if order == Ordering::Equal {
        lower.next();
    }
    if order == Ordering::Greater { lower.next() } else { upper.next() }
}
