//! Both with a SASL listener and an authorizer: clients with few rights, which change all the time, ask for everything there is.

use crate::Step;
use crate::acls::{self, rule};
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{ADMINISTRATOR, CLIENTS, Kind, Pair};
use crate::wire::Login;
use bytes::Bytes;
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_user_scram_credentials_request::ScramCredentialUpsertion;
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::{AlterUserScramCredentialsRequest, CreateAclsRequest, DeleteAclsRequest};
use millstream_testkit::TestClusterBuilder;

const ALICE: Login = ("alice", "alice-secret");
const BOB: Login = ("bob", "bob-secret");
const ADMIN: Login = ("admin", "admin-secret");
pub(crate) const LOGINS: [Option<Login>; CLIENTS + 1] = [Some(ALICE), Some(BOB), Some(ALICE), Some(ADMIN)];

/// With an odd seed, whoever is in no rule about a thing may do nothing with it; with an even one, everything until there is a rule.
fn is_open(seed: u64) -> &'static str {
    if seed.is_multiple_of(2) { "true" } else { "false" }
}
pub(crate) fn builder(seed: u64) -> TestClusterBuilder {
    let builder = crate::builder().sasl(&["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]).super_user("User:admin");
    let builder = builder.config("allow.everyone.if.no.acl.found", is_open(seed));
    [ALICE, BOB, ADMIN].into_iter().fold(builder, |builder, (name, password)| builder.user(name, password))
}
/// What the launcher is told.
pub(crate) fn options(seed: u64) -> Vec<String> {
    let users = [ALICE, BOB, ADMIN].map(|(name, password)| format!("user_{name}=\"{password}\"")).join(" ");
    let module = "org.apache.kafka.common.security.plain.PlainLoginModule";
    let settings = [
        format!("allow.everyone.if.no.acl.found={}", is_open(seed)),
        format!("listener.name.client.plain.sasl.jaas.config={module} required {users};"),
    ];
    let set = settings.into_iter().flat_map(|setting| ["--set".to_owned(), setting]);
    ["--security".to_owned(), "sasl".to_owned()].into_iter().chain(set).collect()
}
/// The launcher makes no credentials of SCRAM for bob.
pub(crate) fn prepare(pair: &mut Pair) {
    let credential = |mechanism: i8| {
        ScramCredentialUpsertion::default()
            .with_name(text(BOB.0))
            .with_mechanism(mechanism)
            .with_iterations(4096)
            .with_salt(Bytes::from_static(b"salt"))
            .with_salted_password(Bytes::from_static(b"salted"))
    };
    for mechanism in [1, 2] {
        let request = AlterUserScramCredentialsRequest::default().with_upsertions(vec![credential(mechanism)]);
        pair.ask(Kind::Writes, 0, |_| request.clone(), |_, _| {});
    }
}

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![(ApiKey::CREATE_ACLS, change_rules as Step); 16]
}

/// The administrator gives and takes rights.
fn change_rules(pair: &mut Pair, chance: &mut Chance) {
    let whose = chance.word(&["User:alice", "User:bob", "User:*"]);
    if chance.once_in(3) {
        let all = DeleteAclsFilter::default()
            .with_resource_type_filter(1)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(1)
            .with_principal_filter(Some(text(whose)))
            .with_host_filter(None)
            .with_operation(1)
            .with_permission_type(1);
        let request = DeleteAclsRequest::default().with_filters(vec![all]);
        pair.ask_as(
            ADMINISTRATOR,
            Kind::Writes,
            3,
            |_| request.clone(),
            |response, _| response.filter_results.iter_mut().for_each(|result| result.matching_acls.clear()),
        );
    }
    let rules: Vec<AclCreation> = (0..5).map(|_| rule(chance, 4)).collect();
    let request = CreateAclsRequest::default().with_creations(rules);
    pair.ask_as(ADMINISTRATOR, Kind::Writes, 3, |_| request.clone(), |_, _| {});
    acls::settle(pair);
}
