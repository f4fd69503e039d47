//! The protocols that a member names in JoinGroup, in the order in which it likes them: assignors, each with what it is told.

use crate::broker::bounds::text_weight;
use bytes::Bytes;
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeSet;

/// Names with metadata.
pub(crate) type Protocols = Vec<(StrBytes, Bytes)>;

/// The names that all of these have; none where there is nobody.
pub(super) fn common<'p>(mut all: impl Iterator<Item = &'p Protocols>) -> Option<BTreeSet<&'p StrBytes>> {
    let mut common = names(all.next()?);
    all.for_each(|protocols| {
        let names = names(protocols);
        common.retain(|name| names.contains(name));
    });
    Some(common)
}
fn names(protocols: &Protocols) -> BTreeSet<&StrBytes> {
    protocols.iter().map(|(name, _)| name).collect()
}
/// About how many bytes they take.
pub(super) fn weight(protocols: &Protocols) -> usize {
    protocols.iter().map(|(name, metadata)| text_weight(name) + metadata.len()).sum()
}
