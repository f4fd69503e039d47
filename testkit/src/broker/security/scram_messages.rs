//! SCRAM's two messages from clients, read as strictly as RFC 5802 writes them: attributes in their order, each once. A channel binding is
//! not offered. An extension that must be understood passes before the name, and nowhere else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// `n,[a=id],[m=extension],n=user,r=nonce[,extensions]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientFirst {
    pub(super) gs2_header: String,
    pub(super) authorization_id: Option<String>,
    pub(super) user: String,
    pub(super) nonce: String,
    /// The user is a delegation token's id: `tokenauth=true`.
    pub(super) is_token: bool,
    /// What the proof is about: all after the header.
    pub(super) bare: String,
}
impl ClientFirst {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let after = text.strip_prefix("n,")?;
        let (id, bare) = after.split_once(',')?;
        let authorization_id = match id {
            "" => None,
            id => Some(name(id.strip_prefix("a=")?)?),
        };
        let mut parts = bare.split(',').peekable();
        // Kafka lets an extension pass that must be understood, and does nothing about it.
        if parts.peek().is_some_and(|part| part.len() > 2 && part.starts_with("m=")) {
            parts.next();
        }
        let user = name(parts.next()?.strip_prefix("n=")?)?;
        let nonce = nonce(parts.next()?)?;
        let extensions: Vec<(&str, &str)> = parts.map(extension).collect::<Option<_>>()?;
        Some(Self {
            gs2_header: format!("n,{id},"),
            authorization_id,
            user,
            nonce,
            is_token: extensions.iter().any(|(key, value)| *key == "tokenauth" && value.eq_ignore_ascii_case("true")),
            bare: bare.to_owned(),
        })
    }
}

/// `c=binding,r=nonce[,extensions],p=proof`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientFinal {
    pub(super) channel_binding: Vec<u8>,
    pub(super) nonce: String,
    pub(super) proof: Vec<u8>,
    pub(super) without_proof: String,
}
impl ClientFinal {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (without_proof, proof) = text.rsplit_once(",p=")?;
        let mut parts = without_proof.split(',');
        let channel_binding = STANDARD.decode(parts.next()?.strip_prefix("c=")?).ok()?;
        let nonce = nonce(parts.next()?)?;
        parts.map(extension).collect::<Option<Vec<_>>>()?;
        Some(Self {
            channel_binding,
            nonce,
            proof: STANDARD.decode(proof).ok()?,
            without_proof: without_proof.to_owned(),
        })
    }
}

/// A name in which `,` and `=` stand as `=2C` and `=3D`.
pub(super) fn name(text: &str) -> Option<String> {
    let is_legal = |c: char| matches!(c, '\u{1}'..='\u{7f}');
    if text.is_empty() || !text.chars().all(is_legal) {
        return None;
    }
    let (first, rest) =
        text.split('=').collect::<Vec<_>>().split_first().map(|(first, rest)| (*first, rest.to_vec()))?;
    rest.into_iter().try_fold(first.to_owned(), |name, part| {
        let (sign, after) =
            part.strip_prefix("2C").map(|after| (',', after)).or_else(|| Some(('=', part.strip_prefix("3D")?)))?;
        Some(format!("{name}{sign}{after}"))
    })
}
fn nonce(attribute: &str) -> Option<String> {
    let nonce = attribute.strip_prefix("r=")?;
    let is_printable = nonce.bytes().all(|byte| matches!(byte, 0x21..=0x7e));
    (is_printable && !nonce.is_empty()).then(|| nonce.to_owned())
}
fn extension(attribute: &str) -> Option<(&str, &str)> {
    let (key, value) = attribute.split_once('=')?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic()) && key != "m";
    let is_value = !value.is_empty() && value.chars().all(|c| matches!(c, '\u{1}'..='\u{7f}'));
    (is_key && is_value).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rfc_5802_does_not_write_is_not_read() {
        for text in [
            "",
            "n",
            "n,",
            "n,,",
            "y,,n=u,r=1",
            "p=tls-unique,,n=u,r=1",
            "n,,n=,r=1",
            "n,,n=u,r=",
            "n,,r=1,n=u",
            "n,,n=u",
            "n,b=u,n=u,r=1",
            "n,,n=u,r=1,m=x",
            "n,,n=a=b,r=1",
            "n,,n=a=2c,r=1",
            "n,,n=u,r=1,",
            "n,,n=é,r=1",
            "n,,n=u,r=a b",
            "n,,n=u,r=1,x",
        ] {
            assert_eq!(ClientFirst::parse(text), None, "{text:?}");
        }
        for text in [
            "",
            "c=biws,r=1",
            "r=1,c=biws,p=AAAA",
            "c=!,r=1,p=AAAA",
            "c=biws,r=1,p=A",
            "c=biws,r=,p=AAAA",
            "c=biws,r=1,m=1,p=AAAA",
        ] {
            assert_eq!(ClientFinal::parse(text), None, "{text:?}");
        }
    }
    #[test]
    fn names_are_written_back() {
        assert_eq!(name("=2C=3D,"), Some(",=,".to_owned()));
        assert_eq!(name("a=3D2C"), Some("a=2C".to_owned()));
        assert_eq!(name("a=4D"), None);
    }
}
