//! What people have of frames: digits in a terminal, and files of frames one after another.

use bytes::Bytes;

/// Reads hexadecimal digits, two a byte, as tools print them: with white space, commas, colons, dashes or `0x` between
/// bytes, or with nothing.
///
/// ```
/// use millstream_protocol::picture::from_hex;
/// assert_eq!(from_hex("00 12 0x00,0x03\n ff:FF")?, [0, 0x12, 0, 3, 0xff, 0xff]);
/// let error = from_hex("00 1g").unwrap_err();
/// assert_eq!(error.to_string(), "character 5, `g`, is no hexadecimal digit");
/// # Ok::<(), millstream_protocol::picture::NotHex>(())
/// ```
///
/// # Errors
///
/// When there is anything else, or a byte with one digit.
pub fn from_hex(text: &str) -> Result<Vec<u8>, NotHex> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut characters = text.chars().enumerate().map(|(index, character)| (index + 1, character)).peekable();
    while let Some((at, character)) = characters.next() {
        if is_separator(character) {
            continue;
        }
        let high = digit(at, character)?;
        match characters.next() {
            Some((_, 'x' | 'X')) if character == '0' => {}
            Some((at, character)) if !is_separator(character) => bytes.push(high << 4 | digit(at, character)?),
            _ => return Err(NotHex::Half { at }),
        }
    }
    Ok(bytes)
}

const fn is_separator(character: char) -> bool {
    character.is_ascii_whitespace() || matches!(character, ',' | ':' | '-')
}

fn digit(at: usize, character: char) -> Result<u8, NotHex> {
    let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digit.ok_or(NotHex::Character { at, character })
}

/// Text that is not hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHex {
    /// A character that is no digit.
    #[error("character {at}, `{character}`, is no hexadecimal digit")]
    Character {
        /// Which one, from 1.
        at: usize,
        /// The character.
        character: char,
    },
    /// A digit without a second one.
    #[error("the byte that begins with character {at} has one digit; two make a byte")]
    Half {
        /// Which one, from 1.
        at: usize,
    },
}

/// Frames one after another, each after its size: the frames with where they begin, and the bytes at the end that are no
/// whole frame.
///
/// ```
/// use bytes::Bytes;
/// use millstream_protocol::picture::split_frames;
/// let (frames, rest) = split_frames(&Bytes::from_static(b"\0\0\0\x02ab\0\0\0\0\0\0"));
/// assert_eq!(frames, [(4, Bytes::from_static(b"ab")), (10, Bytes::new())]);
/// assert_eq!(rest, Bytes::from_static(b"\0\0"));
/// ```
#[must_use]
pub fn split_frames(stream: &Bytes) -> (Vec<(usize, Bytes)>, Bytes) {
    let (mut frames, mut at) = (Vec::new(), 0);
    while let Some(size) = frame_at(stream, at) {
        frames.push((at + 4, stream.slice(at + 4..at + 4 + size)));
        at += 4 + size;
    }
    (frames, stream.slice(at..))
}

/// The size of the whole frame whose size stands here.
fn frame_at(stream: &[u8], at: usize) -> Option<usize> {
    let rest = stream.get(at..)?;
    let size = usize::try_from(i32::from_be_bytes(*rest.first_chunk()?)).ok()?;
    (size <= rest.len() - 4).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_hex_is_named() {
        for (text, expected) in [
            ("", Ok(vec![])),
            ("0x0a", Ok(vec![10])),
            ("0a0B", Ok(vec![10, 11])),
            ("0", Err(NotHex::Half { at: 1 })),
            ("00 1", Err(NotHex::Half { at: 4 })),
            ("0x", Ok(vec![])),
            ("00 ü", Err(NotHex::Character { at: 4, character: 'ü' })),
            ("1x00", Err(NotHex::Character { at: 2, character: 'x' })),
        ] {
            assert_eq!(from_hex(text), expected, "{text}");
        }
    }

    #[test]
    fn a_size_that_the_bytes_do_not_hold_ends_the_frames() {
        let stream = Bytes::from_static(&[0, 0, 0, 1, 9, 0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(split_frames(&stream), (vec![(4, Bytes::from_static(&[9]))], stream.slice(5..)));
        let negative = Bytes::from_static(&[0xff; 8]);
        assert_eq!(split_frames(&negative), (vec![], negative));
    }
}
