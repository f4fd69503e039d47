//! The server's side of TLS handshakes.

use super::{Authority, name};
use crate::broker::ClientAuth;
use millstream_protocol::messages::StrBytes;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Lets clients in by TLS.
#[derive(Clone)]
pub(in crate::cluster) struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// With a certificate of the authority's, for clients with certificates of the authority's, as far as they are asked for.
    pub(in crate::cluster) fn new(authority: &Authority, auth: ClientAuth) -> Result<Self, String> {
        let provider = Arc::new(rustls_graviola::default_provider());
        let text = |error: rustls::Error| error.to_string();
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(text)?;
        let builder = match auth {
            ClientAuth::None => builder.with_no_client_auth(),
            asked => builder.with_client_cert_verifier(verifier(authority, provider, asked)?),
        };
        let own = authority.server()?;
        let chain = vec![own.certificate.der().clone(), authority.certificate().der().clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.key));
        let config = builder.with_single_cert(chain, key).map_err(text)?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
    /// Shakes hands; whom the client's certificate names, if it showed one.
    pub(in crate::cluster) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        self,
        stream: S,
    ) -> io::Result<(TlsStream<S>, Option<StrBytes>)> {
        let stream = self.0.accept(stream).await?;
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let name = certificate.and_then(|certificate| name::of_subject(certificate)).map(StrBytes::from_string);
        Ok((stream, name))
    }
}
impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acceptor")
    }
}

fn verifier(
    authority: &Authority,
    provider: Arc<CryptoProvider>,
    auth: ClientAuth,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().der().clone()).map_err(|error| error.to_string())?;
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = if auth == ClientAuth::Requested { builder.allow_unauthenticated() } else { builder };
    builder.build().map_err(|error| error.to_string())
}
