//! Which versions of which APIs a cluster speaks: those of a Kafka release, as far as this broker serves them, but for what a test has set.

mod release;
mod table;

pub(crate) use release::Release;

use millstream_protocol::ApiKey;
use millstream_protocol::api::VersionRange;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(crate) struct Versions {
    release: Release,
    set: BTreeMap<ApiKey, VersionRange>,
}
impl Versions {
    /// A release's, but for some.
    pub(crate) fn new(release: Release, set: &[(ApiKey, VersionRange)]) -> Self {
        Self { release, set: set.iter().copied().collect() }
    }
    /// Lets an API have only these versions; none with an empty range.
    pub(crate) fn set(&mut self, api: ApiKey, range: VersionRange) {
        self.set.insert(api, range);
    }
    /// What of an API is spoken, of what is served.
    pub(crate) fn spoken(&self, api: ApiKey, served: VersionRange) -> Option<VersionRange> {
        let wanted = match self.set.get(&api) {
            Some(range) => *range,
            None => self.release.versions(api)?,
        };
        Some(served.intersect(wanted)).filter(|range| !range.is_empty())
    }
    /// Why a request is not answered, if that is not Kafka's doing but this broker's: the release had the version, and Kafka 4.4's schemas,
    /// from which this broker is made, have it no more.
    pub(crate) fn lost(&self, api: ApiKey, version: i16, served: Option<VersionRange>) -> Option<String> {
        let is_of_release = self.release.versions(api).is_some_and(|range| range.contains(version));
        let is_served = served.is_some_and(|range| range.contains(version));
        (is_of_release && !is_served && !self.set.contains_key(&api)).then(|| {
            format!(
                "{api} {version} is a version of Kafka {} that this broker cannot serve: Kafka 4.4's schemas do not have it",
                self.release
            )
        })
    }
}
