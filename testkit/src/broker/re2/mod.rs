//! Expressions as Kafka reads them, by RE2/J, said anew in the syntax of the `regex` crate: what only one of the two knows is taken or refused
//! as RE2/J does, in its words, and what both know but mean otherwise is spelt out.

mod names;

use names::{CATEGORIES, POSIX_CLASSES, SCRIPTS};
use std::collections::BTreeSet;

/// What is wrong with an expression, as RE2/J says it.
pub(crate) type Wrong = &'static str;

/// Translates an expression. The parentheses of what comes of it are balanced; all else may still be wrong.
pub(crate) fn translated(expression: &str) -> Result<String, Wrong> {
    let mut reader = Reader { rest: expression, ..Reader::default() };
    while let Some(next) = reader.peek() {
        reader.step(next)?;
    }
    if reader.open > 0 { Err("missing closing )") } else { Ok(reader.out) }
}

#[derive(Default)]
struct Reader<'e> {
    rest: &'e str,
    out: String,
    /// How many groups are open.
    open: usize,
    names: BTreeSet<&'e str>,
    /// Whether what was read last says how often something comes.
    is_repeated: bool,
    /// No brace closes any more, nor the name of a class: whoever opens many is not to be looked after to the end each time.
    has_no_brace: bool,
    has_no_class: bool,
}

