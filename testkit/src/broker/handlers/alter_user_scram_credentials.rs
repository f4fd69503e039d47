//! AlterUserScramCredentials (KIP-554): makes, changes and removes what SCRAM goes by. Nothing of a user is changed when anything asked for
//! that user is wrong.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::own;
use crate::broker::security::credentials::{MAX_ITERATIONS, MIN_ITERATIONS};
use crate::broker::security::scram::{Hash, Keys};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_user_scram_credentials_request::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use millstream_protocol::messages::alter_user_scram_credentials_response::AlterUserScramCredentialsResult;
use millstream_protocol::messages::{AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, StrBytes};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct AlterUserScramCredentials;

/// Why a user's credentials stay as they are.
type Refused = (ErrorCode, String);

impl Handler for AlterUserScramCredentials {
    type Request = AlterUserScramCredentialsRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: AlterUserScramCredentialsRequest,
    ) -> Answer<AlterUserScramCredentialsResponse> {
        let refused = check_all(broker, &request);
        let is_refused = |user: &StrBytes| refused.get(user).is_some_and(Option::is_some);
        let credentials = &mut broker.security.credentials;
        for deletion in request.deletions.iter().filter(|deletion| !is_refused(&deletion.name)) {
            if let Some(hash) = Hash::from_id(deletion.mechanism) {
                credentials.remove_scram(&deletion.name, hash);
            }
        }
        for upsertion in request.upsertions.iter().filter(|upsertion| !is_refused(&upsertion.name)) {
            if let Some(hash) = Hash::from_id(upsertion.mechanism) {
                let keys = Keys::of_salted(hash, &upsertion.salted_password, &upsertion.salt, upsertion.iterations);
                credentials.put_scram(own::text(&upsertion.name), hash, keys);
            }
        }
        let results = refused.into_iter().map(|(user, refused)| answer(user, refused)).collect();
        Answer::Reply(AlterUserScramCredentialsResponse::default().with_results(results))
    }
    fn when_full(_: &Broker, request: &AlterUserScramCredentialsRequest) -> Option<ErrorCode> {
        (!request.upsertions.is_empty()).then_some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &AlterUserScramCredentialsRequest, code: ErrorCode) -> AlterUserScramCredentialsResponse {
        let refused = users(request).into_keys().map(|user| answer(user, Some((code, code.message().to_owned()))));
        AlterUserScramCredentialsResponse::default().with_results(refused.collect())
    }
}

/// All users, with the first thing wrong about each.
fn check_all(broker: &Broker, request: &AlterUserScramCredentialsRequest) -> BTreeMap<StrBytes, Option<Refused>> {
    let mut all = users(request);
    let mut changed: BTreeSet<StrBytes> = BTreeSet::new();
    let mut note = |user: &StrBytes, found: Result<(), Refused>| {
        // The first thing that is wrong counts; what follows of that user is not looked at.
        let Some(noted) = all.get_mut(user).filter(|noted| noted.is_none()) else { return };
        let is_first = changed.insert(user.clone());
        *noted = if is_first { found.err() } else { Some((ErrorCode::DUPLICATE_RESOURCE, TWICE.to_owned())) };
    };
    request.deletions.iter().for_each(|each| note(&each.name, check_deletion(broker, each)));
    request.upsertions.iter().for_each(|each| note(&each.name, check_upsertion(each)));
    all
}
const TWICE: &str = "A user credential cannot be altered twice in the same request";

fn users(request: &AlterUserScramCredentialsRequest) -> BTreeMap<StrBytes, Option<Refused>> {
    let deleted = request.deletions.iter().map(|each| &each.name);
    deleted.chain(request.upsertions.iter().map(|each| &each.name)).map(|user| (user.clone(), None)).collect()
}
fn check_change(user: &str, mechanism: i8) -> Result<Hash, Refused> {
    if user.is_empty() {
        return Err((ErrorCode::UNACCEPTABLE_CREDENTIAL, "Username must not be empty".to_owned()));
    }
    Hash::from_id(mechanism)
        .ok_or_else(|| (ErrorCode::UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism".to_owned()))
}
fn check_deletion(broker: &Broker, deletion: &ScramCredentialDeletion) -> Result<(), Refused> {
    let hash = check_change(&deletion.name, deletion.mechanism)?;
    if broker.security.credentials.has_scram(&deletion.name, hash) {
        return Ok(());
    }
    Err((ErrorCode::RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist".to_owned()))
}
fn check_upsertion(upsertion: &ScramCredentialUpsertion) -> Result<(), Refused> {
    check_change(&upsertion.name, upsertion.mechanism)?;
    let wrong = |reason: &str| Err((ErrorCode::UNACCEPTABLE_CREDENTIAL, reason.to_owned()));
    match upsertion.iterations {
        ..MIN_ITERATIONS => wrong("Too few iterations"),
        MIN_ITERATIONS..=MAX_ITERATIONS => Ok(()),
        _ => wrong("Too many iterations"),
    }
}
fn answer(user: StrBytes, refused: Option<Refused>) -> AlterUserScramCredentialsResult {
    let result = AlterUserScramCredentialsResult::default().with_user(user).with_error_message(None);
    match refused {
        None => result,
        Some((code, reason)) => {
            result.with_error_code(code.get()).with_error_message(Some(StrBytes::from_string(reason)))
        }
    }
}
