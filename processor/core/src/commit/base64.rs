//! Base64 with padding (RFC 4648, section 4): the form in which Kafka Streams puts bytes into an offset's metadata, which is a string.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            text.push(if digit <= chunk.len() { letter(word >> (18 - 6 * digit)) } else { '=' });
        }
    }
    text
}

/// None for anything but base64 with its padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (body, padding) = split_padding(text.as_bytes())?;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in body.chunks(4) {
        let mut word = 0_u32;
        for at in 0..4 {
            word = word << 6 | chunk.get(at).map_or(Some(0), |letter| value(*letter))?;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

fn split_padding(text: &[u8]) -> Option<(&[u8], usize)> {
    let padding = text.iter().rev().take_while(|letter| **letter == b'=').count();
    (text.len().is_multiple_of(4) && padding <= 2).then(|| (&text[..text.len() - padding], padding))
}

fn letter(word: u32) -> char {
    char::from(ALPHABET[usize::from(word.to_be_bytes()[3] & 0x3f)])
}

fn value(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn vectors_of_the_rfc() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for wrong in ["Zg=", "Zg", "====", "Z===", "Zm9!", "Zg==Zg==", "Zm9v\n"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn bytes_survive(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes).len(), text.len());
            }
        }
    }
}
