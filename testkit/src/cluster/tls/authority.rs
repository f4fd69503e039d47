//! A certificate authority of one cluster.

use super::ClientCertificate;
use super::key::Key;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyIdMethod, KeyUsagePurpose, SerialNumber,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the brokers' certificates are for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub(in crate::cluster) struct Authority {
    issuer: Issuer<'static, Key>,
    certificate: Certificate,
    pem: String,
    issued: AtomicU64,
}

/// A certificate with its key, as DER.
pub(super) struct Issued {
    pub(super) certificate: Certificate,
    pub(super) key: Vec<u8>,
}

impl Authority {
    /// A new one, with a new key.
    pub(in crate::cluster) fn new() -> Result<Self, String> {
        let key = Key::generate().map_err(|error| format!("no key can be made: {error:?}"))?;
        let mut params = params("millstream test authority", 1);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(|error| error.to_string())?;
        let pem = certificate.pem();
        Ok(Self { issuer: Issuer::new(params, key), certificate, pem, issued: AtomicU64::new(2) })
    }
    pub(super) fn certificate_pem(&self) -> &str {
        &self.pem
    }
    pub(super) const fn certificate(&self) -> &Certificate {
        &self.certificate
    }
    /// For the brokers: all of them are on loopback.
    pub(super) fn server(&self) -> Result<Issued, String> {
        self.issue("localhost", NAMES.map(str::to_owned).to_vec(), ExtendedKeyUsagePurpose::ServerAuth)
    }
    pub(super) fn client(&self, name: &str) -> ClientCertificate {
        match self.issue(name, Vec::new(), ExtendedKeyUsagePurpose::ClientAuth) {
            Ok(issued) => {
                let key = pem::encode(&pem::Pem::new("PRIVATE KEY", issued.key));
                ClientCertificate { certificate: issued.certificate.pem(), key }
            }
            Err(reason) => panic!("no certificate can be made for `{name}`: {reason}"),
        }
    }
    fn issue(&self, name: &str, names: Vec<String>, purpose: ExtendedKeyUsagePurpose) -> Result<Issued, String> {
        let key = Key::generate().map_err(|error| format!("no key can be made: {error:?}"))?;
        let mut params = params(name, self.issued.fetch_add(1, Ordering::Relaxed));
        let alternatives = CertificateParams::new(names).map_err(|error| error.to_string())?;
        params.subject_alt_names = alternatives.subject_alt_names;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).map_err(|error| error.to_string())?;
        let key = key.to_pkcs8().map_err(|error| format!("the key cannot be written: {error:?}"))?;
        Ok(Issued { certificate, key })
    }
}
impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("issued", &self.issued).finish_non_exhaustive()
    }
}

fn params(name: &str, serial: u64) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SerialNumber::from(serial));
    params.key_identifier_method = KeyIdMethod::PreSpecified(serial.to_be_bytes().to_vec());
    params
}
