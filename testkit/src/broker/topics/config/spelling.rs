//! Values as Kafka tells them, however they were given.

use super::{Kind, option};
use crate::broker::configs::Values;
use std::collections::BTreeSet;

/// Values as they are told, by option.
pub(crate) fn spelled(values: Values) -> Values {
    let kind_of = |name: &str| option(name).map_or(Kind::Text, |option| option.kind);
    let spelled = values.into_iter().map(|(name, value)| {
        let value = canonical(kind_of(&name), &value);
        (name, value)
    });
    spelled.collect()
}
/// A value as Kafka tells it: without blanks, numbers and switches in one spelling, lists without what is in them twice.
pub(crate) fn canonical(kind: Kind, value: &str) -> String {
    let value = value.trim();
    match kind {
        Kind::Boolean => value.to_ascii_lowercase(),
        Kind::Int | Kind::Short | Kind::Long => {
            value.parse::<i64>().map_or(value.to_owned(), |value| value.to_string())
        }
        Kind::List => {
            let mut seen = BTreeSet::new();
            value.split(',').map(str::trim).filter(|part| seen.insert(*part)).collect::<Vec<_>>().join(",")
        }
        Kind::Double => value.parse().map_or(value.to_owned(), java_double),
        Kind::Text | Kind::Class | Kind::Password | Kind::Unknown => value.to_owned(),
    }
}
/// As Java writes it: always with a point, and an exponent where it is very small or great.
fn java_double(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let written = format!("{value:E}");
    match written.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_fractions_are_spelled_as_by_java() {
        for (given, spelled) in [("1", "1.0"), (" 0.30 ", "0.3"), ("0.0001", "1.0E-4"), ("12345678", "1.2345678E7")] {
            assert_eq!(canonical(Kind::Double, given), spelled);
        }
    }
}
