//! Kafka's releases, and what tells them apart.

use super::table::CHANGES;
use millstream_protocol::ApiKey;
use millstream_protocol::api::VersionRange;
use std::fmt;
use std::str::FromStr;

/// A release, by its place in [`CHANGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(usize);

/// A name that is no release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no release that the test cluster can speak as; there are {known}", known = Release::names())]
pub(crate) struct UnknownRelease(String);

/// JoinGroup lost its two oldest versions in 4.0.0 and got them back in 4.0.1 (KAFKA-19444).
const JOIN_GROUP_OF_4_0: VersionRange = VersionRange::new(2, 9);

/// A feature that 4.0 knew, and 4.1 switched on.
const ELIGIBLE_REPLICAS: &str = "eligible.leader.replicas.version";

impl Release {
    /// The versions of an API that its brokers had.
    pub(super) fn versions(self, api: ApiKey) -> Option<VersionRange> {
        if api == ApiKey::JOIN_GROUP && self.name() == "4.0.0" {
            return Some(JOIN_GROUP_OF_4_0);
        }
        let changes = CHANGES.iter().take(self.0 + 1).rev().flat_map(|(_, changes)| *changes);
        let highest = changes.filter(|(key, _)| ApiKey::new(*key) == api).map(|(_, highest)| *highest).next()?;
        (highest >= 0).then(|| VersionRange::new(0, highest))
    }
    /// All of them, for whoever named another.
    fn names() -> String {
        CHANGES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
    fn name(self) -> &'static str {
        CHANGES.get(self.0).map_or("", |(name, _)| *name)
    }
    /// Whether it is this release or one after it.
    pub(crate) fn is_since(self, name: &str) -> bool {
        CHANGES.iter().position(|(known, _)| *known == name).is_some_and(|at| self.0 >= at)
    }
    /// Whether its brokers tell of features at all.
    pub(crate) fn has_features(self) -> bool {
        self.is_since("3.3")
    }
    /// The lowest and the highest level that it knows of a feature; none if it does not know it. Of Kafka 4.4 all is known.
    pub(crate) fn levels(self, feature: &str, (lowest, highest): (i16, i16)) -> Option<(i16, i16)> {
        let since = |name: &str| self.is_since(name).then_some((lowest, highest));
        match feature {
            "metadata.version" => self.metadata_versions().or_else(|| since("4.4")),
            "kraft.version" => since("3.9"),
            "group.version" | "transaction.version" | ELIGIBLE_REPLICAS => since("4.0.0"),
            "share.version" => since("4.1"),
            "streams.version" => since("4.2"),
            _ => since("4.4"),
        }
    }
    /// Whether a new cluster of its brokers has a feature in force.
    pub(crate) fn finalizes(self, feature: &str) -> bool {
        feature != ELIGIBLE_REPLICAS || self.is_since("4.1")
    }
    /// Levels of `metadata.version`; the lowest rose to that of 3.3 with 4.0.
    fn metadata_versions(self) -> Option<(i16, i16)> {
        let levels = match self.name() {
            "3.3" => (1, 7),
            "3.4" => (1, 8),
            "3.5" => (1, 11),
            "3.6" => (1, 14),
            "3.7" => (1, 19),
            "3.8" => (1, 20),
            "3.9" => (1, 21),
            "4.0.0" | "4.0" => (7, 25),
            "4.1" => (7, 27),
            "4.2" => (7, 29),
            "4.3" => (7, 30),
            _ => return None,
        };
        Some(levels)
    }
}
impl Default for Release {
    /// The newest.
    fn default() -> Self {
        Self(CHANGES.len() - 1)
    }
}
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl FromStr for Release {
    type Err = UnknownRelease;

    /// `2.8`, and `2.8.1` or `v2.8` for the same; only of 4.0 the first release was another than those after it.
    fn from_str(text: &str) -> Result<Self, UnknownRelease> {
        let plain = text.strip_prefix('v').unwrap_or(text);
        let is_it = |name: &str| plain == name || plain.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let at = CHANGES.iter().position(|(name, _)| is_it(name));
        at.map(Self).ok_or_else(|| UnknownRelease(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_protocol::api;

    fn highest(release: &str, api: ApiKey) -> Option<i16> {
        release.parse::<Release>().unwrap().versions(api).map(VersionRange::max)
    }

    #[test]
    fn releases_have_what_their_kips_brought() {
        for (release, api, expected) in [
            ("0.11", ApiKey::PRODUCE, Some(3)),
            ("0.11.0.3", ApiKey::SASL_AUTHENTICATE, None),
            ("1.0", ApiKey::SASL_AUTHENTICATE, Some(0)),
            ("2.0", ApiKey::METADATA, Some(6)),
            ("2.1", ApiKey::METADATA, Some(7)),
            ("2.7", ApiKey::METADATA, Some(9)),
            ("v2.8.2", ApiKey::METADATA, Some(11)),
            ("3.0", ApiKey::FETCH, Some(12)),
            ("3.1", ApiKey::FETCH, Some(13)),
            ("3.2", ApiKey::DESCRIBE_USER_SCRAM_CREDENTIALS, Some(0)),
            ("3.3", ApiKey::DESCRIBE_USER_SCRAM_CREDENTIALS, None),
            ("3.5", ApiKey::DESCRIBE_USER_SCRAM_CREDENTIALS, Some(0)),
            ("3.6", ApiKey::CONSUMER_GROUP_HEARTBEAT, None),
            ("3.7", ApiKey::CONSUMER_GROUP_HEARTBEAT, Some(0)),
            ("3.9", ApiKey::PRODUCE, Some(11)),
            ("4.0.0", ApiKey::PRODUCE, Some(12)),
            ("4.0.2", ApiKey::PRODUCE, Some(12)),
        ] {
            assert_eq!(highest(release, api), expected, "{api} in {release}");
        }
        let lowest =
            |release: &str| release.parse::<Release>().unwrap().versions(ApiKey::JOIN_GROUP).map(VersionRange::min);
        assert_eq!((lowest("4.0.0"), lowest("4.0"), lowest("4.0.2")), (Some(2), Some(0), Some(0)));
        assert!("0.10".parse::<Release>().is_err());
        assert!("4.5".parse::<Release>().is_err());
        let error = "5.0".parse::<Release>().unwrap_err().to_string();
        assert!(
            error.starts_with("`5.0` is no release that the test cluster can speak as; there are 0.11, 1.0, "),
            "{error}"
        );
    }

    #[test]
    fn the_newest_release_is_what_the_schemas_have() {
        for (api, _) in api::all() {
            let Some(told) = Release::default().versions(api) else { continue };
            assert_eq!(Some(told.max()), api::stable(api).map(VersionRange::max), "{api}");
        }
    }
}
