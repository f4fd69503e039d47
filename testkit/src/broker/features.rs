//! Features that the cluster has agreed on (KIP-584): which there are, which levels are known, which is in force.

use super::call::Refusal;
use super::transactions::transaction::Edition;
use super::versions::Release;
use millstream_protocol::ErrorCode;

/// The least level of the metadata with which other features can be in force, and with which eligible leader replicas can.
const LEAST_METADATA: i16 = 7;
const METADATA_OF_ELIGIBLE_REPLICAS: i16 = 23;
/// Of a broker that knows no features.
const NO_EPOCH: i64 = -1;

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    pub(crate) lowest: i16,
    pub(crate) highest: i16,
    /// Zero: not in force.
    pub(crate) level: i16,
}

impl Feature {
    fn check_move(&self, level: i16, change: Change, node: i32) -> Result<(), Refusal> {
        let (lowest, highest) = (self.lowest, self.highest);
        let reason = match (self.name, change) {
            _ if !(lowest..=highest).contains(&level) => {
                &*format!("Local controller {node} only supports versions {lowest}-{highest}")
            }
            _ if level == self.level => return Ok(()),
            (_, Change::SafeDowngrade | Change::UnsafeDowngrade) if level > self.level => {
                "Can't downgrade to a newer version."
            }
            _ if level > self.level => return Ok(()),
            (_, Change::Upgrade) => {
                "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
            }
            ("kraft.version", _) => "Can't downgrade the version of this feature.",
            ("metadata.version", _) => {
                return Err((ErrorCode::INVALID_UPDATE_VERSION, self.no_downgrade(level, change)));
            }
            _ => return Ok(()),
        };
        Err(invalid(self.name, level, reason))
    }
    /// Why the format of the metadata cannot go back.
    fn no_downgrade(&self, level: i16, change: Change) -> String {
        let reason = match change {
            Change::UnsafeDowngrade => "Unsafe metadata downgrade is not supported in this version.",
            _ => "Refusing to perform the requested downgrade because it might delete metadata information.",
        };
        format!("Unsupported {} downgrade from {} to {level}. {reason}", self.name, self.level)
    }
}

/// What UpdateFeatures allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Upgrade,
    SafeDowngrade,
    UnsafeDowngrade,
    /// Of a kind that Kafka does not know.
    Unknown,
}

