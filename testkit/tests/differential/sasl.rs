//! Logging in: SaslHandshake and SaslAuthenticate, each time on a connection of its own, in right and wrong order.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{Pair, Side, Told};
use crate::wire::Wire;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, Mac};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::{
    ApiVersionsRequest, DescribeClusterRequest, SaslAuthenticateRequest, SaslHandshakeRequest,
};
use sha2::{Digest, Sha256};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::SASL_HANDSHAKE, converse),
        (ApiKey::SASL_AUTHENTICATE, converse),
        (ApiKey::SASL_AUTHENTICATE, converse),
    ]
}

/// One thing said on a connection.
#[derive(Debug, Clone, Copy)]
enum Said {
    Versions,
    Handshake(i16, &'static str),
    /// In a request of this version.
    Token(i16, &'static [u8]),
    /// Bare, as after the oldest handshake.
    Bare(&'static [u8]),
    /// All of SCRAM-SHA-256: user, password.
    Scram(&'static str, &'static str),
    Asks,
}
use Said::{Asks, Bare, Handshake, Scram, Token, Versions};

const RIGHT: &[u8] = b"\0alice\0alice-secret";
const WRONG: &[&[u8]] = &[
    b"\0alice\0wrong",
    b"\0nobody\0alice-secret",
    b"bob\0alice\0alice-secret",
    b"alice\0alice\0alice-secret",
    b"\0\0alice-secret",
    b"\0alice\0",
    b"alice",
    b"",
    b"\0alice\0alice-secret\0more",
    b"\xff\xfe\0x",
];
const FIRST_MESSAGES: &[&[u8]] = &[
    b"n,,n=alice,r=abc",
    b"n,,n=nobody,r=abc",
    b"y,,n=alice,r=abc",
    b"p=tls-unique,,n=alice,r=abc",
    b"n,a=alice,n=alice,r=abc",
    b"n,a=bob,n=alice,r=abc",
    b"n,,n=alice",
    b"n,,m=x,n=alice,r=abc",
    b"n,,n=al=2Cice,r=abc",
    b"n,,n=al=ice,r=abc",
    b"n,,n=alice,r=abc,tokenauth=true",
    b"nonsense",
    b"",
];

fn converse(pair: &mut Pair, chance: &mut Chance) {
    let version = chance.version(0, 2);
    let mechanism = chance.word(&["PLAIN", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "plain", ""]);
    let first = Handshake(*chance.pick(&[0, 1, 1, 1]), mechanism);
    let token = if mechanism.starts_with("SCRAM") {
        *chance.pick(FIRST_MESSAGES)
    } else if chance.once_in(2) {
        RIGHT
    } else {
        *chance.pick(WRONG)
    };
    let said: Vec<Said> = match chance.below(12) {
        0 => vec![Token(version, token), Asks],
        1 => vec![Asks, first],
        2 => vec![Versions, Versions, first, Token(version, token), Asks],
        3 => vec![first, first, Asks],
        4 => vec![first, Asks],
        5 => vec![Handshake(0, mechanism), Bare(token), Asks, Token(version, token)],
        6 => vec![first, Token(version, token), Token(version, token), Asks],
        7 => vec![first, Token(version, token), first, Token(version, token), Asks],
        8 => {
            let user = chance.word(&["alice", "admin", "nobody"]);
            vec![Handshake(1, "SCRAM-SHA-256"), Scram(user, chance.word(&["alice-secret", "admin-secret"])), Asks]
        }
        9 => vec![first, Versions, Token(version, token), Asks],
        10 => vec![first, Token(version, token), Versions, Asks],
        _ => vec![first, Token(version, token), Asks],
    };
    let handshakes = said.iter().find_map(|said| match said {
        Handshake(version, _) => Some(*version),
        _ => None,
    });
    let (api, version) = match pair.api {
        Some(ApiKey::SASL_HANDSHAKE) => (ApiKey::SASL_HANDSHAKE, handshakes),
        _ => (ApiKey::SASL_AUTHENTICATE, Some(version)),
    };
    pair.compare(api, &format!("a login: {said:?}"), |side| talk(side, &said, version));
}
fn talk(side: &mut Side, said: &[Said], version: Option<i16>) -> Told {
    let mut wire = side.open();
    let heard: Vec<String> = said.iter().map(|said| hear(&mut wire, *said)).collect();
    Told { text: heard.join("\n"), may_change: false, tries: 1, only_reads: false, answered: version }
}
fn hear(wire: &mut Wire, said: Said) -> String {
    match said {
        _ if wire.is_over() => "over".to_owned(),
        Versions => format!("{:?}", wire.ask(0, &ApiVersionsRequest::default()).map(|answer| answer.error_code)),
        Handshake(version, mechanism) => {
            let mut answer = wire.ask(version, &SaslHandshakeRequest::default().with_mechanism(text(mechanism)));
            answer.iter_mut().for_each(|answer| answer.mechanisms.sort());
            format!("{answer:#?}")
        }
        Token(version, token) => authenticate(wire, version, token).0,
        Bare(token) => format!("{:?}", wire.ask_bare(token).map(|answer| without_nonce(&answer))),
        Scram(user, password) => scram(wire, user, password),
        Asks => {
            let request = DescribeClusterRequest::default();
            format!("{:?}", wire.ask(0, &request).map(|answer| (answer.error_code, answer.brokers.len())))
        }
    }
}
/// What is told of the answer, and the token in it.
fn authenticate(wire: &mut Wire, version: i16, token: &[u8]) -> (String, Option<Bytes>) {
    let request = SaslAuthenticateRequest::default().with_auth_bytes(Bytes::copy_from_slice(token));
    let Some(mut answer) = wire.ask(version, &request) else { return ("the end".to_owned(), None) };
    let token = answer.auth_bytes.clone();
    answer.auth_bytes = without_nonce(&token);
    (format!("{answer:#?}"), Some(token).filter(|_| answer.error_code == 0))
}
/// A server's first message of SCRAM without the chance in it; another one as it is.
fn without_nonce(token: &[u8]) -> Bytes {
    if token.starts_with(b"v=") {
        return Bytes::from_static(b"v=");
    }
    let Some(message) = std::str::from_utf8(token).ok().filter(|message| message.starts_with("r=")) else {
        return Bytes::copy_from_slice(token);
    };
    let kept = message.split(',').filter(|field| !field.starts_with("r=") && !field.starts_with("s="));
    Bytes::from(kept.collect::<Vec<_>>().join(","))
}

fn scram(wire: &mut Wire, user: &str, password: &str) -> String {
    let first_bare = format!("n={user},r=fyko+d2lbbFgONRv9qkxdawL");
    let (told, token) = authenticate(wire, 2, format!("n,,{first_bare}").as_bytes());
    let Some(server_first) = token.and_then(|token| String::from_utf8(token.to_vec()).ok()) else { return told };
    let second = authenticate(wire, 2, proof(password, &first_bare, &server_first).as_bytes()).0;
    format!("{told}\n{second}")
}
/// A client's second message.
fn proof(password: &str, first_bare: &str, server_first: &str) -> String {
    let mac = |key: &[u8], message: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    };
    let fields: Vec<&str> = server_first.split(',').map(|field| &field[2..]).collect();
    let [nonce, salt, count] = fields[..] else { panic!("a server's first message: {server_first}") };
    let salt = STANDARD.decode(salt).expect("a salt");
    let mut block = mac(password.as_bytes(), &[salt, vec![0, 0, 0, 1]].concat());
    let mut salted = block.clone();
    for _ in 1..count.parse::<i32>().expect("a number") {
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
