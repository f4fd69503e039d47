//! What one broker said that it offers.

use super::{UnsupportedVersion, VersionRange, negotiate, negotiate_within};
use crate::ApiKey;
use crate::messages::ApiVersionsResponse;

/// The ranges that one broker named on one connection. Ask again after every reconnect.
///
/// ```
/// use millstream_protocol::{ApiKey, api::{BrokerVersions, VersionRange}};
/// let broker: BrokerVersions = [(ApiKey::FETCH, VersionRange::new(4, 17))].into_iter().collect();
/// assert_eq!(broker.negotiate(ApiKey::FETCH), Ok(17));
/// assert_eq!(broker.negotiate_up_to(ApiKey::FETCH, 12), Ok(12));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrokerVersions {
    // Sorted by key, no key twice.
    ranges: Vec<(ApiKey, VersionRange)>,
}

impl BrokerVersions {
    /// What an `ApiVersions` response lists. An API named twice keeps its last range, an empty range counts as absent.
    #[must_use]
    pub fn from_response(response: &ApiVersionsResponse) -> Self {
        let named = response.api_keys.iter();
        named.map(|row| (ApiKey::new(row.api_key), VersionRange::new(row.min_version, row.max_version))).collect()
    }
    /// The broker's range for an API; none when it does not offer it.
    #[must_use]
    pub fn range(&self, api: ApiKey) -> Option<VersionRange> {
        let index = self.ranges.binary_search_by_key(&api, |(key, _)| *key).ok()?;
        self.ranges.get(index).map(|(_, range)| *range)
    }
    /// The highest version that both sides speak.
    ///
    /// # Errors
    ///
    /// When they share none.
    pub fn negotiate(&self, api: ApiKey) -> Result<i16, UnsupportedVersion> {
        negotiate(api, self.range(api))
    }
    /// The highest version that both sides speak and that is at most `max`. (Without topic ids Produce and Fetch end
    /// at 12, OffsetCommit and OffsetFetch at 9.)
    ///
    /// # Errors
    ///
    /// When they share none.
    pub fn negotiate_up_to(&self, api: ApiKey, max: i16) -> Result<i16, UnsupportedVersion> {
        negotiate_within(api, self.range(api), VersionRange::new(0, max))
    }
    /// Every API that the broker offers, by key.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ApiKey, VersionRange)> + '_ {
        self.ranges.iter().copied()
    }
}
impl FromIterator<(ApiKey, VersionRange)> for BrokerVersions {
    fn from_iter<I: IntoIterator<Item = (ApiKey, VersionRange)>>(named: I) -> Self {
        let mut sorted = std::collections::BTreeMap::new();
        for (key, range) in named {
            if range.is_empty() {
                sorted.remove(&key);
            } else {
                sorted.insert(key, range);
            }
        }
        Self { ranges: sorted.into_iter().collect() }
    }
}
