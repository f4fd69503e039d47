//! Connections by TLS.

use crate::doors::Stream;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

pub(crate) fn trusting(ca: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).expect("PEM")).expect("a certificate");
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls_graviola::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("it has versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}
pub(crate) fn over(config: &Arc<ClientConfig>, stream: TcpStream) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("localhost").expect("a name");
    StreamOwned::new(ClientConnection::new(Arc::clone(config), name).expect("a configuration"), stream)
}
impl Stream for StreamOwned<ClientConnection, TcpStream> {
    fn close_own_half(&mut self) {
        self.conn.send_close_notify();
        // If the broker has hung up already, that is what is read.
        let _ = self.flush();
        let _ = self.sock.shutdown(Shutdown::Write);
    }
}