impl<'e> Reader<'e> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }
    /// Passes over a text if it comes next.
    fn passes(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
    fn literal(&mut self, literal: &str) {
        self.out.push_str(&regex::escape(literal));
    }
    fn step(&mut self, next: char) -> Result<(), Wrong> {
        let was_repeated = std::mem::take(&mut self.is_repeated);
        if next == '{' {
            return match self.count()? {
                Some(count) => self.repeat(&format!("{{{count}}}"), was_repeated),
                None => {
                    self.passes("{");
                    self.literal("{");
                    Ok(())
                }
            };
        }
        self.next();
        match next {
            '*' | '+' | '?' => return self.repeat(next.encode_utf8(&mut [0; 4]), was_repeated),
            '(' => return self.begin_group(),
            ')' => return self.end_group(),
            '[' => return self.class(),
            '\\' => return self.escape(),
            '^' | '$' | '.' | '|' => self.out.push(next),
            _ => self.literal(next.encode_utf8(&mut [0; 4])),
        }
        Ok(())
    }
    /// What stands in braces, if it says how often; otherwise they are characters as any other.
    fn count(&mut self) -> Result<Option<&'e str>, Wrong> {
        let Some(inner) = self.rest.strip_prefix('{').filter(|_| !self.has_no_brace) else { return Ok(None) };
        let Some((count, after)) = inner.split_once('}') else {
            self.has_no_brace = true;
            return Ok(None);
        };
        let (least, most) = count.split_once(',').unwrap_or((count, count));
        let most = if most.is_empty() { least } else { most };
        if !is_number(least) || !is_number(most) {
            return Ok(None);
        }
        let numbers = (least.parse::<u16>(), most.parse::<u16>());
        if !matches!(numbers, (Ok(least), Ok(most)) if least <= most && most <= MOST_REPEATS) {
            return Err("invalid repeat count");
        }
        self.rest = after;
        Ok(Some(count))
    }
    fn repeat(&mut self, how_often: &str, was_repeated: bool) -> Result<(), Wrong> {
        let is_lazy = self.passes("?");
        // So it is neither possessive nor what is repeated repeated again.
        if was_repeated {
            return Err("invalid nested repetition operator");
        }
        self.out.push_str(how_often);
        self.out.push_str(if is_lazy { "?" } else { "" });
        self.is_repeated = true;
        Ok(())
    }
    /// After the parenthesis. What a group is called does not matter.
    fn begin_group(&mut self) -> Result<(), Wrong> {
        if !self.passes("?") {
            self.open += 1;
            self.out.push('(');
        } else if self.passes("P<") || self.passes("<") {
            let (name, after) = self.rest.split_once('>').ok_or("invalid named capture")?;
            if name.is_empty() || !name.chars().all(|each| each.is_ascii_alphanumeric() || each == '_') {
                return Err("invalid named capture");
            }
            if !self.names.insert(name) {
                return Err("duplicate capture group name");
            }
            self.rest = after;
            self.open += 1;
            self.out.push('(');
        } else {
            self.flags()?;
        }
        Ok(())
    }
    /// Flags that hold from here on, or within a group: look-around and the like would begin so, too.
    fn flags(&mut self) -> Result<(), Wrong> {
        let wrong = "invalid or unsupported Perl syntax";
        let end = self.rest.find([':', ')']).ok_or(wrong)?;
        let (flags, after) = self.rest.split_at(end);
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let are_known = on.chars().chain(off.chars()).all(|flag| FLAGS.contains(flag));
        if !are_known || flags.ends_with('-') {
            return Err(wrong);
        }
        self.rest = after;
        let is_group = self.next() == Some(':');
        let of = |is_set: &dyn Fn(char) -> bool| FLAGS.chars().filter(|flag| is_set(*flag)).collect::<String>();
        let on = of(&|flag| on.contains(flag) && !off.contains(flag));
        let off = of(&|flag| off.contains(flag));
        self.open += usize::from(is_group);
        if is_group || !flags.is_empty() {
            let dash = if off.is_empty() { "" } else { "-" };
            self.out.extend(["(?", &on, dash, &off, if is_group { ":" } else { ")" }]);
        }
        Ok(())
    }
    fn end_group(&mut self) -> Result<(), Wrong> {
        self.open = self.open.checked_sub(1).ok_or("regexp/syntax: internal error")?;
        self.out.push(')');
        Ok(())
    }
    /// After the backslash.
    fn escape(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            None => return Err("trailing backslash at end of expression"),
            Some('Q') => {
                self.next();
                let (quoted, after) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                self.rest = after;
                self.literal(quoted);
            }
            // In a group of its own, as some of these mean something else before a brace.
            Some(place @ ('A' | 'b' | 'B' | 'z')) => {
                self.next();
                self.out.extend(["(?:\\", place.encode_utf8(&mut [0; 4]), ")"]);
            }
            Some(class) if self.known_class(class)? => {}
            Some(_) => {
                let character = self.escaped()?;
                self.literal(character.encode_utf8(&mut [0; 4]));
            }
        }
        Ok(())
    }
    /// A class that a letter stands for, after the backslash.
    fn known_class(&mut self, letter: char) -> Result<bool, Wrong> {
        match letter {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                self.next();
                self.out.extend(['\\', letter]);
            }
            'p' | 'P' => {
                self.next();
                self.unicode_class(letter == 'P')?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
    fn unicode_class(&mut self, is_negated: bool) -> Result<(), Wrong> {
        let name = if self.passes("{") {
            let (name, after) = self.rest.split_once('}').ok_or(NO_CLASS)?;
            self.rest = after;
            name
        } else {
            let all = self.rest;
            self.next();
            all.strip_suffix(self.rest).unwrap_or_default()
        };
        let (name, is_negated) = name.strip_prefix('^').map_or((name, is_negated), |name| (name, !is_negated));
        let kind = match name {
            "Any" => "",
            // No text has surrogates.
            "Cs" => {
                self.out.push_str(if is_negated { "[\\s\\S]" } else { "[^\\s\\S]" });
                return Ok(());
            }
            _ if CATEGORIES.contains(&name) => "gc=",
            _ if SCRIPTS.contains(&name) => "sc=",
            _ => return Err(NO_CLASS),
        };
        self.out.extend([if is_negated { "\\P{" } else { "\\p{" }, kind, name, "}"]);
        Ok(())
    }
    /// A character, after its backslash.
    fn escaped(&mut self) -> Result<char, Wrong> {
        const WRONG: Wrong = "invalid escape sequence";
        let is_octal = |digit: Option<char>| digit.is_some_and(|digit| digit.is_digit(8));
        let first = self.next().ok_or("trailing backslash at end of expression")?;
        match first {
            'a' => Ok('\u{7}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\u{b}'),
            'x' => self.hexadecimal().and_then(char::from_u32).ok_or(WRONG),
            '0' => Ok(self.octal(0)),
            // A single digit would name a group that was matched before.
            '1'..='7' if is_octal(self.peek()) => Ok(self.octal(u32::from(first) - u32::from('0'))),
            _ if !first.is_ascii_alphanumeric() => Ok(first),
            _ => Err(WRONG),
        }
    }
    /// After its first digit.
    fn octal(&mut self, first: u32) -> char {
        let mut number = first;
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
            self.next();
            number = number * 8 + digit;
        }
        char::from_u32(number).unwrap_or_default()
    }
    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = if self.passes("{") {
            let (digits, after) = self.rest.split_once('}')?;
            self.rest = after;
            digits
        } else {
            let (digits, after) = self.rest.split_at_checked(2)?;
            self.rest = after;
            digits
        };
        let are_digits = digits.chars().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)
    }
    /// After the bracket. Within, there are neither classes nor anything that is done with them.
    fn class(&mut self) -> Result<(), Wrong> {
        self.out.push('[');
        if self.passes("^") {
            self.out.push('^');
        }
        let mut is_first = true;
        while is_first || !self.passes("]") {
            is_first = false;
            self.class_item()?;
        }
        self.out.push(']');
        Ok(())
    }
    fn class_item(&mut self) -> Result<(), Wrong> {
        let inner = self.rest.strip_prefix("[:").filter(|_| !self.has_no_class);
        self.has_no_class |= inner.is_some_and(|inner| !inner.contains(":]"));
        if let Some((name, after)) = inner.and_then(|inner| inner.split_once(":]")) {
            if !POSIX_CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return Err(NO_CLASS);
            }
            self.rest = after;
            self.out.extend(["[:", name, ":]"]);
            return Ok(());
        }
        if let Some(after) = self.rest.strip_prefix('\\') {
            let whole = std::mem::replace(&mut self.rest, after);
            let letter = self.peek().unwrap_or_default();
            if self.known_class(letter)? {
                return Ok(());
            }
            self.rest = whole;
        }
        let least = self.class_character()?;
        self.character_in_class(least);
        if !self.rest.starts_with("-]") && self.passes("-") {
            let most = self.class_character()?;
            if most < least {
                return Err(NO_CLASS);
            }
            self.out.push('-');
            self.character_in_class(most);
        }
        Ok(())
    }
    fn class_character(&mut self) -> Result<char, Wrong> {
        match self.next() {
            None => Err("missing closing ]"),
            Some('\\') => self.escaped(),
            Some(character) => Ok(character),
        }
    }
    fn character_in_class(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            self.out.push(character);
        } else {
            self.out.push_str(&format!("\\x{{{:x}}}", u32::from(character)));
        }
    }
}
/// Numbers have no zeros before them.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}
const NO_CLASS: Wrong = "invalid character class range";
const MOST_REPEATS: u16 = 1000;
const FLAGS: &str = "imsU";

