//! DescribeUserScramCredentials (KIP-554): who can authenticate by SCRAM, with how many iterations.
//!
//! Version 0. Left out: nothing.

use super::{Handler, counted_by};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_user_scram_credentials_response::{
    CredentialInfo, DescribeUserScramCredentialsResult,
};
use millstream_protocol::messages::{
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, StrBytes,
};

pub(super) struct DescribeUserScramCredentials;

impl Handler for DescribeUserScramCredentials {
    type Request = DescribeUserScramCredentialsRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: DescribeUserScramCredentialsRequest,
    ) -> Answer<DescribeUserScramCredentialsResponse> {
        let asked: Vec<StrBytes> = request.users.iter().flatten().map(|user| user.name.clone()).collect();
        let results = if asked.is_empty() {
            let all = broker.security.credentials.scram_users();
            all.into_iter().map(|user| describe(broker, user)).collect()
        } else {
            let users = counted_by(&asked, |user| user).into_iter();
            users
                .map(|(user, times)| if times > 1 { twice(user.clone()) } else { describe(broker, user.clone()) })
                .collect()
        };
        Answer::Reply(
            DescribeUserScramCredentialsResponse::default()
                .with_error_message(Some(StrBytes::new()))
                .with_results(results),
        )
    }
    fn refuse(_: &DescribeUserScramCredentialsRequest, code: ErrorCode) -> DescribeUserScramCredentialsResponse {
        DescribeUserScramCredentialsResponse::default()
            .with_error_code(code.get())
            .with_error_message(Some(StrBytes::from_static_str(code.message())))
    }
}

fn describe(broker: &Broker, user: StrBytes) -> DescribeUserScramCredentialsResult {
    let known = broker.security.credentials.iterations(&user);
    if known.is_empty() {
        let reason = format!("Attempt to describe a user credential that does not exist: {user}");
        return failed(user, ErrorCode::RESOURCE_NOT_FOUND, reason);
    }
    let info = |(hash, iterations): (crate::broker::security::scram::Hash, i32)| {
        CredentialInfo::default().with_mechanism(hash.id()).with_iterations(iterations)
    };
    DescribeUserScramCredentialsResult::default()
        .with_user(user)
        .with_error_message(Some(StrBytes::new()))
        .with_credential_infos(known.into_iter().map(info).collect())
}
fn twice(user: StrBytes) -> DescribeUserScramCredentialsResult {
    let reason = format!("Cannot describe SCRAM credentials for the same user twice in a single request: {user}");
    failed(user, ErrorCode::DUPLICATE_RESOURCE, reason)
}
fn failed(user: StrBytes, code: ErrorCode, reason: String) -> DescribeUserScramCredentialsResult {
    DescribeUserScramCredentialsResult::default()
        .with_user(user)
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(reason)))
}
