//! The exchanges that Kafka's own classes made, and clients that cheat.

use super::*;
use serde_json::Value;

fn vectors() -> Vec<Value> {
    millstream_vectors::rows("scram").collect()
}
fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap()
}
fn hash_of(row: &Value) -> Hash {
    if text(row, "mechanism") == "SCRAM-SHA-256" { Hash::Sha256 } else { Hash::Sha512 }
}
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn keys_are_kafkas() {
    for row in vectors() {
        let (hash, salt) = (hash_of(&row), bytes(text(&row, "salt")));
        let iterations = i32::try_from(row["iterations"].as_i64().unwrap()).unwrap();
        let keys = Keys::of_password(hash, text(&row, "password"), &salt, iterations);
        assert_eq!(
            hex(&hash.salted(text(&row, "password").as_bytes(), &salt, iterations)),
            text(&row, "salted_password")
        );
        assert_eq!(hex(&keys.stored_key), text(&row, "stored_key"));
        assert_eq!(hex(&keys.server_key), text(&row, "server_key"));
    }
}

#[test]
fn kafkas_client_first_messages_are_read_as_its_broker_reads_them() {
    for row in vectors() {
        let first = ClientFirst::parse(text(&row, "client_first"));
        assert_eq!(first.is_some(), row["broker_parses_client_first"].as_bool().unwrap(), "{row}");
        if let Some(first) = first {
            assert_eq!(first.user, text(&row, "user"));
            assert_eq!(first.nonce, text(&row, "client_nonce"));
            assert_eq!(first.is_token, row["token_auth"].as_bool().unwrap());
        }
    }
}

#[test]
fn kafkas_proofs_hold_and_no_others() {
    for row in vectors().iter().filter(|row| row["broker_parses_client_first"] == true) {
        let hash = hash_of(row);
        let first = ClientFirst::parse(text(row, "client_first")).unwrap();
        let iterations = i32::try_from(row["iterations"].as_i64().unwrap()).unwrap();
        let sent = Sent {
            user: first.user,
            keys: Keys::of_password(hash, text(row, "password"), &bytes(text(row, "salt")), iterations),
            nonce: text(row, "server_nonce").to_owned(),
            gs2_header: first.gs2_header,
            client_first_bare: first.bare,
            server_first: text(row, "server_first").to_owned(),
        };
        let server = ScramServer::new(hash);
        let step = server.check(text(row, "client_final"), &sent).unwrap();
        assert_eq!(step.answer, text(row, "server_final"));
        assert_eq!(step.user.as_deref(), Some(text(row, "user")));

        let spoilt = text(row, "client_final").replacen("c=biws", "c=eSws", 1);
        assert_eq!(server.check(&spoilt, &sent), Err(Refusal::Hidden), "another channel binding");
        let (before, proof) = text(row, "client_final").rsplit_once(",p=").unwrap();
        let other = STANDARD.encode(vec![0; STANDARD.decode(proof).unwrap().len()]);
        assert_eq!(server.check(&format!("{before},p={other}"), &sent), Err(Refusal::Hidden), "another proof");
    }
}

#[test]
fn the_nonce_of_another_exchange_is_refused() {
    let mut credentials = Credentials::new(7);
    credentials.add_user("alice", "secret");
    let mut server = ScramServer::new(Hash::Sha256);
    let first = server.handle(b"n,,n=alice,r=abc", &mut credentials).unwrap();
    assert!(first.answer.starts_with("r=abc") && first.answer.ends_with(",i=4096"), "{}", first.answer);
    assert_eq!(server.handle(b"c=biws,r=abc,p=AAAA", &mut credentials), Err(Refusal::Hidden));
    assert_eq!(server.handle(b"n,,n=alice,r=abc", &mut credentials), Err(Refusal::Hidden), "it is over");
}

/// librdkafka put its own nonce in front of the one that the server had sent, in which it was already, from its first version to 2.6.0: kcat
/// as Debian has it could not come in. Kafka takes a nonce that ends with the server's.
#[test]
fn a_client_that_repeats_its_nonce_comes_in() {
    let mut credentials = Credentials::new(7);
    credentials.add_user("alice", "secret");
    let mut server = ScramServer::new(Hash::Sha256);
    let first = server.handle(b"n,,n=alice,r=abc", &mut credentials).unwrap().answer;
    let mut parts = first.split(',').map(|part| &part[2..]);
    let (nonce, salt) = (parts.next().unwrap(), STANDARD.decode(parts.next().unwrap()).unwrap());
    let last = format!("c=biws,r=abc{nonce}");
    let salted = Hash::Sha256.salted(b"secret", &salt, 4096);
    let client_key = Hash::Sha256.hmac(&salted, b"Client Key");
    let said = format!("n=alice,r=abc,{first},{last}");
    let signature = Hash::Sha256.hmac(&Hash::Sha256.digest(&client_key), said.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(one, other)| one ^ other).collect();
    let last = format!("{last},p={}", STANDARD.encode(proof));
    assert_eq!(server.handle(last.as_bytes(), &mut credentials).unwrap().user.as_deref(), Some("alice"));
}
