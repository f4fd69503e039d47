//! Features that the cluster has agreed on (KIP-584): which there are, which levels are known, which is in force.

use super::transactions::transaction::Edition;
use super::versions::Release;
use millstream_protocol::ErrorCode;

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
    /// Which protocol transactions follow: 2 is KIP-890's.
    pub(crate) fn transaction_version(&self) -> i16 {
        self.level("transaction.version")
    }
    /// In which edition the coordinator ends transactions by itself.
    pub(crate) fn edition(&self) -> Edition {
        if self.transaction_version() >= 2 { Edition::Second } else { Edition::First }
    }
    /// Whether a feature may be brought to a level; says what is wrong in Kafka's words.
    pub(crate) fn check(&self, name: &str, level: i16, change: Change, node: i32) -> Result<(), (ErrorCode, String)> {
        let invalid = |reason: String| {
            Err((
                ErrorCode::INVALID_UPDATE_VERSION,
                format!("Invalid update version {level} for feature {name}. {reason}"),
            ))
        };
        if change == Change::Unknown {
            return invalid("The controller does not support the given upgrade type.".to_owned());
        }
        if level < 0 {
            return invalid("A feature version cannot be less than 0.".to_owned());
        }
        let Some(feature) = self.features.iter().find(|feature| feature.name == name) else {
            return invalid(match level {
                0 => format!("Feature {name} not found."),
                _ => format!("Local controller {node} does not support this feature."),
            });
        };
        if !(feature.lowest..=feature.highest).contains(&level) {
            let (lowest, highest) = (feature.lowest, feature.highest);
            return invalid(format!("Local controller {node} only supports versions {lowest}-{highest}"));
        }
        if level >= feature.level {
            return Ok(());
        }
        match (name, change) {
            (_, Change::Upgrade) => invalid("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.".to_owned()),
            ("kraft.version", _) => invalid("Can't downgrade the version of this feature.".to_owned()),
            ("metadata.version", _) => Err((ErrorCode::INVALID_UPDATE_VERSION, feature.no_downgrade(level, change))),
            _ => Ok(()),
        }
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
