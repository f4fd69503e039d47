//! The SASL mechanisms, by their names and by their numbers in the SCRAM admin APIs.

use super::scram::Hash;

/// A SASL mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mechanism {
    Plain,
    Scram(Hash),
    OauthBearer,
}
impl Mechanism {
    pub(crate) const ALL: [Self; 4] =
        [Self::Plain, Self::Scram(Hash::Sha256), Self::Scram(Hash::Sha512), Self::OauthBearer];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::Scram(Hash::Sha256) => "SCRAM-SHA-256",
            Self::Scram(Hash::Sha512) => "SCRAM-SHA-512",
            Self::OauthBearer => "OAUTHBEARER",
        }
    }
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }
}
