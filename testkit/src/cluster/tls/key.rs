//! A P-256 key that signs certificates.

use graviola::hashing::Sha256;
use graviola::signing::ecdsa::{P256, SigningKey};
use rcgen::{PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm};

/// Room for an encoded key, a public key, or a signature.
const ROOM: usize = 256;
/// An uncompressed point: how a public key ends its SubjectPublicKeyInfo.
const POINT: usize = 65;

pub(super) struct Key {
    key: SigningKey<P256>,
    point: Vec<u8>,
}
impl Key {
    pub(super) fn generate() -> Result<Self, graviola::Error> {
        let key = SigningKey::<P256>::generate()?;
        let mut room = [0; ROOM];
        let public = key.to_spki_der(&mut room)?;
        let point = public.len().checked_sub(POINT).and_then(|at| public.get(at..)).unwrap_or_default().to_vec();
        Ok(Self { key, point })
    }
    /// As PKCS #8.
    pub(super) fn to_pkcs8(&self) -> Result<Vec<u8>, graviola::Error> {
        let mut room = [0; ROOM];
        self.key.to_pkcs8_der(&mut room).map(<[u8]>::to_vec)
    }
}
impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.point
    }
    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}
impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let mut room = [0; ROOM];
        let signed = self.key.sign_asn1::<Sha256>(&[message], &mut room);
        signed.map(<[u8]>::to_vec).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}
