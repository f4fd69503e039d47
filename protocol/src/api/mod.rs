//! Which APIs and versions there are, and which one two sides agree on.
//!
//! The table is our own; a broker's ranges come from its `ApiVersions` response, for each connection anew
//! (KIP-511, KIP-714: a rolling upgrade changes them).

mod broker;
#[rustfmt::skip]
mod table;
mod unsupported;

pub use broker::BrokerVersions;
pub use unsupported::UnsupportedVersion;

pub(crate) use table::for_each_api;
pub(crate) use unsupported::unspoken;

use crate::ApiKey;
use std::fmt;
use table::NEVER;

/// A range of versions of one API, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionRange {
    min: i16,
    max: i16,
}

impl VersionRange {
    /// From the lowest to the highest version; empty when `min` is above `max`.
    #[must_use]
    pub const fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }
    /// The lowest version.
    #[must_use]
    pub const fn min(self) -> i16 {
        self.min
    }
    /// The highest version.
    #[must_use]
    pub const fn max(self) -> i16 {
        self.max
    }
    /// Whether no version is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.min > self.max
    }
    /// Whether this version is in it.
    #[must_use]
    pub const fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }
    /// What both have; empty when they share nothing.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self { min: self.min.max(other.min), max: self.max.min(other.max) }
    }
}
impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_empty(), self.min == self.max) {
            (true, _) => f.write_str("none"),
            (false, true) => write!(f, "{}", self.min),
            (false, false) => write!(f, "{}–{}", self.min, self.max),
        }
    }
}

struct Row {
    key: ApiKey,
    versions: VersionRange,
    newest_stable: i16,
    first_flexible: i16,
}

impl Row {
    fn stable(&self) -> VersionRange {
        VersionRange::new(self.versions.min, self.newest_stable)
    }
}

macro_rules! rows {
    ($($name:ident $key:ident $request:ident $response:ident $min:literal $stable:literal $max:literal $flexible:tt $whose:ident;)*) => {
        // In the order of the keys.
        const TABLE: &[Row] = &[$(Row {
            key: ApiKey::$key,
            versions: VersionRange::new($min, $max),
            newest_stable: $stable,
            first_flexible: $flexible,
        },)*];
    };
}
for_each_api!(rows);

fn row(api: ApiKey) -> Option<&'static Row> {
    TABLE.binary_search_by_key(&api, |row| row.key).ok().and_then(|index| TABLE.get(index))
}

/// The versions of `api` that this crate writes and reads, in both directions: all of Kafka 4.4's schemas. None for an API
/// that they do not have.
///
/// ```
/// use millstream_protocol::{ApiKey, api};
/// assert_eq!(api::supported(ApiKey::METADATA), Some(api::VersionRange::new(0, 13)));
/// assert_eq!(api::supported(ApiKey::new(4000)), None);
/// ```
#[must_use]
pub fn supported(api: ApiKey) -> Option<VersionRange> {
    row(api).map(|row| row.versions)
}

/// The versions of `api` that Kafka 4.4 has settled on: those that a broker offers unasked, and that [`negotiate`] goes by.
///
/// The newest version of an API may be under work still. A broker offers it only with `unstable.api.versions.enable`.
///
/// ```
/// use millstream_protocol::{ApiKey, api};
/// assert_eq!(api::supported(ApiKey::INIT_PRODUCER_ID), Some(api::VersionRange::new(0, 6)));
/// assert_eq!(api::stable(ApiKey::INIT_PRODUCER_ID), Some(api::VersionRange::new(0, 5)));
/// ```
#[must_use]
pub fn stable(api: ApiKey) -> Option<VersionRange> {
    row(api).map(Row::stable)
}

/// Every API that this crate speaks, with its stable versions (see [`stable`]), by key.
#[must_use]
pub fn all() -> impl ExactSizeIterator<Item = (ApiKey, VersionRange)> + Clone {
    TABLE.iter().map(|row| (row.key, row.stable()))
}

/// Whether a version has compact types and tagged fields (KIP-482). False for an unknown API.
#[must_use]
pub fn is_flexible(api: ApiKey, version: i16) -> bool {
    row(api).is_some_and(|row| row.first_flexible != NEVER && version >= row.first_flexible)
}

/// The version of the header before a request: 2 with a flexible body, else 1. (Version 0 was for
/// ControlledShutdown 0 alone, which Kafka 4 no longer has.)
#[must_use]
pub fn request_header_version(api: ApiKey, version: i16) -> i16 {
    if is_flexible(api, version) { 2 } else { 1 }
}

/// The version of the header before a response: 1 with a flexible body, else 0.
///
/// `ApiVersions` has 0 always: whoever asks does not yet know what the broker speaks (KIP-511).
#[must_use]
pub fn response_header_version(api: ApiKey, version: i16) -> i16 {
    i16::from(api != ApiKey::API_VERSIONS && is_flexible(api, version))
}

/// The highest version that both this crate and the broker speak, versions under work left out.
///
/// `broker` is the range from the broker's `ApiVersions` response, none when it does not name the API.
///
/// ```
/// use millstream_protocol::{ApiKey, api};
/// let broker = api::VersionRange::new(0, 9);
/// assert_eq!(api::negotiate(ApiKey::METADATA, Some(broker)), Ok(9));
/// assert!(api::negotiate(ApiKey::METADATA, None).is_err());
/// ```
///
/// # Errors
///
/// When the two share no version; the error says what each has and what to do.
pub fn negotiate(api: ApiKey, broker: Option<VersionRange>) -> Result<i16, UnsupportedVersion> {
    negotiate_within(api, broker, VersionRange::new(0, i16::MAX))
}

/// Like [`negotiate`], with only the versions in `wanted`: a call may need a feature that came late, or must stay
/// below a version whose fields it cannot fill (no topic ids: Produce and Fetch up to 12, OffsetCommit and OffsetFetch up
/// to 9, TxnOffsetCommit up to 5).
///
/// # Errors
///
/// When nothing is left.
pub fn negotiate_within(
    api: ApiKey,
    broker: Option<VersionRange>,
    wanted: VersionRange,
) -> Result<i16, UnsupportedVersion> {
    agree(api, stable(api), broker, wanted)
}

/// Like [`negotiate_within`], and takes a version under work, too, where the broker offers it.
///
/// ```
/// use millstream_protocol::{ApiKey, api};
/// let broker = Some(api::VersionRange::new(0, 6));
/// assert_eq!(api::negotiate(ApiKey::INIT_PRODUCER_ID, broker), Ok(5));
/// let any = api::VersionRange::new(0, i16::MAX);
/// assert_eq!(api::negotiate_unstable(ApiKey::INIT_PRODUCER_ID, broker, any), Ok(6));
/// ```
///
/// # Errors
///
/// When nothing is left.
pub fn negotiate_unstable(
    api: ApiKey,
    broker: Option<VersionRange>,
    wanted: VersionRange,
) -> Result<i16, UnsupportedVersion> {
    agree(api, supported(api), broker, wanted)
}

fn agree(
    api: ApiKey,
    ours: Option<VersionRange>,
    broker: Option<VersionRange>,
    wanted: VersionRange,
) -> Result<i16, UnsupportedVersion> {
    let ours = ours.map(|range| range.intersect(wanted));
    match (ours, broker) {
        (Some(ours), Some(broker)) if !ours.intersect(broker).is_empty() => Ok(ours.intersect(broker).max()),
        _ => Err(UnsupportedVersion::new(api, ours, broker)),
    }
}
