//! The loggers that a broker is said to have. Nothing is logged at their levels: they are stored and shown.

use super::Values;

/// The names of the loggers, and the level of those that have their own.
const LOGGERS: [(&str, &str); 6] = [
    ("kafka", "INFO"),
    ("kafka.request.logger", "WARN"),
    ("kafka.controller", "INFO"),
    ("org.apache.kafka", "INFO"),
    ("root", "INFO"),
    ("state.change.logger", "INFO"),
];
const LEVELS: [&str; 6] = ["DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN"];

pub(crate) fn exists(name: &str) -> bool {
    LOGGERS.iter().any(|(known, _)| *known == name)
}
/// All loggers of a node with their levels in force.
pub(crate) fn levels(set: Option<&Values>) -> Vec<(&'static str, String)> {
    let level = |(name, default): &(&'static str, &str)| {
        let own = set.and_then(|set| set.get(*name)).cloned();
        (*name, own.unwrap_or_else(|| (*default).to_owned()))
    };
    LOGGERS.iter().map(level).collect()
}
/// Says what is wrong with a level, in Kafka's words.
pub(crate) fn check_level(logger: &str, level: &str) -> Result<(), String> {
    if LEVELS.contains(&level) {
        return Ok(());
    }
    let known = LEVELS.join(", ");
    Err(format!(
        "Cannot set the log level of {logger} to {level} as it is not a supported log level. Valid log levels are {known}"
    ))
}
