//! Whom a certificate names, written as Java writes it (RFC 2253): the last attribute first, `CN=alice,O=Example`.

/// DER's tags.
const SEQUENCE: u8 = 0x30;
const OBJECT_ID: u8 = 0x06;
const VERSION: u8 = 0xa0;
/// UTF-8, printable, teletex and IA5 strings.
const STRINGS: [u8; 4] = [0x0c, 0x13, 0x14, 0x16];

/// Attributes with names of their own: their object ids as DER writes them.
const KEYWORDS: [(&[u8], &str); 9] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 9], "STREET"),
    (&[9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
];

/// The subject of a certificate; none if the bytes are no certificate.
pub(super) fn of_subject(certificate: &[u8]) -> Option<String> {
    let (certificate, _) = take(certificate, SEQUENCE)?;
    let (to_be_signed, _) = take(certificate, SEQUENCE)?;
    let rest = take(to_be_signed, VERSION).map_or(to_be_signed, |(_, rest)| rest);
    // Serial number, algorithm, issuer, validity.
    let rest = (0..4).try_fold(rest, |rest, _| element(rest).map(|(_, _, rest)| rest))?;
    let (subject, _) = take(rest, SEQUENCE)?;
    let mut names: Vec<String> =
        elements(subject)?.into_iter().map(|(_, set)| relative_name(set)).collect::<Option<_>>()?;
    names.reverse();
    Some(names.join(","))
}

fn relative_name(set: &[u8]) -> Option<String> {
    let attributes = elements(set)?.into_iter().map(|(_, attribute)| write(attribute));
    Some(attributes.collect::<Option<Vec<_>>>()?.join("+"))
}
fn write(attribute: &[u8]) -> Option<String> {
    let (id, encoded) = take(attribute, OBJECT_ID)?;
    let (tag, value, _) = element(encoded)?;
    let keyword = KEYWORDS.iter().find(|(known, _)| *known == id).map(|(_, keyword)| *keyword);
    match (keyword, STRINGS.contains(&tag)) {
        (Some(keyword), true) => Some(format!("{keyword}={}", escape(&String::from_utf8_lossy(value)))),
        (keyword, _) => {
            let name = keyword.map_or_else(|| dotted(id), str::to_owned);
            let hex: String = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(format!("{name}=#{hex}"))
        }
    }
}
fn escape(value: &str) -> String {
    let last = value.chars().count().saturating_sub(1);
    let mut out = String::new();
    for (at, c) in value.chars().enumerate() {
        let is_special = ",+\"\\<>;".contains(c) || (at == 0 && c == '#') || (c == ' ' && (at == 0 || at == last));
        if is_special {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
/// An object id in its usual form.
fn dotted(id: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number: u64 = 0;
    for byte in id {
        number = number.wrapping_shl(7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.push(first);
                number -= 40 * first;
            }
            numbers.push(number);
            number = 0;
        }
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

fn elements(mut bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (tag, value, rest) = element(bytes)?;
        found.push((tag, value));
        bytes = rest;
    }
    Some(found)
}
fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|(found, _, _)| *found == tag).map(|(_, value, rest)| (value, rest))
}
/// Tag, value, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..0x80 => (usize::from(*first), rest),
        _ => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f)).filter(|(len, _)| len.len() <= 4)?;
            (len.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
        }
    };
    let (value, rest) = rest.split_at_checked(len)?;
    Some((*tag, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(attributes: &[(rcgen::DnType, &str)]) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        attributes.iter().for_each(|(kind, value)| params.distinguished_name.push(kind.clone(), *value));
        params.serial_number = Some(rcgen::SerialNumber::from(1));
        params.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![1]);
        params.self_signed(&super::super::key::Key::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn names_read_as_java_writes_them() {
        use rcgen::DnType::{CommonName, CountryName, CustomDnType, OrganizationName};
        for (attributes, expected) in [
            (vec![(CommonName, "alice")], "CN=alice"),
            (vec![(CountryName, "CH"), (OrganizationName, "A, B"), (CommonName, "#1 ")], r"CN=\#1\ ,O=A\, B,C=CH"),
            (vec![(CustomDnType(vec![1, 2, 840, 113549, 1, 9, 1]), "a")], "1.2.840.113549.1.9.1=#0c0161"),
            (vec![], ""),
        ] {
            assert_eq!(of_subject(&certificate(&attributes)).as_deref(), Some(expected));
        }
    }
    #[test]
    fn no_bytes_make_it_panic() {
        let whole = certificate(&[(rcgen::DnType::CommonName, "alice")]);
        for end in 0..whole.len() {
            assert_eq!(of_subject(&whole[..end]), None);
            let mut spoilt = whole.clone();
            spoilt[end] ^= 0xff;
            let _ = of_subject(&spoilt);
        }
    }
}
