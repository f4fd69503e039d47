//! Encrypted listeners, and clients that show certificates.

use crate::client::{Connection, connect, text, versions_request};
use millstream_protocol::messages::{MetadataRequest, SaslAuthenticateRequest, SaslHandshakeRequest};
use millstream_testkit::{ClientCertificate, SecurityProtocol, TestCluster};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::sync::Arc;

/// Connects by TLS, trusting one authority; with a certificate or without.
fn secured(bootstrap: &str, ca: &str, own: Option<&ClientCertificate>) -> Connection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls_graviola::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let chain = vec![CertificateDer::from_pem_slice(own.certificate_pem().as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(own.key_pem().as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    Connection::over(StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), connect(bootstrap)))
}
/// Whether a first request is answered.
fn is_served(mut connection: Connection) -> bool {
    connection.send(4, &versions_request());
    connection.payload().is_some()
}

#[tokio::test]
async fn clients_that_trust_the_authority_are_served_and_plain_ones_are_not() {
    let cluster = TestCluster::builder().tls().start().await;
    let mut connection = secured(&cluster.bootstrap_servers(), cluster.tls().ca_pem(), None);
    assert_eq!(connection.call(12, &MetadataRequest::default()).brokers.len(), 1);

    let mut plain = Connection::to(&cluster, 0);
    plain.send(4, &versions_request());
    let alert = [21, 3, 3, 0, 2, 2];
    let mut answer = Vec::new();
    let _ = std::io::Read::read_to_end(&mut plain.into_stream(), &mut answer);
    assert!(answer.is_empty() || answer.starts_with(&alert), "{answer:?}");
}

#[tokio::test]
async fn a_certificate_is_asked_for_as_configured() {
    let other = TestCluster::builder().tls().start().await.tls().client("mallory");
    for (auth, without, with_foreign) in [("none", true, true), ("requested", true, false), ("required", false, false)]
    {
        let cluster = TestCluster::builder().tls().config("ssl.client.auth", auth).start().await;
        let connect =
            |own: Option<&ClientCertificate>| secured(&cluster.bootstrap_servers(), cluster.tls().ca_pem(), own);
        let alice = cluster.tls().client("alice");
        assert!(is_served(connect(Some(&alice))), "{auth}: its own");
        assert_eq!(is_served(connect(None)), without, "{auth}: none");
        assert_eq!(is_served(connect(Some(&other))), with_foreign, "{auth}: another authority's");
    }
}

#[tokio::test]
async fn sasl_goes_over_tls() {
    let cluster = TestCluster::builder().tls().sasl(&["PLAIN"]).user("alice", "secret").start().await;
    let mut connection = secured(&cluster.bootstrap_servers_of("SASL_SSL"), cluster.tls().ca_pem(), None);
    connection.call(1, &SaslHandshakeRequest::default().with_mechanism(text("PLAIN")));
    let token = SaslAuthenticateRequest::default().with_auth_bytes("\0alice\0secret".into());
    assert_eq!(connection.call(2, &token).error_code, 0);
    assert_eq!(connection.call(12, &MetadataRequest::default()).brokers.len(), 1);
}

#[tokio::test]
async fn each_listener_names_the_brokers_by_its_own_addresses() {
    let builder = TestCluster::builder().brokers(2).listener("IN", SecurityProtocol::Plaintext);
    let cluster = builder.listener("OUT", SecurityProtocol::Ssl).start().await;
    let told = |mut connection: Connection| {
        let mut brokers = connection.call(12, &MetadataRequest::default()).brokers;
        brokers.sort_by_key(|broker| broker.node_id.0);
        brokers.iter().map(|broker| format!("{}:{}", broker.host, broker.port)).collect::<Vec<_>>().join(",")
    };
    let (inner, outer) = (cluster.bootstrap_servers(), cluster.bootstrap_servers_of("OUT"));
    assert_eq!(told(Connection::at(&inner)), inner);
    assert_eq!(told(secured(&outer, cluster.tls().ca_pem(), None)), outer);
    cluster.crash(2);
    cluster.restart(2);
    assert_eq!(told(secured(outer.split(',').nth(1).unwrap(), cluster.tls().ca_pem(), None)), outer);
}

#[tokio::test]
async fn files_for_clients_are_written() {
    let cluster = TestCluster::builder().tls().start().await;
    let folder = tempfile::tempdir().unwrap();
    let files = cluster.tls().write_to(folder.path().join("tls")).unwrap();
    assert_eq!(std::fs::read_to_string(files.ca).unwrap(), cluster.tls().ca_pem());
    assert!(std::fs::read_to_string(files.certificate).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(std::fs::read_to_string(files.key).unwrap().starts_with("-----BEGIN PRIVATE KEY-----"));
}
