//! How connections prove who they are, message by message.

use crate::client::{Connection, text, versions_request};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use hmac::{Hmac, Mac};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_user_scram_credentials_request::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use millstream_protocol::messages::describe_user_scram_credentials_request::UserName;
use millstream_protocol::messages::{
    AlterUserScramCredentialsRequest, DescribeUserScramCredentialsRequest, MetadataRequest, SaslAuthenticateRequest,
    SaslAuthenticateResponse, SaslHandshakeRequest,
};
use millstream_testkit::{SecurityProtocol, TestCluster, TestClusterBuilder};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ALL: [&str; 4] = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"];
const SCRAM_256: i8 = 1;
const SCRAM_512: i8 = 2;

fn builder() -> TestClusterBuilder {
    let builder = TestCluster::builder().sasl(&ALL).user("alice", "alice-secret").user("bob", "bob-secret");
    builder.config("connection.failed.authentication.delay.ms", "0")
}
fn handshake(connection: &mut Connection, version: i16, mechanism: &str) -> i16 {
    connection.call(version, &SaslHandshakeRequest::default().with_mechanism(text(mechanism))).error_code
}
fn authenticate(connection: &mut Connection, token: impl Into<Bytes>) -> SaslAuthenticateResponse {
    connection.call(2, &SaslAuthenticateRequest::default().with_auth_bytes(token.into()))
}
pub(crate) fn plain(connection: &mut Connection, user: &str, password: &str) -> SaslAuthenticateResponse {
    assert_eq!(handshake(connection, 1, "PLAIN"), 0);
    authenticate(connection, format!("\0{user}\0{password}"))
}
fn works(connection: &mut Connection) -> bool {
    connection.call(12, &MetadataRequest::default()).brokers.len() == 1
}
fn is_hung_up_on(mut connection: Connection) -> bool {
    connection.send(12, &MetadataRequest::default());
    connection.payload().is_none()
}

/// A SCRAM-SHA-256 client's second message.
fn proof(password: &str, first_bare: &str, server_first: &str) -> String {
    let mac = |key: &[u8], message: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    };
    let mut fields = server_first.split(',').map(|field| &field[2..]);
    let (nonce, salt, count) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
    let mut block = mac(password.as_bytes(), &[STANDARD.decode(salt).unwrap(), vec![0, 0, 0, 1]].concat());
    let mut salted = block.clone();
    for _ in 1..count.parse::<i32>().unwrap() {
        block = mac(password.as_bytes(), &block);
        salted.iter_mut().zip(&block).for_each(|(all, byte)| *all ^= byte);
    }
    let client_key = mac(&salted, b"Client Key");
    let without_proof = format!("c=biws,r={nonce}");
    let said = format!("{first_bare},{server_first},{without_proof}");
    let signature = mac(&Sha256::digest(&client_key), said.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(signature).map(|(one, other)| one ^ other).collect();
    format!("{without_proof},p={}", STANDARD.encode(proof))
}
fn scram(connection: &mut Connection, user: &str, password: &str) -> SaslAuthenticateResponse {
    assert_eq!(handshake(connection, 1, "SCRAM-SHA-256"), 0);
    let first_bare = format!("n={user},r=fyko+d2lbbFgONRv9qkxdawL");
    let first = authenticate(connection, format!("n,,{first_bare}"));
    if first.error_code != 0 {
        return first;
    }
    let server_first = String::from_utf8(first.auth_bytes.to_vec()).unwrap();
    authenticate(connection, proof(password, &first_bare, &server_first))
}
fn token(claims: &str) -> String {
    let encoded = [r#"{"alg":"none"}"#, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    format!("n,,\u{1}auth=Bearer {encoded}.\u{1}\u{1}")
}
fn seconds_from_now(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap() + seconds
}

#[tokio::test]
async fn a_password_opens_a_connection_by_each_mechanism() {
    let cluster = builder().start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(connection.call(4, &versions_request()).error_code, 0, "before anything else");
    let answer = plain(&mut connection, "alice", "alice-secret");
    assert_eq!((answer.error_code, answer.session_lifetime_ms, answer.auth_bytes.len()), (0, 0, 0));
    assert!(works(&mut connection));

    let mut connection = Connection::to(&cluster, 0);
    let answer = scram(&mut connection, "bob", "bob-secret");
    assert_eq!(answer.error_code, 0, "{answer:?}");
    assert!(answer.auth_bytes.starts_with(b"v="));
    assert!(works(&mut connection));

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 1, "OAUTHBEARER"), 0);
    let answer = authenticate(&mut connection, token(&format!(r#"{{"sub":"carol","exp":{}}}"#, seconds_from_now(60))));
    assert_eq!(answer.error_code, 0, "{answer:?}");
    assert!((1..=60_000).contains(&answer.session_lifetime_ms), "as long as the token: {answer:?}");
    assert!(works(&mut connection));
}

#[tokio::test]
async fn tokens_come_bare_after_the_oldest_handshake() {
    let cluster = builder().start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 0, "PLAIN"), 0);
    connection.send_raw(b"\0\0\0\x13\0alice\0alice-secret");
    assert_eq!(connection.payload().as_deref(), Some(&b""[..]), "an empty token says yes");
    assert!(works(&mut connection));

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 0, "PLAIN"), 0);
    connection.send_raw(b"\0\0\0\x0c\0alice\0wrong");
    assert_eq!(connection.payload(), None, "only hanging up says no");
}

