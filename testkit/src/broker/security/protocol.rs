//! Kafka's `security.protocol`.

use std::fmt;
use std::str::FromStr;

/// How a listener is secured: Kafka's `security.protocol`, and the value in `listener.security.protocol.map`.
///
/// ```
/// use millstream_testkit::SecurityProtocol;
///
/// assert_eq!("SASL_SSL".parse(), Ok(SecurityProtocol::SaslSsl));
/// assert!(SecurityProtocol::SaslSsl.uses_tls());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SecurityProtocol {
    /// Neither encrypted nor authenticated: `PLAINTEXT`.
    Plaintext,
    /// TLS, with clients' certificates if they are asked for: `SSL`.
    Ssl,
    /// SASL without encryption: `SASL_PLAINTEXT`.
    SaslPlaintext,
    /// SASL over TLS: `SASL_SSL`.
    SaslSsl,
}

impl SecurityProtocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plaintext, Self::Ssl, Self::SaslPlaintext, Self::SaslSsl];

    /// Kafka's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Ssl => "SSL",
            Self::SaslPlaintext => "SASL_PLAINTEXT",
            Self::SaslSsl => "SASL_SSL",
        }
    }
    /// Whether connections are encrypted.
    #[must_use]
    pub const fn uses_tls(self) -> bool {
        matches!(self, Self::Ssl | Self::SaslSsl)
    }
    /// Whether clients authenticate by SASL.
    #[must_use]
    pub const fn uses_sasl(self) -> bool {
        matches!(self, Self::SaslPlaintext | Self::SaslSsl)
    }
}
impl fmt::Display for SecurityProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl FromStr for SecurityProtocol {
    type Err = UnknownProtocol;

    /// Kafka's names, in capitals or not.
    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let found = Self::ALL.into_iter().find(|each| each.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

/// A name that is no security protocol of Kafka's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no security protocol; there are PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL")]
pub struct UnknownProtocol(String);