#[cfg(test)]
mod tests {
    use super::*;
    use regex::bytes::Regex;

    fn matches(expression: &str, name: &str) -> bool {
        let translated = translated(expression).unwrap_or_else(|wrong| panic!("{expression}: {wrong}"));
        let whole = format!("^(?:{translated})$");
        Regex::new(&whole).unwrap_or_else(|error| panic!("{expression}: {error}")).is_match(name.as_bytes())
    }

    /// What RE2/J 1.8 says of each.
    #[test]
    fn what_matches_is_what_matches_in_re2() {
        // (expression, what it matches, what it does not)
        let cases = [
            (r"\p{^L}", "1", "a"),
            (r"\P{^L}", "a", "1"),
            (r"[^\p{^L}]", "a", "1"),
            (r"\p{Any}\PN\p{Latin}", "1aa", "111"),
            (r"\P{Cs}", "a", "aa"),
            (r"\Qa.b\E", "a.b", "aab"),
            (r"\Qa.b", "a.b", "aab"),
            (r"\Qab\E*", "abb", "abab"),
            (r"a\Q\E*", "aa", "b"),
            ("a{", "a{", "a"),
            ("a{1}{", "a{", "a"),
            ("a{,2}", "a{,2}", "aa"),
            ("a{01}", "a{01}", "a"),
            ("a{1, 2}", "a{1, 2}", "a"),
            (r"a\b{start}", "a{start}", "a"),
            (r"\<a\>", "<a>", "a"),
            (r"\123\07?\x{00041}", "SA", "A"),
            ("(?ims-U)a", "A", "b"),
            ("(?i-i)a", "a", "A"),
            ("(?)a(?ii:b)", "aB", "AB"),
            ("(?P<1>a)(?<_b>b)", "ab", "a"),
            ("[a&&b]", "&", "c"),
            ("[[a]b]", "ab]", "a"),
            ("[]a]", "]", "b"),
            ("[^]a]", "b", "]"),
            (r"[\d-z]", "-", "a"),
            ("[a-b-c]", "-", "d"),
            ("[+--]", "-", "."),
            ("[[:alpha:]-z]", "-", "1"),
            ("[[:alpha]", ":", "b"),
            ("[:alpha:]", "h", "b"),
            ("[[:^alpha:]]", "1", "a"),
            ("(?:a*)*]", "aa]", "aa"),
            ("a{2}?", "aa", "a"),
        ];
        for (expression, matched, other) in cases {
            assert!(matches(expression, matched), "{expression} matches {matched}");
            assert!(!matches(expression, other), "{expression} does not match {other}");
        }
    }
    #[test]
    fn what_re2_does_not_know_is_refused_in_its_words() {
        let table = [
            ("invalid nested repetition operator", &["a++", "a*+", "a**", "a???", "a{2}{3}", "a{2}+", "a{2}??"][..]),
            ("invalid repeat count", &["a{1001}", "a{1001,}", "a{2,1}", "a{99999999999}"]),
            (
                "invalid or unsupported Perl syntax",
                &[
                    "(?=a)",
                    "(?!a)",
                    "(?>a)",
                    "(?#a)",
                    "(?x)a",
                    "(?u)a",
                    "(?R)a",
                    "(?i-)a",
                    "(?i-m-s)a",
                    "(?P=n)",
                    "(?i",
                    "(?",
                ],
            ),
            ("invalid named capture", &["(?<=a)", "(?<!a)", "(?P<>a)", "(?P<a.b>a)", "(?P<a"]),
            ("duplicate capture group name", &["(?P<n>a)(?P<n>b)"]),
            (
                "invalid escape sequence",
                &[
                    r"(a)\1",
                    r"\8",
                    r"\18",
                    r"\x4",
                    r"\x{}",
                    r"\x{110000}",
                    r"\u0041",
                    r"\k<n>",
                    r"\Z",
                    r"\C",
                    r"a\E",
                    r"[\b]",
                    r"[\1]",
                    r"[a-\d]",
                ],
            ),
            (
                "invalid character class range",
                &[
                    r"\p{Letter}",
                    r"\p{latin}",
                    r"\p{Latn}",
                    r"\p{Cn}",
                    r"\p{gc=L}",
                    r"\p{L",
                    r"\p",
                    "[b-a]",
                    "[a--b]",
                    "[[:foo:]]",
                ],
            ),
            ("trailing backslash at end of expression", &["\\", "a\\"]),
            ("missing closing ]", &["[", "[]", "[a", "[^]"]),
            ("missing closing )", &["(a|b", "((a)", "(?:a"]),
            ("regexp/syntax: internal error", &["a)", ")"]),
        ];
        for (wrong, expressions) in table {
            for expression in expressions {
                assert_eq!(translated(expression), Err(wrong), "{expression}");
            }
        }
    }
}
