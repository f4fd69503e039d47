//! Which options brokers and groups have: their types and defaults as Kafka 4.4 tells them, read once from a table.

use crate::broker::topics::config::{Kind as Type, number_error, range_error};
use std::sync::LazyLock;

/// An option.
#[derive(Debug, Clone)]
pub(crate) struct ConfigOption {
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    /// Whether it may be set while the broker runs.
    pub(crate) is_dynamic: bool,
    pub(crate) default: Option<&'static str>,
    /// Options of the broker that give it its value when it is not set itself.
    pub(crate) fallbacks: Vec<&'static str>,
    limit: Limit,
}
/// Which values of its type an option takes.
#[derive(Debug, Clone)]
enum Limit {
    None,
    /// From the least to the greatest.
    Between(f64, f64),
    OneOf(Vec<&'static str>),
}
impl Limit {
    // `1..`, `1..9`, `a|b`.
    fn parse(text: &'static str) -> Self {
        if let Some((least, most)) = text.split_once("..") {
            return Self::Between(least.parse().unwrap_or(f64::NEG_INFINITY), most.parse().unwrap_or(f64::INFINITY));
        }
        if text.is_empty() { Self::None } else { Self::OneOf(text.split('|').collect()) }
    }
    /// Says what of a value is wrong, and why, in Kafka's words.
    fn error<'v>(&self, value: &'v str) -> Option<(&'v str, String)> {
        match self {
            Self::None => None,
            Self::Between(least, most) => Some((value.trim(), range_error((*least, *most), value)?)),
            Self::OneOf(choices) => {
                let wrong = value.split(',').map(str::trim).find(|part| !choices.contains(part))?;
                Some((wrong, format!("String must be one of: {}", choices.join(", "))))
            }
        }
    }
}
impl ConfigOption {
    /// Says what is wrong with a value, in Kafka's words.
    pub(crate) fn check(&self, value: &str) -> Result<(), String> {
        let wrong = number_error(self.kind, value).map(|reason| (value, reason)).or_else(|| self.limit.error(value));
        wrong.map_or(Ok(()), |(what, reason)| {
            Err(format!("Invalid value {what} for configuration {}: {reason}", self.name))
        })
    }
    /// Whether it can be set for one broker only: listeners and what secures them.
    pub(crate) fn is_per_broker(&self) -> bool {
        let of_listeners = ["listeners", "listener.security.protocol.map", "principal.builder.class"];
        of_listeners.contains(&self.name) || self.name.starts_with("ssl.") || self.name.starts_with("sasl.")
    }
}

/// The brokers' options, by name.
pub(crate) static BROKER: LazyLock<Vec<ConfigOption>> = LazyLock::new(|| parse(include_str!("broker_options.tsv")));
/// What a broker has only while it is set.
static BROKER_LIMITS: LazyLock<Vec<ConfigOption>> = LazyLock::new(|| parse(include_str!("broker_limits.tsv")));
/// The groups' options, by name.
pub(crate) static GROUP: LazyLock<Vec<ConfigOption>> = LazyLock::new(|| parse(include_str!("group_options.tsv")));

/// Finds an option by its name.
pub(crate) fn find<'o>(options: &'o [ConfigOption], name: &str) -> Option<&'o ConfigOption> {
    options.iter().find(|option| option.name == name)
}
/// Finds an option of brokers by its name.
pub(crate) fn broker(name: &str) -> Option<&'static ConfigOption> {
    find(&BROKER, name).or_else(|| find(&BROKER_LIMITS, name))
}
/// The default of a broker's option.
pub(crate) fn broker_default(name: &str) -> Option<&'static str> {
    find(&BROKER, name).and_then(|option| option.default)
}

// Name, type, `rw` or `ro`, default, names of options behind it, and where there is one its limit: one option a line, tabs between.
fn parse(table: &'static str) -> Vec<ConfigOption> {
    table.lines().filter_map(parse_line).collect()
}
fn parse_line(line: &'static str) -> Option<ConfigOption> {
    let mut fields = line.split('\t');
    let (name, kind, access) = (fields.next()?, fields.next()?, fields.next()?);
    let (default, fallbacks) = (fields.next()?, fields.next()?);
    Some(ConfigOption {
        name,
        kind: Type::named(kind)?,
        is_dynamic: access == "rw",
        default: Some(default).filter(|default| *default != "-"),
        fallbacks: fallbacks.split(',').filter(|name| *name != "-").collect(),
        limit: Limit::parse(fields.next().unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_an_option() {
        assert_eq!(BROKER.len(), include_str!("broker_options.tsv").lines().count());
        assert_eq!(BROKER_LIMITS.len(), include_str!("broker_limits.tsv").lines().count());
        assert_eq!(GROUP.len(), include_str!("group_options.tsv").lines().count());
        for option in BROKER.iter().chain(GROUP.iter()) {
            assert_eq!(option.default.map_or(Ok(()), |default| option.check(default)), Ok(()), "{}", option.name);
            assert!(option.fallbacks.iter().all(|name| find(&BROKER, name).is_some()), "{}", option.name);
        }
    }
}
