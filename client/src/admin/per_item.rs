//! One answer per item asked for.

use crate::Error;
use millstream_protocol::ErrorCode;
use millstream_protocol::hash::HashMap;
use std::borrow::Borrow;
use std::hash::Hash;

/// One answer per item asked for. The call itself fails only when nobody could be asked.
#[derive(Debug)]
#[must_use = "single items may have failed"]
pub struct PerItem<K, V>(HashMap<K, Result<V, Error>>);

impl<K: Eq + Hash, V> PerItem<K, V> {
    /// All values, or the first failure.
    ///
    /// # Errors
    ///
    /// The failure of one of the items.
    pub fn all(self) -> Result<std::collections::HashMap<K, V>, Error> {
        self.0.into_iter().map(|(item, answer)| Ok((item, answer?))).collect()
    }
    /// The answer for one item.
    #[must_use]
    pub fn of<Q: Eq + Hash + ?Sized>(&self, item: &Q) -> Option<&Result<V, Error>>
    where
        K: Borrow<Q>,
    {
        self.0.get(item)
    }
    /// Every item's answer, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Result<V, Error>)> {
        self.0.iter()
    }

    pub(super) fn new() -> Self {
        Self(HashMap::default())
    }
    pub(super) fn insert(&mut self, item: K, answer: Result<V, Error>) {
        self.0.insert(item, answer);
    }
}
impl<K: Eq + Hash, V> FromIterator<(K, Result<V, Error>)> for PerItem<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, Result<V, Error>)>>(answers: I) -> Self {
        Self(answers.into_iter().collect())
    }
}

/// The code that decides whether a request for several items is sent again: an error only if every item has one that another try
/// may mend. A retry after a part of the items was done would answer for these with a lie, such as "exists already".
pub(super) fn shared_code(codes: impl IntoIterator<Item = i16>) -> ErrorCode {
    let mut first = ErrorCode::NONE;
    for code in codes.into_iter().map(ErrorCode::new) {
        if !code.is_retriable() {
            return ErrorCode::NONE;
        }
        if !first.is_error() {
            first = code;
        }
    }
    first
}

/// A broker's word on one item, with the sentence that it may have sent along.
pub(super) fn judged(code: i16, message: Option<&str>, operation: &str) -> Result<(), Error> {
    let code = ErrorCode::new(code);
    if !code.is_error() {
        return Ok(());
    }
    let error = Error::broker(code, operation);
    Err(match message.filter(|message| !message.is_empty()) {
        Some(message) => error.reason(format_args!("{} ({}): {message}", code.name(), code.get())),
        None => error.reason(code),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_repeated_only_if_no_item_was_done() {
        let again = ErrorCode::NOT_CONTROLLER.get();
        assert_eq!(shared_code([again, again]), ErrorCode::NOT_CONTROLLER);
        assert_eq!(shared_code([again, 0]), ErrorCode::NONE);
        assert_eq!(shared_code([again, ErrorCode::TOPIC_ALREADY_EXISTS.get()]), ErrorCode::NONE);
        assert_eq!(shared_code([]), ErrorCode::NONE);
    }

    #[test]
    fn a_refusal_tells_the_brokers_sentence() {
        let error = judged(37, Some("Number of partitions is below 1."), "create topic `t`").unwrap_err();
        assert_eq!(error.to_string(), "create topic `t`: INVALID_PARTITIONS (37): Number of partitions is below 1.");
    }
}