/// All features, by name.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    features: Vec<Feature>,
    /// Grows with each change.
    pub(crate) epoch: i64,
}
impl Features {
    /// Those of Kafka 4.4, but share and streams groups, at their highest levels.
    pub(crate) fn new(transaction_version: i16, group_version: i16) -> Self {
        let row = |name, lowest, highest, level| Feature { name, lowest, highest, level };
        let features = vec![
            row("eligible.leader.replicas.version", 0, 1, 1),
            row("group.version", 0, 1, group_version),
            row("kraft.version", 0, 1, 1),
            row("metadata.version", 7, 33, 33),
            row("transaction.version", 0, 2, transaction_version),
        ];
        Self { features, epoch: 1 }
    }
    /// Those that an older release has; one without features has none, and no epoch of them.
    pub(crate) fn of_release(mut self, release: Release) -> Self {
        self.features.retain_mut(|feature| {
            let Some((lowest, highest)) = release.levels(feature.name, (feature.lowest, feature.highest)) else {
                return false;
            };
            let level = if release.finalizes(feature.name) { feature.level.min(highest) } else { 0 };
            *feature = Feature { name: feature.name, lowest, highest, level };
            true
        });
        if !release.has_features() {
            self.features.clear();
            self.epoch = NO_EPOCH;
        }
        self
    }
    pub(crate) fn all(&self) -> &[Feature] {
        &self.features
    }
    pub(crate) fn level(&self, name: &str) -> i16 {
        self.features.iter().find(|feature| feature.name == name).map_or(0, |feature| feature.level)
    }
    /// Whether groups of the consumer protocol are on (KIP-848).
    pub(crate) fn has_consumer_groups(&self) -> bool {
        self.level("group.version") >= 1
    }
    /// Whether replicas may lead that were in sync until there were too few (KIP-966).
    pub(crate) fn has_eligible_replicas(&self) -> bool {
        self.level("eligible.leader.replicas.version") >= 1
    }
    /// Which protocol transactions follow: 2 is KIP-890's.
    pub(crate) fn transaction_version(&self) -> i16 {
        self.level("transaction.version")
    }
    /// In which edition the coordinator ends transactions by itself.
    pub(crate) fn edition(&self) -> Edition {
        if self.transaction_version() >= 2 { Edition::Second } else { Edition::First }
    }
    /// Whether a feature may be brought to a level, next to a level of the metadata; says what is wrong in Kafka's words.
    pub(crate) fn check(
        &self,
        (name, level): (&str, i16),
        change: Change,
        metadata: i16,
        node: i32,
    ) -> Result<(), Refusal> {
        if change == Change::Unknown {
            return Err(invalid(name, level, "The controller does not support the given upgrade type."));
        }
        if level < 0 {
            return Err(invalid(name, level, "A feature version cannot be less than 0."));
        }
        let Some(feature) = self.features.iter().find(|feature| feature.name == name) else {
            let reason = match level {
                0 => format!("Feature {name} not found."),
                _ => format!("Local controller {node} does not support this feature."),
            };
            return Err(invalid(name, level, &reason));
        };
        feature.check_move(level, change, node)?;
        lacks(name, level, metadata).map_or(Ok(()), |what| {
            let reason = format!("{name} could not be set to {level} because it depends on {what}");
            Err(invalid(name, level, &reason))
        })
    }
    /// Brings a feature to a level that was checked.
    pub(crate) fn set(&mut self, name: &str, level: i16) {
        let Some(feature) = self.features.iter_mut().find(|feature| feature.name == name) else { return };
        if feature.level != level {
            feature.level = level;
            self.epoch += 1;
        }
    }
}

/// What a feature's level needs of the metadata, if that is not at such a level.
fn lacks(name: &str, level: i16, metadata: i16) -> Option<&'static str> {
    match name {
        "metadata.version" | "kraft.version" => None,
        _ if level >= 1 && metadata < LEAST_METADATA => Some("metadata.version=7 (3.3-IV3)"),
        "eligible.leader.replicas.version" if level >= 1 && metadata < METADATA_OF_ELIGIBLE_REPLICAS => {
            Some("metadata.version level 23")
        }
        _ => None,
    }
}
fn invalid(name: &str, level: i16, reason: &str) -> Refusal {
    (ErrorCode::INVALID_UPDATE_VERSION, format!("Invalid update version {level} for feature {name}. {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(name: &str, level: i16, change: Change, metadata: i16) -> Option<String> {
        let features = Features::new(1, 0);
        let (_, sentence) = features.check((name, level), change, metadata, 1).err()?;
        Some(sentence.rsplit(". ").next().unwrap_or_default().to_owned())
    }

    /// What a request asks of the metadata counts, even if that is refused for itself.
    #[test]
    fn a_feature_depends_on_the_metadata_that_is_asked_for_with_it() {
        let told = |name, metadata| reason(name, 1, Change::Upgrade, metadata);
        assert_eq!(told("group.version", 7), None);
        assert_eq!(
            told("group.version", -1).as_deref(),
            Some("group.version could not be set to 1 because it depends on metadata.version=7 (3.3-IV3)"),
        );
        let eligible = "eligible.leader.replicas.version";
        assert_eq!(told(eligible, 23), None);
        assert_eq!(
            told(eligible, 22),
            Some(format!("{eligible} could not be set to 1 because it depends on metadata.version level 23")),
        );
    }

    #[test]
    fn no_downgrade_leads_to_a_newer_version() {
        let told = reason("group.version", 1, Change::SafeDowngrade, 33);
        assert_eq!(told.as_deref(), Some("Can't downgrade to a newer version."));
        assert_eq!(reason("transaction.version", 1, Change::SafeDowngrade, 33), None, "it is at that version");
    }
}
