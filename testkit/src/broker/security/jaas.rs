//! The options in a `sasl.jaas.config`: `Module required name="value" …;`. The module's name and flag are not looked at.

use std::collections::BTreeMap;

/// Reads the `name="value"` pairs; a value may stand without quotes.
pub(super) fn options(config: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = config;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
        let (value, next) = match after.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some(split) => split,
            None => after.split_once(|c: char| c.is_whitespace() || c == ';').unwrap_or((after, "")),
        };
        found.insert(name.to_owned(), value.to_owned());
        rest = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_with_quotes_and_without() {
        let found = options(r#"a.b.Module required one="1 = 2" two=3; "#);
        let expected = [("one", "1 = 2"), ("two", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found, BTreeMap::from(expected));
    }
}
