//! The keys by which signed tokens are checked (RFC 7515, RFC 7518): a secret for HS256, HS384 and HS512, an RSA key for RS256, RS384 and RS512.
//! They are given as options: nobody is asked for them, as Kafka asks a JWKS endpoint.

use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::{Sha256, Sha384, Sha512};

/// What there is to check by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    secret: Option<Vec<u8>>,
    /// As PKCS #1 writes it.
    #[cfg(feature = "tls")]
    rsa: Option<Vec<u8>>,
}
impl Keys {
    pub(crate) fn set_secret(&mut self, secret: &str) {
        self.secret = (!secret.is_empty()).then(|| secret.as_bytes().to_vec());
    }
    /// Takes a public key in PEM; says what is wrong with it.
    #[cfg(feature = "tls")]
    pub(crate) fn set_public_key(&mut self, text: &str) -> Result<(), String> {
        let wrong = || "the public key for OAUTHBEARER is no RSA key in PEM".to_owned();
        let found = pem::parse(text).map_err(|_| wrong())?;
        let key = match found.tag() {
            "RSA PUBLIC KEY" => found.contents(),
            _ => rsa::in_public_key_info(found.contents()).ok_or_else(wrong)?,
        };
        rsa::check(key).ok_or_else(wrong)?;
        self.rsa = Some(key.to_vec());
        Ok(())
    }
    #[cfg(not(feature = "tls"))]
    pub(crate) fn set_public_key(&mut self, _: &str) -> Result<(), String> {
        Err("a public key for OAUTHBEARER needs millstream-testkit's feature `tls`".to_owned())
    }
    /// Whether tokens have to be signed.
    pub(super) fn are_given(&self) -> bool {
        *self != Self::default()
    }
    /// Whether one of them has made a signature. An algorithm for which there is no key makes none.
    pub(super) fn have_signed(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let by_secret = self.secret.as_ref().is_some_and(|secret| match algorithm {
            "HS256" => is_mac::<Hmac<Sha256>>(secret, signed, signature),
            "HS384" => is_mac::<Hmac<Sha384>>(secret, signed, signature),
            "HS512" => is_mac::<Hmac<Sha512>>(secret, signed, signature),
            _ => false,
        });
        by_secret || self.has_rsa_signed(algorithm, signed, signature)
    }
    #[cfg(feature = "tls")]
    fn has_rsa_signed(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        self.rsa.as_ref().is_some_and(|key| rsa::has_signed(key, algorithm, signed, signature))
    }
    #[cfg(not(feature = "tls"))]
    fn has_rsa_signed(&self, _: &str, _: &[u8], _: &[u8]) -> bool {
        false
    }
}
fn is_mac<M: Mac + KeyInit>(secret: &[u8], signed: &[u8], mac: &[u8]) -> bool {
    <M as Mac>::new_from_slice(secret).is_ok_and(|keyed| keyed.chain_update(signed).verify_slice(mac).is_ok())
}

#[cfg(feature = "tls")]
mod rsa {
    //! RSA keys as bytes.

    use graviola::signing::rsa::VerifyingKey;

    /// The algorithm `rsaEncryption`, in DER.
    const ALGORITHM: [u8; 15] = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
    const BIT_STRING: u8 = 3;

    pub(super) fn check(key: &[u8]) -> Option<()> {
        VerifyingKey::from_pkcs1_der(key).ok().map(drop)
    }
    pub(super) fn has_signed(key: &[u8], algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let Ok(key) = VerifyingKey::from_pkcs1_der(key) else { return false };
        let checked = match algorithm {
            "RS256" => key.verify_pkcs1_sha256(signature, signed),
            "RS384" => key.verify_pkcs1_sha384(signature, signed),
            "RS512" => key.verify_pkcs1_sha512(signature, signed),
            _ => return false,
        };
        checked.is_ok()
    }
    /// The key within a SubjectPublicKeyInfo (RFC 5280): a bit string after the algorithm's name.
    pub(super) fn in_public_key_info(info: &[u8]) -> Option<&[u8]> {
        let at = info.windows(ALGORITHM.len()).position(|window| window == ALGORITHM)?;
        let (kind, rest) = info.get(at + ALGORITHM.len()..)?.split_first()?;
        let (length, rest) = rest.split_first()?;
        // A length beyond 127 says first in how many bytes it is written.
        let width = if *length < 0x80 { 0 } else { usize::from(length & 0x7f) };
        let (unused_bits, key) = rest.get(width..)?.split_first()?;
        (*kind == BIT_STRING && *unused_bits == 0).then_some(key)
    }
}
