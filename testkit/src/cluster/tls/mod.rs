//! TLS of a cluster: a certificate authority that lives as long as the cluster, certificates from it, and the server's side of handshakes.
//!
//! No secret of a test is worth much, but the cryptography is real: what clients refuse elsewhere, they refuse here.

mod acceptor;
mod authority;
mod key;
mod name;

pub(super) use acceptor::Acceptor;
pub(super) use authority::Authority;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Whom the certificate of [`ClusterTls::client`] names when nobody is named.
const CLIENT: &str = "client";

/// The cluster's certificate authority, as clients need it: to trust the brokers, and to have certificates of their own.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use millstream_testkit::TestCluster;
///
/// let cluster = TestCluster::builder().tls().config("ssl.client.auth", "required").start().await;
/// let tls = cluster.tls();
/// assert!(tls.ca_pem().starts_with("-----BEGIN CERTIFICATE-----"));
/// let alice = tls.client("alice");
/// assert!(alice.key_pem().starts_with("-----BEGIN PRIVATE KEY-----"));
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClusterTls<'c>(&'c Authority);

impl<'c> ClusterTls<'c> {
    pub(super) const fn new(authority: &'c Authority) -> Self {
        Self(authority)
    }
    /// The authority's certificate, in PEM: what clients trust (`ssl.truststore.certificates`, librdkafka's `ssl.ca.pem`).
    #[must_use]
    pub fn ca_pem(self) -> &'c str {
        self.0.certificate_pem()
    }
    /// A new certificate for a client: `CN=` this name. Its principal is `User:CN=name`.
    #[must_use]
    pub fn client(self, name: &str) -> ClientCertificate {
        self.0.client(name)
    }
    /// Writes `ca.pem`, `client.pem` and `client.key` into a folder, which is made if it is not there: for clients that read files. The
    /// client's principal is `User:CN=client`.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write_to(self, folder: impl AsRef<Path>) -> io::Result<TlsFiles> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder)?;
        let files = TlsFiles {
            ca: folder.join("ca.pem"),
            certificate: folder.join("client.pem"),
            key: folder.join("client.key"),
        };
        let client = self.client(CLIENT);
        fs::write(&files.ca, self.ca_pem())?;
        fs::write(&files.certificate, client.certificate_pem())?;
        fs::write(&files.key, client.key_pem())?;
        Ok(files)
    }
}

/// A client's certificate and its private key.
#[derive(Debug, Clone)]
pub struct ClientCertificate {
    certificate: String,
    key: String,
}
impl ClientCertificate {
    /// The certificate, in PEM (`ssl.keystore.certificate.chain`, librdkafka's `ssl.certificate.pem`).
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.certificate
    }
    /// The key in PKCS #8, in PEM (`ssl.keystore.key`, librdkafka's `ssl.key.pem`).
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key
    }
}

/// Where [`ClusterTls::write_to`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// The authority's certificate.
    pub ca: PathBuf,
    /// The client's certificate.
    pub certificate: PathBuf,
    /// The client's key.
    pub key: PathBuf,
}
