//! Credentials for SCRAM: DescribeUserScramCredentials, AlterUserScramCredentials. Nobody logs in with them here.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{ADMINISTRATOR, Kind, Pair};
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_user_scram_credentials_request::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use millstream_protocol::messages::describe_user_scram_credentials_request::UserName;
use millstream_protocol::messages::{AlterUserScramCredentialsRequest, DescribeUserScramCredentialsRequest};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::ALTER_USER_SCRAM_CREDENTIALS, alter),
        (ApiKey::ALTER_USER_SCRAM_CREDENTIALS, alter),
        (ApiKey::DESCRIBE_USER_SCRAM_CREDENTIALS, describe),
    ]
}

const USERS: &[&str] = &["user-a", "user-b", "user-c", "", "user-a"];

fn alter(pair: &mut Pair, chance: &mut Chance) {
    let deletions = (0..*chance.pick(&[0, 0, 1, 2])).map(|_| {
        ScramCredentialDeletion::default()
            .with_name(text(chance.word(USERS)))
            .with_mechanism(*chance.pick(&[1, 1, 2, 0, 3]))
    });
    let deletions: Vec<_> = deletions.collect();
    let upsertions = (0..*chance.pick(&[1, 1, 2, 0])).map(|_| {
        ScramCredentialUpsertion::default()
            .with_name(text(chance.word(USERS)))
            .with_mechanism(*chance.pick(&[1, 1, 2, 0, 3]))
            .with_iterations(*chance.pick(&[4096, 8192, 4096, 4095, 16384, 16385, 0, -1]))
            .with_salt(Bytes::from_static(b"salt"))
            .with_salted_password(Bytes::from_static(b"salted"))
    });
    let request =
        AlterUserScramCredentialsRequest::default().with_upsertions(upsertions.collect()).with_deletions(deletions);
    pair.ask(
        Kind::Writes,
        0,
        |_| request.clone(),
        |response, _| {
            response.results.sort_by(|one, other| one.user.cmp(&other.user));
        },
    );
    ask(pair, ADMINISTRATOR, None);
}
fn describe(pair: &mut Pair, chance: &mut Chance) {
    let users: Vec<_> =
        (0..*chance.pick(&[0, 1, 1, 2, 3])).map(|_| UserName::default().with_name(text(chance.word(USERS)))).collect();
    // To whom may not ask for all of them, a real Kafka gives no answer.
    let asker = if chance.once_in(4) { ADMINISTRATOR } else { pair.next_client() };
    ask(pair, asker, (asker != ADMINISTRATOR).then_some(users));
}
fn ask(pair: &mut Pair, asker: usize, users: Option<Vec<UserName>>) {
    let request = DescribeUserScramCredentialsRequest::default().with_users(users);
    pair.ask_as(
        asker,
        Kind::Reads,
        0,
        |_| request.clone(),
        |response, _| {
            response.results.sort_by(|one, other| one.user.cmp(&other.user));
            for user in &mut response.results {
                user.credential_infos.sort_by_key(|info| info.mechanism);
            }
        },
    );
}
