//! The bytes around the place where a message is wrong, in one line for its error.

use super::lines::spaced_hex;

/// Bytes that are shown before the place.
const BEFORE: usize = 4;
/// Bytes that are shown from the place on.
const AFTER: usize = 8;

/// Such as `… 00 01 67 > 7f ff ff ff …`, the place being behind the mark.
pub(crate) fn excerpt(bytes: &[u8], at: usize) -> String {
    let at = at.min(bytes.len());
    let (start, end) = (at.saturating_sub(BEFORE), at.saturating_add(AFTER).min(bytes.len()));
    let part = |from, to| spaced_hex(bytes.get(from..to).unwrap_or_default());
    let (before, after) = (part(start, at), part(at, end));
    let more = |is_cut| if is_cut { "…" } else { "" };
    let words = [more(start > 0), &before, ">", &after, more(end < bytes.len())];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_behind_the_mark() {
        let bytes: Vec<u8> = (0..20).collect();
        assert_eq!(excerpt(&bytes, 0), "> 00 01 02 03 04 05 06 07 …");
        assert_eq!(excerpt(&bytes, 6), "… 02 03 04 05 > 06 07 08 09 0a 0b 0c 0d …");
        assert_eq!(excerpt(&bytes, 20), "… 10 11 12 13 >");
        assert_eq!(excerpt(&[], 7), ">");
    }
}
