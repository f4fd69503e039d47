//! Messages that Kafka's own client wrote, and tokens of all kinds.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use millstream_vectors::bytes;

#[test]
fn kafkas_client_messages_are_read_as_its_broker_reads_them() {
    let mut read = 0;
    for row in millstream_vectors::rows("oauthbearer").filter(|row| row["hex"].is_string()) {
        let message = ClientMessage::parse(&bytes(&row, "hex"));
        assert_eq!(message.is_some(), row["server_accepts"].as_bool().unwrap(), "{row}");
        if let Some(message) = message {
            assert_eq!(message.token, row["token"].as_str().unwrap());
            let seen = row["server_sees_authorization_id"].as_str().unwrap();
            assert_eq!(message.authorization_id.unwrap_or_default(), seen);
        }
        read += 1;
    }
    assert!(read > 0, "no rows");
}

fn message(header: &str, claims: &str) -> Vec<u8> {
    let (header, claims) = (URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    format!("n,,\u{1}auth=Bearer {header}.{claims}.\u{1}\u{1}").into_bytes()
}
/// What becomes of a token at 1000 s: who it names, or the server's words.
fn judge(rules: &Rules, header: &str, claims: &str) -> Result<String, String> {
    let mut server = Server::default();
    let now = Timestamp::from_millis(1_000_000);
    let step = server.handle(&message(header, claims), rules, now).unwrap();
    match step.accepted {
        Some(accepted) => Ok(accepted.user),
        None => {
            let told = server.handle(ACKNOWLEDGED, rules, now);
            assert_eq!(told, Err(Refusal::Told(step.answer.clone())), "the failure follows the acknowledgement");
            Err(step.answer)
        }
    }
}

#[test]
fn only_tokens_that_hold_now_are_taken() {
    let none = r#"{"alg":"none"}"#;
    let invalid = Err(r#"{"status":"invalid_token"}"#.to_owned());
    let alice = Ok("alice".to_owned());
    for (header, claims, expected) in [
        (none, r#"{"sub":"alice","exp":1001}"#, &alice),
        (none, r#"{"sub":"alice","exp":1000.001,"iat":999.5}"#, &alice),
        (none, r#"{"sub":"alice","exp":1000}"#, &invalid),
        (none, r#"{"sub":"alice","exp":"1001"}"#, &invalid),
        (none, r#"{"sub":"alice"}"#, &invalid),
        (none, r#"{"sub":"alice","exp":1002,"iat":1001}"#, &invalid),
        (none, r#"{"sub":" ","exp":1001}"#, &invalid),
        (none, r#"{"sub":7,"exp":1001}"#, &invalid),
        (none, r#"{"exp":1001}"#, &invalid),
        (none, r#"["sub"]"#, &invalid),
        (r#"{"alg":"HS256"}"#, r#"{"sub":"alice","exp":1001}"#, &invalid),
        ("{}", r#"{"sub":"alice","exp":1001}"#, &invalid),
    ] {
        assert_eq!(&judge(&Rules::default(), header, claims), expected, "{header} {claims}");
    }
}

#[test]
fn scopes_and_other_claims_are_asked_for_by_options() {
    let options = [
        ("unsecuredValidatorRequiredScope", "read write"),
        ("unsecuredValidatorPrincipalClaimName", "who"),
        ("unsecuredValidatorAllowableClockSkewMs", "2000"),
    ];
    let mut rules = Rules::default();
    rules.take_options(&options.map(|(name, value)| (name.to_owned(), value.to_owned())).into()).unwrap();
    let judge = |claims: &str| judge(&rules, r#"{"alg":"none"}"#, claims);
    assert_eq!(judge(r#"{"who":"bob","exp":999,"scope":["write","read","x"]}"#), Ok("bob".to_owned()));
    let missing = Err(r#"{"status":"insufficient_scope","scope":"read write"}"#.to_owned());
    assert_eq!(judge(r#"{"who":"bob","exp":1001,"scope":"read"}"#), missing);
    assert_eq!(judge(r#"{"who":"bob","exp":1001}"#), missing);
}

#[test]
fn an_authorization_id_is_the_tokens_principal_or_none() {
    let mut bytes = message(r#"{"alg":"none"}"#, r#"{"sub":"alice","exp":1001}"#);
    bytes.splice(2..2, *b"a=bob");
    let refused = Server::default().handle(&bytes, &Rules::default(), Timestamp::from_millis(0));
    assert!(matches!(refused, Err(Refusal::Told(reason)) if reason.contains("(bob)")));
}

/// Who a token names at 1000 s, if it is taken.
fn taken(options: &[(&str, &str)], token: &str) -> Option<String> {
    taken_at(1000, options, token)
}
fn taken_at(seconds: i64, options: &[(&str, &str)], token: &str) -> Option<String> {
    let mut rules = Rules::default();
    for (key, value) in options {
        assert!(rules.set(key, value).unwrap(), "{key}");
    }
    let now = Timestamp::from_millis(seconds * 1000);
    let message = format!("n,,\u{1}auth=Bearer {token}\u{1}\u{1}");
    let step = Server::default().handle(message.as_bytes(), &rules, now).unwrap();
    step.accepted.map(|accepted| accepted.user)
}
const SECRET: (&str, &str) = ("millstream.oauthbearer.secret", "a secret");
const ALICE: Option<&str> = Some("alice");

/// Signed by openssl.
#[test]
fn tokens_are_taken_whose_signature_is_made_by_the_secret() {
    for token in include_str!("signed.txt").lines().filter(|line| line.starts_with("eyJhbGciOiJIUz")) {
        assert_eq!(taken(&[SECRET], token).as_deref(), ALICE);
        assert_eq!(taken(&[("millstream.oauthbearer.secret", "another")], token), None);
        assert_eq!(taken(&[], token), None, "without a key nobody can tell");
        let (signed, _) = token.rsplit_once('.').unwrap();
        assert_eq!(taken(&[SECRET], &format!("{signed}.")), None);
    }
    let unsecured = [r#"{"alg":"none"}"#, r#"{"sub":"alice","exp":1001}"#].map(|part| URL_SAFE_NO_PAD.encode(part));
    assert_eq!(taken(&[SECRET], &format!("{}.", unsecured.join("."))), None, "who has a key wants a signature");
}

#[cfg(feature = "tls")]
#[test]
fn tokens_are_taken_whose_signature_is_made_by_the_key() {
    let key = ("millstream.oauthbearer.public.key", include_str!("signed.txt"));
    let tokens: Vec<&str> = key.1.lines().filter(|line| line.starts_with("eyJhbGciOiJSUz")).collect();
    assert_eq!(tokens.len(), 3);
    for token in tokens {
        assert_eq!(taken(&[key], token).as_deref(), ALICE);
        assert_eq!(taken(&[SECRET], token), None, "a secret is no such key");
        let other = token.replace("eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJSUzM4NCJ9");
        assert_eq!(taken(&[key], &other).is_some(), other == token, "the algorithm is part of what is signed");
    }
    let wrong = Rules::default().set(key.0, "no key").unwrap_err();
    assert_eq!(wrong, "the public key for OAUTHBEARER is no RSA key in PEM");
}

/// As Kafka has it, which grants unsecured tokens nothing.
#[test]
fn signed_tokens_are_taken_for_half_a_minute_more_unless_an_option_says_otherwise() {
    let token = include_str!("signed.txt").lines().find(|line| line.starts_with("eyJhbGciOiJIUz")).unwrap();
    let strict = ("sasl.oauthbearer.clock.skew.seconds", "0");
    assert_eq!(taken_at(2_000_000_029, &[SECRET], token).as_deref(), ALICE);
    assert_eq!(taken_at(2_000_000_030, &[SECRET], token), None);
    assert_eq!(taken_at(2_000_000_000, &[SECRET, strict], token), None);
}

#[test]
fn issuer_and_audience_are_asked_for_by_options() {
    let token = include_str!("signed.txt").lines().find(|line| line.starts_with("eyJhbGciOiJIUz")).unwrap();
    let taken = |key, value| taken(&[SECRET, (key, value)], token).is_some();
    assert!(taken("sasl.oauthbearer.expected.audience", "mail, kafka"));
    assert!(!taken("sasl.oauthbearer.expected.audience", "mail"));
    assert!(taken("sasl.oauthbearer.expected.issuer", "joe"));
    assert!(!taken("sasl.oauthbearer.expected.issuer", "jim"));
    assert!(!taken("sasl.oauthbearer.sub.claim.name", "nobody"));
}
