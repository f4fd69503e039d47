//! SCRAM (RFC 5802, RFC 7677): the keys, and the server's side of an exchange.

use super::credentials::{Credentials, MIN_ITERATIONS};
use super::fail::Refusal;
use super::scram_messages::{ClientFinal, ClientFirst};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256, Sha512};

const OTHER_ID: &str = "Authentication failed: Client requested an authorization id that is different from username";
/// Bytes of the server's part of a nonce, before they are written as hex.
const NONCE: usize = 16;

/// Which hash a mechanism uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hash {
    Sha256,
    Sha512,
}
impl Hash {
    pub(crate) const ALL: [Self; 2] = [Self::Sha256, Self::Sha512];

    /// The mechanism's number in the admin APIs (KIP-554).
    pub(crate) const fn id(self) -> i8 {
        match self {
            Self::Sha256 => 1,
            Self::Sha512 => 2,
        }
    }
    pub(crate) fn from_id(id: i8) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.id() == id)
    }
    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
    fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => mac::<Hmac<Sha256>>(key, &[message]),
            Self::Sha512 => mac::<Hmac<Sha512>>(key, &[message]),
        }
    }
    /// RFC 5802's `Hi`.
    pub(crate) fn salted(self, password: &[u8], salt: &[u8], iterations: i32) -> Vec<u8> {
        match self {
            Self::Sha256 => iterate::<Hmac<Sha256>>(password, salt, iterations),
            Self::Sha512 => iterate::<Hmac<Sha512>>(password, salt, iterations),
        }
    }
}

fn keyed<M: Mac + hmac::digest::KeyInit>(key: &[u8]) -> M {
    <M as Mac>::new_from_slice(key).expect("HMAC takes keys of any length")
}
fn mac<M: Mac + hmac::digest::KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac: M = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}
fn iterate<M: Mac + hmac::digest::KeyInit + Clone>(password: &[u8], salt: &[u8], iterations: i32) -> Vec<u8> {
    let start: M = keyed(password);
    let step = |parts: &[&[u8]]| {
        let mut mac = start.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes()
    };
    let mut block = step(&[salt, &1_u32.to_be_bytes()]);
    let mut all = block.to_vec();
    for _ in 1..iterations {
        block = step(&[&block]);
        all.iter_mut().zip(&block).for_each(|(all, byte)| *all ^= byte);
    }
    all
}
/// Bytes by a seed and a number: the same for the same two, and not to be told from chance.
pub(super) fn spread(seed: u64, number: u64, len: usize) -> Vec<u8> {
    let block = |index: u64| Hash::Sha256.digest(&[seed, number, index].map(u64::to_be_bytes).concat());
    (0..).flat_map(block).take(len).collect()
}

/// What a server keeps of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) salt: Vec<u8>,
    stored_key: Vec<u8>,
    server_key: Vec<u8>,
    pub(crate) iterations: i32,
}
impl Keys {
    pub(crate) fn of_password(hash: Hash, password: &str, salt: &[u8], iterations: i32) -> Self {
        Self::of_salted(hash, &hash.salted(password.as_bytes(), salt, iterations), salt, iterations)
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.salt.len() + self.stored_key.len() + self.server_key.len()
    }
    pub(crate) fn of_salted(hash: Hash, salted: &[u8], salt: &[u8], iterations: i32) -> Self {
        let client_key = hash.hmac(salted, b"Client Key");
        Self {
            salt: salt.to_vec(),
            stored_key: hash.digest(&client_key),
            server_key: hash.hmac(salted, b"Server Key"),
            iterations,
        }
    }
}

/// The server's side of one exchange.
#[derive(Debug)]
pub(crate) struct ScramServer {
    hash: Hash,
    stage: Stage,
}
#[derive(Debug)]
enum Stage {
    First,
    Final(Box<Sent>),
    Over,
}
/// What was said so far.
#[derive(Debug)]
struct Sent {
    user: String,
    keys: Keys,
    nonce: String,
    gs2_header: String,
    client_first_bare: String,
    server_first: String,
}

/// What a message is answered with, and who has proved itself by it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) answer: String,
    pub(crate) user: Option<String>,
}

impl ScramServer {
    pub(crate) const fn new(hash: Hash) -> Self {
        Self { hash, stage: Stage::First }
    }
    /// Takes a message of the client.
    pub(crate) fn handle(&mut self, message: &[u8], credentials: &mut Credentials) -> Result<Step, Refusal> {
        let text = std::str::from_utf8(message).map_err(|_| Refusal::Hidden)?;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::First => self.begin(text, credentials),
            Stage::Final(sent) => self.check(text, &sent),
            Stage::Over => Err(Refusal::Hidden),
        }
    }
    fn begin(&mut self, text: &str, credentials: &mut Credentials) -> Result<Step, Refusal> {
        let first = ClientFirst::parse(text).ok_or(Refusal::Hidden)?;
        // A delegation token would be looked up by its id, of which there are none.
        let keys = credentials.keys(&first.user, self.hash).filter(|_| !first.is_token).ok_or(Refusal::Hidden)?;
        if first.authorization_id.as_ref().is_some_and(|id| *id != first.user) {
            return Err(Refusal::Told(OTHER_ID.to_owned()));
        }
        if keys.iterations < MIN_ITERATIONS {
            return Err(Refusal::Hidden);
        }
        let nonce = format!("{}{}", first.nonce, hex(&credentials.fresh(NONCE)));
        let server_first = format!("r={nonce},s={},i={}", STANDARD.encode(&keys.salt), keys.iterations);
        self.stage = Stage::Final(Box::new(Sent {
            user: first.user,
            keys,
            nonce,
            gs2_header: first.gs2_header,
            client_first_bare: first.bare,
            server_first: server_first.clone(),
        }));
        Ok(Step { answer: server_first, user: None })
    }
    fn check(&self, text: &str, sent: &Sent) -> Result<Step, Refusal> {
        let last = ClientFinal::parse(text).ok_or(Refusal::Hidden)?;
        // As Kafka does: librdkafka before 2.6.1 writes its own part of the nonce once more in front of the whole.
        if !last.nonce.ends_with(&sent.nonce) || last.channel_binding != sent.gs2_header.as_bytes() {
            return Err(Refusal::Hidden);
        }
        let said = format!("{},{},{}", sent.client_first_bare, sent.server_first, last.without_proof);
        let signature = self.hash.hmac(&sent.keys.stored_key, said.as_bytes());
        if signature.len() != last.proof.len() {
            return Err(Refusal::Hidden);
        }
        let client_key: Vec<u8> = signature.iter().zip(&last.proof).map(|(one, other)| one ^ other).collect();
        if self.hash.digest(&client_key) != sent.keys.stored_key {
            return Err(Refusal::Hidden);
        }
        let proof = self.hash.hmac(&sent.keys.server_key, said.as_bytes());
        Ok(Step { answer: format!("v={}", STANDARD.encode(proof)), user: Some(sent.user.clone()) })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
