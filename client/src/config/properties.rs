//! A properties file, as it would configure a Java client.

use super::ConfigError;
use super::keys::nearest;
use std::path::Path;

/// Kafka's keys and their values, as a properties file has them.
///
/// One file may configure a client, a producer, a consumer and streams: each takes its own keys. A key that none of them knows
/// is an error that suggests the nearest one.
///
/// ```
/// use millstream_client::Properties;
/// let properties = Properties::parse("# brokers\nbootstrap.servers = localhost:9092\nlinger.ms: 20\n").unwrap();
/// assert_eq!(properties.value_of("linger.ms"), Some("20"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

impl Properties {
    /// Reads a properties file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not as [`parse`](Self::parse) wants it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ConfigError::new(path.display().to_string(), format!("the file cannot be read: {error}"))
        })?;
        Self::parse(&text)
    }
    /// Reads the text of a properties file: `key = value` or `key: value` lines, comments after `#` or `!`, lines that end in
    /// `\` go on.
    ///
    /// # Errors
    ///
    /// When a line has no value.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut properties = Self::default();
        let mut joined = String::new();
        for line in text.lines() {
            let line = line.trim();
            if joined.is_empty() && (line.is_empty() || line.starts_with(['#', '!'])) {
                continue;
            }
            if let Some(start) = line.strip_suffix('\\') {
                joined.push_str(start);
                continue;
            }
            joined.push_str(line);
            properties.parse_line(&std::mem::take(&mut joined))?;
        }
        if joined.is_empty() { Ok(properties) } else { properties.parse_line(&joined).map(|()| properties) }
    }
    /// Sets one.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(each, _)| *each == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key, value)),
        }
    }
    /// The value of a key.
    #[must_use]
    pub fn value_of(&self, key: &str) -> Option<&str> {
        self.iter().find(|(each, _)| *each == key).map(|(_, value)| value)
    }
    /// All keys and values, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    fn parse_line(&mut self, line: &str) -> Result<(), ConfigError> {
        let Some((key, value)) = line.split_once(['=', ':']) else {
            return Err(ConfigError::new(line, "has no value; write `key = value`"));
        };
        self.insert(key.trim(), value.trim());
        Ok(())
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Properties {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut properties = Self::default();
        entries.into_iter().for_each(|(key, value)| properties.insert(key, value));
        properties
    }
}

/// What a key means that a builder does not have: nothing if another role or a Java client has it, else an error.
pub(crate) fn check_foreign(key: &str) -> Result<(), ConfigError> {
    if super::keys::is_known(key) {
        return Ok(());
    }
    Err(ConfigError::new(
        key,
        match nearest(key) {
            Some(known) => format!("is not known; did you mean `{known}`?"),
            None => "is not known to any of Kafka's clients".to_owned(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_java_reads_them() {
        let properties = Properties::parse("a=1\n\n! note\n b : 2 = 3\nc=x,\\\n  y\nd=\n").unwrap();
        let expected = [("a", "1"), ("b", "2 = 3"), ("c", "x,y"), ("d", "")];
        assert_eq!(properties, expected.into_iter().collect());
    }

    #[test]
    fn a_line_without_a_value_is_named() {
        let error = Properties::parse("linger.ms").unwrap_err();
        assert_eq!(error.to_string(), "option `linger.ms`: has no value; write `key = value`");
    }

    #[test]
    fn an_unknown_key_suggests_the_nearest() {
        let error = check_foreign("bootstrap.server").unwrap_err();
        assert_eq!(error.to_string(), "option `bootstrap.server`: is not known; did you mean `bootstrap.servers`?");
        assert_eq!(check_foreign("num.stream.threads"), Ok(()));
    }

    #[test]
    fn a_key_that_is_like_no_other_gets_no_suggestion() {
        let error = check_foreign("foo.bar").unwrap_err();
        assert_eq!(error.to_string(), "option `foo.bar`: is not known to any of Kafka's clients");
    }
}
