//! `ssl.principal.mapping.rules`: what a certificate's name becomes as a user's. The first rule whose pattern matches the whole name decides.

use regex::Regex;

#[derive(Debug, Clone)]
pub(crate) struct Mapping(Vec<Rule>);

#[derive(Debug, Clone)]
enum Rule {
    /// The name as it is.
    Default,
    Replace {
        pattern: Regex,
        replacement: String,
        case: Case,
    },
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Kept,
    Lower,
    Upper,
}

impl Default for Mapping {
    fn default() -> Self {
        Self(vec![Rule::Default])
    }
}
impl Mapping {
    /// Reads `DEFAULT` and `RULE:pattern/replacement/[L|U]`, separated by commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`ssl.principal.mapping.rules` cannot be `{text}`");
        let mut rules = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (rule, after) = rule(rest).ok_or_else(wrong)?;
            rules.push(rule);
            rest = match after.trim_start().strip_prefix(',') {
                Some(next) => next.trim_start(),
                None if after.trim().is_empty() => "",
                None => return Err(wrong()),
            };
        }
        if rules.is_empty() { Ok(Self::default()) } else { Ok(Self(rules)) }
    }
    /// The user's name; none if no rule is about it, which Kafka lets nobody in with.
    pub(crate) fn apply(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|rule| rule.apply(name))
    }
}
impl Rule {
    fn apply(&self, name: &str) -> Option<String> {
        match self {
            Self::Default => Some(name.to_owned()),
            Self::Replace { pattern, replacement, case } => {
                let replaced =
                    pattern.is_match(name).then(|| pattern.replace(name, replacement.as_str()).into_owned())?;
                Some(match case {
                    Case::Kept => replaced,
                    Case::Lower => replaced.to_lowercase(),
                    Case::Upper => replaced.to_uppercase(),
                })
            }
        }
    }
}

/// The first rule, and what follows it.
fn rule(text: &str) -> Option<(Rule, &str)> {
    if let Some(after) = text.strip_prefix("DEFAULT") {
        return Some((Rule::Default, after));
    }
    let (pattern, rest) = until_slash(text.strip_prefix("RULE:")?)?;
    let (replacement, rest) = until_slash(rest)?;
    let (case, rest) = match (rest.strip_prefix('L'), rest.strip_prefix('U')) {
        (Some(rest), _) => (Case::Lower, rest),
        (_, Some(rest)) => (Case::Upper, rest),
        _ => (Case::Kept, rest),
    };
    let pattern = Regex::new(&format!("^(?:{pattern})$")).ok()?;
    Some((Rule::Replace { pattern, replacement: groups(replacement), case }, rest))
}
/// Up to the next slash that no backslash stands before, and what follows it.
fn until_slash(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == '/' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let (part, rest) = text.split_at_checked(end?.0)?;
    Some((part, rest.strip_prefix('/')?))
}
/// Java reads `$1x` as the first group and an x.
fn groups(replacement: &str) -> String {
    let mut out = String::new();
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(digit) if c == '$' && digit.is_ascii_digit() => {
                out.push_str(&format!("${{{digit}}}"));
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // The examples of Kafka's documentation.
    #[test]
    fn names_are_mapped_as_kafkas_documentation_says() {
        let rules = "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,\
                     RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,\
                     RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT";
        let mapping = Mapping::parse(rules).unwrap();
        for (name, expected) in [
            ("CN=serviceuser,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown", "serviceuser"),
            ("CN=adminUser,OU=Admin,O=Unknown,L=Unknown,ST=Unknown,C=Unknown", "adminuser@admin"),
            ("OU=x,cn=WebUser", "webuser"),
            ("OU=x", "OU=x"),
        ] {
            assert_eq!(mapping.apply(name).as_deref(), Some(expected));
        }
        assert_eq!(Mapping::parse("RULE:CN=(.*)/$1x/U").unwrap().apply("CN=a").as_deref(), Some("AX"));
        assert_eq!(Mapping::parse("RULE:CN=(.*)/$1/").unwrap().apply("OU=a"), None);
        assert!(Mapping::parse("RULE:(/$1/").is_err());
        assert!(Mapping::parse("CN=(.*)").is_err());
        assert_eq!(Mapping::parse("").unwrap().apply("CN=a").as_deref(), Some("CN=a"));
    }
}