#[tokio::test]
async fn a_wrong_proof_is_told_and_ends_the_connection() {
    let cluster = builder().start().await;
    let generic =
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256";
    type Try = fn(&mut Connection) -> SaslAuthenticateResponse;
    let cases: [(Try, &str); 4] = [
        (|connection| plain(connection, "alice", "bob-secret"), "Authentication failed: Invalid username or password"),
        (|connection| scram(connection, "alice", "bob-secret"), generic),
        (|connection| scram(connection, "nobody", "x"), generic),
        (|connection| scram(connection, "é", "x"), generic),
    ];
    for (attempt, reason) in cases {
        let mut connection = Connection::to(&cluster, 0);
        let answer = attempt(&mut connection);
        assert_eq!(answer.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED.get());
        assert_eq!(answer.error_message.as_deref(), Some(reason));
        assert_eq!(connection.payload(), None, "it is the last answer");
    }
}

#[tokio::test]
async fn an_expired_token_is_explained_before_it_is_refused() {
    let cluster = builder().start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 1, "OAUTHBEARER"), 0);
    let answer = authenticate(&mut connection, token(r#"{"sub":"carol","exp":1000}"#));
    assert_eq!((answer.error_code, answer.auth_bytes.as_ref()), (0, br#"{"status":"invalid_token"}"#.as_slice()));
    let answer = authenticate(&mut connection, "\u{1}");
    assert_eq!(answer.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED.get());
    assert_eq!(answer.error_message.as_deref(), Some(r#"{"status":"invalid_token"}"#));
    assert_eq!(connection.payload(), None);
}

#[tokio::test]
async fn a_failure_is_told_after_its_delay() {
    let cluster = builder().config("connection.failed.authentication.delay.ms", "50").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let began = std::time::Instant::now();
    assert_eq!(plain(&mut connection, "alice", "wrong").error_code, ErrorCode::SASL_AUTHENTICATION_FAILED.get());
    assert!(began.elapsed() >= Duration::from_millis(50));
    assert_eq!(connection.payload(), None);
}

#[tokio::test]
async fn nothing_but_the_next_step_is_answered() {
    let cluster = builder().start().await;
    assert!(is_hung_up_on(Connection::to(&cluster, 0)), "a request before the handshake");

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(connection.call(4, &versions_request()).error_code, 0);
    connection.send(4, &versions_request());
    assert_eq!(connection.payload(), None, "ApiVersions twice");

    let mut connection = Connection::to(&cluster, 0);
    let refused = connection.call(1, &SaslHandshakeRequest::default().with_mechanism(text("GSSAPI")));
    assert_eq!(refused.error_code, ErrorCode::UNSUPPORTED_SASL_MECHANISM.get());
    assert_eq!(refused.mechanisms, ALL.map(text));
    assert_eq!(connection.payload(), None, "an unknown mechanism");

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 1, "PLAIN"), 0);
    let refused = connection.call(12, &MetadataRequest::default());
    assert_eq!(refused.error_code, 0, "version 12 has no code of its own");
    assert_eq!(connection.payload(), None, "a request in place of a token");

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(plain(&mut connection, "alice", "alice-secret").error_code, 0);
    assert_eq!(handshake(&mut connection, 1, "PLAIN"), ErrorCode::ILLEGAL_SASL_STATE.get(), "the session has no end");
    assert_eq!(authenticate(&mut connection, "x").error_code, ErrorCode::ILLEGAL_SASL_STATE.get());
    assert!(works(&mut connection));
}

#[tokio::test]
async fn a_token_that_is_too_large_is_not_read() {
    let cluster = builder().config("sasl.server.max.receive.size", "200").start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(handshake(&mut connection, 1, "PLAIN"), 0);
    connection.send(2, &SaslAuthenticateRequest::default().with_auth_bytes(vec![b'a'; 300].into()));
    assert_eq!(connection.payload(), None);
}

#[tokio::test]
async fn a_session_with_an_end_is_renewed_by_its_user_or_closed() {
    let cluster = builder().config("connections.max.reauth.ms", "60000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let answer = plain(&mut connection, "alice", "alice-secret");
    assert_eq!((answer.error_code, answer.session_lifetime_ms), (0, 60_000));
    assert!(works(&mut connection));
    cluster.advance_brokers(Duration::from_secs(61));
    assert_eq!(plain(&mut connection, "alice", "alice-secret").error_code, 0, "late is not too late for a handshake");
    assert!(works(&mut connection));
    assert_eq!(handshake(&mut connection, 1, "PLAIN"), ErrorCode::ILLEGAL_SASL_STATE.get(), "again within a second");
    cluster.advance_brokers(Duration::from_secs(61));
    assert!(is_hung_up_on(connection), "the session is over");

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(plain(&mut connection, "alice", "alice-secret").error_code, 0);
    let other = plain(&mut connection, "bob", "bob-secret");
    assert_eq!(other.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED.get(), "another user");
    assert_eq!(connection.payload(), None);

    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(plain(&mut connection, "alice", "alice-secret").error_code, 0);
    assert_eq!(handshake(&mut connection, 1, "SCRAM-SHA-256"), 0);
    connection.send(2, &SaslAuthenticateRequest::default());
    assert_eq!(connection.payload(), None, "another mechanism");
}

#[tokio::test]
async fn scram_credentials_are_made_changed_and_removed() {
    let builder =
        builder().listener("OPEN", SecurityProtocol::Plaintext).listener("SASL", SecurityProtocol::SaslPlaintext);
    let cluster = builder.start().await;
    let mut admin = Connection::to(&cluster, 0);
    let sasl = cluster.bootstrap_servers_of("SASL");
    let upsertion = |name: &str, iterations: i32| {
        // "pencil", salted with "salt".
        let mut mac = Hmac::<Sha256>::new_from_slice(b"pencil").unwrap();
        mac.update(b"salt\0\0\0\x01");
        let mut block = mac.finalize().into_bytes();
        let mut salted = block.to_vec();
        for _ in 1..4096 {
            let mut mac = Hmac::<Sha256>::new_from_slice(b"pencil").unwrap();
            mac.update(&block);
            block = mac.finalize().into_bytes();
            salted.iter_mut().zip(&block).for_each(|(all, byte)| *all ^= byte);
        }
        ScramCredentialUpsertion::default()
            .with_name(text(name))
            .with_mechanism(SCRAM_256)
            .with_iterations(iterations)
            .with_salt(Bytes::from_static(b"salt"))
            .with_salted_password(salted.into())
    };
    let deletion =
        |name: &str, mechanism| ScramCredentialDeletion::default().with_name(text(name)).with_mechanism(mechanism);
    let request = AlterUserScramCredentialsRequest::default()
        .with_upsertions(vec![
            upsertion("carol", 4096),
            upsertion("dave", 4095),
            upsertion("eve", 16_385),
            upsertion("", 4096),
        ])
        .with_deletions(vec![deletion("bob", SCRAM_512), deletion("frank", SCRAM_256), deletion("grace", 9)]);
    let results = admin.call(0, &request).results;
    let told: Vec<_> = results.iter().map(|result| (result.user.as_str(), ErrorCode::new(result.error_code))).collect();
    assert_eq!(
        told,
        [
            ("", ErrorCode::UNACCEPTABLE_CREDENTIAL),
            ("bob", ErrorCode::NONE),
            ("carol", ErrorCode::NONE),
            ("dave", ErrorCode::UNACCEPTABLE_CREDENTIAL),
            ("eve", ErrorCode::UNACCEPTABLE_CREDENTIAL),
            ("frank", ErrorCode::RESOURCE_NOT_FOUND),
            ("grace", ErrorCode::UNSUPPORTED_SASL_MECHANISM),
        ]
    );
    assert_eq!(scram(&mut Connection::at(&sasl), "carol", "pencil").error_code, 0);
    assert_eq!(handshake_first(&sasl, "SCRAM-SHA-512", "bob"), ErrorCode::SASL_AUTHENTICATION_FAILED.get());
    assert_eq!(handshake_first(&sasl, "SCRAM-SHA-256", "bob"), 0);

    let asked = ["bob", "carol", "nobody", "carol"].map(|name| UserName::default().with_name(text(name)));
    let described =
        admin.call(0, &DescribeUserScramCredentialsRequest::default().with_users(Some(asked.to_vec()))).results;
    let told: Vec<_> = described
        .iter()
        .map(|result| {
            let infos =
                result.credential_infos.iter().map(|info| (info.mechanism, info.iterations)).collect::<Vec<_>>();
            (result.user.as_str(), ErrorCode::new(result.error_code), infos)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("bob", ErrorCode::NONE, vec![(SCRAM_256, 4096)]),
            ("carol", ErrorCode::DUPLICATE_RESOURCE, vec![]),
            ("nobody", ErrorCode::RESOURCE_NOT_FOUND, vec![]),
        ]
    );
    let all = admin.call(0, &DescribeUserScramCredentialsRequest::default().with_users(None)).results;
    assert_eq!(all.iter().map(|result| result.user.as_str()).collect::<Vec<_>>(), ["alice", "bob", "carol"]);
}

/// The code that a user's first SCRAM message is answered with.
fn handshake_first(bootstrap: &str, mechanism: &str, user: &str) -> i16 {
    let mut connection = Connection::at(bootstrap);
    assert_eq!(handshake(&mut connection, 1, mechanism), 0);
    authenticate(&mut connection, format!("n,,n={user},r=abc")).error_code
}
