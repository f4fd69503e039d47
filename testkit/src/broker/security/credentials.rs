//! Who has which password or SCRAM keys. PLAIN's users are those that the cluster was started with; SCRAM's begin as the same and are
//! changed by AlterUserScramCredentials.

use super::scram::{self, Hash, Keys};
use crate::broker::bounds::text_weight;
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeMap;

/// Kafka's least, and what users of the cluster's start have.
pub(crate) const MIN_ITERATIONS: i32 = 4096;
/// Kafka's most.
pub(crate) const MAX_ITERATIONS: i32 = 16_384;

/// What SCRAM knows of a user.
#[derive(Debug, Clone)]
enum Stored {
    /// Keys are made when somebody first needs them: it takes thousands of hashes.
    Password(String),
    Keys(Keys),
}

#[derive(Debug)]
pub(crate) struct Credentials {
    passwords: BTreeMap<String, String>,
    scram: BTreeMap<(StrBytes, Hash), Stored>,
    seed: u64,
    given: u64,
}
impl Credentials {
    pub(super) fn new(seed: u64) -> Self {
        Self { passwords: BTreeMap::new(), scram: BTreeMap::new(), seed, given: 0 }
    }
    /// A user of PLAIN and of SCRAM.
    pub(crate) fn add_user(&mut self, name: &str, password: &str) {
        self.passwords.insert(name.to_owned(), password.to_owned());
        for hash in Hash::ALL {
            let key = (StrBytes::from_string(name.to_owned()), hash);
            self.scram.insert(key, Stored::Password(password.to_owned()));
        }
    }
    pub(super) fn is_password(&self, user: &str, password: &str) -> bool {
        self.passwords.get(user).is_some_and(|known| known == password)
    }
    /// A user's SCRAM keys.
    pub(super) fn keys(&mut self, user: &str, hash: Hash) -> Option<Keys> {
        let salt = self.fresh(16);
        let stored = self.scram.get_mut(&(StrBytes::from_string(user.to_owned()), hash))?;
        if let Stored::Password(password) = stored {
            *stored = Stored::Keys(Keys::of_password(hash, password, &salt, MIN_ITERATIONS));
        }
        match stored {
            Stored::Keys(keys) => Some(keys.clone()),
            Stored::Password(_) => None,
        }
    }
    /// Bytes that nobody has had, the same in each run of a seed.
    pub(super) fn fresh(&mut self, len: usize) -> Vec<u8> {
        self.given += 1;
        scram::spread(self.seed, self.given, len)
    }
    /// A user's iterations by mechanism; none without credentials.
    pub(crate) fn iterations(&self, user: &str) -> Vec<(Hash, i32)> {
        let of = |hash: Hash| {
            let stored = self.scram.get(&(StrBytes::from_string(user.to_owned()), hash))?;
            Some((hash, stored.iterations()))
        };
        Hash::ALL.into_iter().filter_map(of).collect()
    }
    /// All users with SCRAM credentials.
    pub(crate) fn scram_users(&self) -> Vec<StrBytes> {
        let mut users: Vec<StrBytes> = self.scram.keys().map(|(user, _)| user.clone()).collect();
        users.dedup();
        users
    }
    pub(crate) fn has_scram(&self, user: &StrBytes, hash: Hash) -> bool {
        self.scram.contains_key(&(user.clone(), hash))
    }
    /// About how many bytes those of SCRAM take.
    pub(crate) fn weight(&self) -> usize {
        self.scram.iter().map(|((user, _), stored)| text_weight(user) + stored.weight()).sum()
    }
    pub(crate) fn put_scram(&mut self, user: StrBytes, hash: Hash, keys: Keys) {
        self.scram.insert((user, hash), Stored::Keys(keys));
    }
    pub(crate) fn remove_scram(&mut self, user: &StrBytes, hash: Hash) {
        self.scram.remove(&(user.clone(), hash));
    }
}
impl Stored {
    fn weight(&self) -> usize {
        match self {
            Self::Password(password) => text_weight(password),
            Self::Keys(keys) => keys.weight(),
        }
    }
    const fn iterations(&self) -> i32 {
        match self {
            Self::Password(_) => MIN_ITERATIONS,
            Self::Keys(keys) => keys.iterations,
        }
    }
}
