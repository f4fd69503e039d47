//! Options by Kafka's own keys.
//!
//! One rule for every builder: a method is Kafka's key with dots as underscores, less the unit that its type carries
//! (`linger.ms` → `linger(Duration)`). Each option is declared once, in an `options!` table: key, method, default, doc.

pub(crate) mod checks;
mod keys;
mod options;
mod properties;
mod value;

pub use properties::Properties;
pub(crate) use properties::check_foreign;

pub(crate) use options::options;
pub(crate) use value::{FromArgument, OptionValue, plain_options};

/// An option that cannot be, found before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("option `{key}`: {problem}")]
pub struct ConfigError {
    key: String,
    problem: String,
}

impl ConfigError {
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
    /// Kafka's key of the option.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }
}
