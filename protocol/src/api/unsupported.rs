//! Two sides that share no version of an API.

use super::VersionRange;
use crate::ApiKey;
use std::fmt;

/// This crate and the broker share no version of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedVersion {
    api: ApiKey,
    ours: Option<VersionRange>,
    broker: Option<VersionRange>,
}

impl UnsupportedVersion {
    pub(crate) const fn new(api: ApiKey, ours: Option<VersionRange>, broker: Option<VersionRange>) -> Self {
        Self { api, ours, broker }
    }
    /// The API in question.
    #[must_use]
    pub const fn api(&self) -> ApiKey {
        self.api
    }
    /// What the call could use of what this crate speaks; none when it does not know the API.
    #[must_use]
    pub const fn ours(&self) -> Option<VersionRange> {
        self.ours
    }
    /// What the broker offers; none when it does not name the API.
    #[must_use]
    pub const fn broker(&self) -> Option<VersionRange> {
        self.broker
    }
}
impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let api = self.api;
        match (self.ours, self.broker) {
            (None, _) => {
                write!(f, "API key {} is not known to this client; it needs a newer millstream", api.get())
            }
            (Some(ours), None) => write!(
                f,
                "the broker does not offer {api}, of which this call needs version {ours}; \
                 it needs a newer broker, or one on which the feature is enabled"
            ),
            (Some(ours), Some(broker)) => {
                write!(f, "the broker offers {api} {broker}, and this call needs version {ours}; ")?;
                f.write_str(if ours.min() > broker.max() { "upgrade the broker" } else { "upgrade millstream" })
            }
        }
    }
}
impl std::error::Error for UnsupportedVersion {}
