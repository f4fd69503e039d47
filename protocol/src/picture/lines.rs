//! Lines of a picture: offset, bytes, and what they are.

use std::fmt::Write;

/// Bytes that a line shows, at most.
const SHOWN_BYTES: usize = 8;
/// Characters of text that a line shows, at most.
const SHOWN_TEXT: usize = 64;

/// How much is drawn of what is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The first elements of an array, the first records of a batch, and a page or two in all.
    Excerpt,
    Whole,
}

impl Extent {
    /// Elements of one array, batches of one buffer, records of one batch.
    pub(super) const fn elements(self) -> usize {
        match self {
            Self::Excerpt => 16,
            Self::Whole => usize::MAX,
        }
    }
    const fn lines(self) -> usize {
        match self {
            Self::Excerpt => 2000,
            Self::Whole => usize::MAX,
        }
    }
}

/// Where bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// So many bytes after the first.
    At(usize),
    /// So many bytes after the first of what a batch inflates to.
    Inflated(usize),
}

impl Origin {
    /// So many bytes further on.
    pub(super) const fn plus(self, bytes: usize) -> Self {
        match self {
            Self::At(at) => Self::At(at.saturating_add(bytes)),
            Self::Inflated(at) => Self::Inflated(at.saturating_add(bytes)),
        }
    }
}

/// The lines so far.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) extent: Extent,
    /// What is wrong, so far.
    pub(super) faults: usize,
    drawn: usize,
}

impl Lines {
    pub(super) const fn new(extent: Extent) -> Self {
        Self { text: String::new(), extent, faults: 0, drawn: 0 }
    }
    /// A line about these bytes.
    pub(super) fn push(&mut self, at: Origin, bytes: &[u8], what: &str) {
        self.line(&place(at), &hex_excerpt(bytes), what);
    }
    /// A line about something that has no bytes of its own.
    pub(super) fn note(&mut self, what: &str) {
        self.line("", "", what);
    }
    /// A line about what is wrong. It is drawn however many others are, and as many as those may be.
    pub(super) fn wrong(&mut self, at: Option<Origin>, bytes: &[u8], what: &str) {
        self.faults += 1;
        let place = at.map_or_else(String::new, place);
        self.write_nth(self.faults, &place, &hex_excerpt(bytes), &format!("!! {what}"));
    }

    fn line(&mut self, at: &str, bytes: &str, what: &str) {
        self.drawn += 1;
        self.write_nth(self.drawn, at, bytes, what);
    }
    /// The n-th of its kind: that there are more than the extent has is said once.
    fn write_nth(&mut self, n: usize, at: &str, bytes: &str, what: &str) {
        if n == self.extent.lines() {
            self.text.push_str("        … more lines than are shown\n");
        }
        if n < self.extent.lines() {
            let _infallible = writeln!(self.text, "{at:>6}  {bytes:<23}  {what}");
        }
    }
}

fn place(at: Origin) -> String {
    match at {
        Origin::At(at) => at.to_string(),
        Origin::Inflated(at) => format!("~{at}"),
    }
}

/// The first bytes, spaced.
fn hex_excerpt(bytes: &[u8]) -> String {
    let cut = if bytes.len() > SHOWN_BYTES { SHOWN_BYTES - 1 } else { SHOWN_BYTES };
    let mut text = spaced_hex(bytes.get(..cut).unwrap_or(bytes));
    if bytes.len() > SHOWN_BYTES {
        text.push_str(" …");
    }
    text
}

pub(super) fn spaced_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Text in quotes, cut where it is long.
pub(super) fn quoted(text: &[u8], extent: Extent) -> String {
    let text = String::from_utf8_lossy(text);
    let escaped: String = text.chars().take(limit(extent)).flat_map(char::escape_debug).collect();
    match text.chars().count() {
        count if count > limit(extent) => format!("\"{escaped}…\" ({} bytes)", text.len()),
        _ => format!("\"{escaped}\""),
    }
}

/// Bytes as text where they are some, else as hexadecimal digits, cut where they are long.
pub(super) fn data(bytes: &[u8], extent: Extent) -> String {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control));
    if is_text { quoted(bytes, extent) } else { hex(bytes, extent) }
}

pub(super) fn hex(bytes: &[u8], extent: Extent) -> String {
    let shown = bytes.get(..limit(extent) / 2).filter(|_| extent == Extent::Excerpt).unwrap_or(bytes);
    let digits: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    if shown.len() < bytes.len() { format!("{digits}… ({} bytes)", bytes.len()) } else { digits }
}

const fn limit(extent: Extent) -> usize {
    match extent {
        Extent::Excerpt => SHOWN_TEXT,
        Extent::Whole => usize::MAX,
    }
}

/// `1 byte`, `2 bytes`.
pub(super) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault began the count anew, so that a buffer of broken batches was drawn without end.
    #[test]
    fn faults_are_drawn_after_the_last_line_and_have_an_end_themselves() {
        let mut lines = Lines::new(Extent::Excerpt);
        for round in 0..3000 {
            lines.note("right");
            if round % 1000 == 0 {
                lines.wrong(None, &[], "wrong");
            }
        }
        let count = |lines: &Lines, what| lines.text.lines().filter(|line| line.ends_with(what)).count();
        assert_eq!((count(&lines, "right"), count(&lines, "!! wrong"), count(&lines, "than are shown")), (1999, 3, 1));
        (0..9000).for_each(|_| lines.wrong(None, &[], "wrong"));
        assert_eq!((lines.faults, lines.text.lines().count()), (9003, 4000));
    }
}
