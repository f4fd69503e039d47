//! Options: DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, ListConfigResources.
//!
//! Not compared: the sentences that document options; values that the launcher gives a real broker in its file; options of groups that
//! this broker does not serve; loggers that exist, since the launcher's Kafka has none; of several wrong options of a broker, a group or a
//! subscription, which one is told.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{Kind, Pair};
use crate::telemetry;
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_configs_response::DescribeConfigsResult;
use millstream_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource as IncrementalResource, AlterableConfig as IncrementalConfig,
};
use millstream_protocol::messages::{
    AlterConfigsRequest, DescribeConfigsRequest, DescribeConfigsResponse, IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::DESCRIBE_CONFIGS, describe),
        (ApiKey::INCREMENTAL_ALTER_CONFIGS, alter_single),
        (ApiKey::INCREMENTAL_ALTER_CONFIGS, alter_single),
        (ApiKey::ALTER_CONFIGS, alter_whole),
        (ApiKey::LIST_CONFIG_RESOURCES, list),
    ]
}

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const LOGGER: i8 = 8;
const METRICS: i8 = 16;
const GROUP: i8 = 32;

/// Resources that are altered, by kind.
const RESOURCES: &[(i8, &[&str])] = &[
    (TOPIC, &["configured", "configured", "configured", "missing", "bad name", ""]),
    (BROKER, &["1", "1", "", "9", "abc"]),
    (LOGGER, &["1", "7", "abc"]),
    (METRICS, &["metrics", "metrics", "", "other"]),
    (GROUP, &["grouped", "grouped", ""]),
    (3, &["x"]),
    (99, &["x"]),
];
/// An option, and values for it that are right and wrong.
type Option_ = (&'static str, &'static [&'static str]);

const OF_TOPICS: &[Option_] = &[
    ("retention.ms", &["1000000", "-1", "-5", "x", "", "9223372036854775808", " 70000\t"]),
    ("retention.bytes", &["-1", "100000000", "-2", "1.5"]),
    ("cleanup.policy", &["delete", "compact", "delete,compact", "shred", "", "delete,delete"]),
    ("compression.type", &["producer", "gzip", "none", "uncompressed", "zip"]),
    ("compression.gzip.level", &["5", "-1", "0", "10"]),
    ("compression.zstd.level", &["3", "23", "x"]),
    ("compression.lz4.level", &["9", "18", "0"]),
    ("preallocate", &["true", "FALSE", "maybe", " True "]),
    ("min.insync.replicas", &["1", "2", "0"]),
    ("max.message.bytes", &["1000", "0", "-1"]),
    ("segment.bytes", &["1048576", "100", "2000000"]),
    ("segment.ms", &["100000", "0"]),
    ("message.timestamp.type", &["CreateTime", "LogAppendTime", "createtime"]),
    ("message.timestamp.before.max.ms", &["1000", "-1"]),
    ("min.cleanable.dirty.ratio", &["0.3", "1", "1.1", "-0.1", " 0.50 ", "1e-5"]),
    ("min.compaction.lag.ms", &["10", "-1"]),
    ("max.compaction.lag.ms", &["10", "0", "9223372036854775807"]),
    ("local.retention.ms", &["-2", "-1", "1000", "-3"]),
    ("remote.storage.enable", &["false", "true"]),
    ("leader.replication.throttled.replicas", &["*", "0:1", "0:1,1:1", "x", ""]),
    ("unclean.leader.election.enable", &["true", "false"]),
    ("flush.messages", &["1", "0"]),
    ("message.format.version", &["3.0"]),
    ("nope", &["1"]),
];
const OF_BROKERS: &[Option_] = &[
    ("log.cleaner.threads", &["1", "2", "x", " 2 "]),
    ("message.max.bytes", &["2000000", "-1", "\t3000000", "+4000000"]),
    ("broker.id", &["1"]),
    ("node.id", &["2"]),
    ("log.segment.delete.delay.ms", &["10000000", "x"]),
    ("num.io.threads", &["8", "9", "0"]),
    ("background.threads", &["10", "-1"]),
    ("min.insync.replicas", &["1", "2"]),
    ("log.message.timestamp.type", &["CreateTime", "createtime", " CreateTime "]),
    ("log.cleanup.policy", &["delete", "shred", " delete , compact "]),
    ("nope", &["1"]),
    ("ssl.keystore.password", &["secret"]),
    ("follower.replication.throttled.rate", &["1000", "0"]),
    ("log.cleaner.backoff.ms", &["100", "-1"]),
];
const OF_LOGGERS: &[Option_] = &[("nope.Logger", &["INFO", "DEBUG", "FOO"])];
const OF_METRICS: &[Option_] = &[
    ("metrics", &["org.", "org.a,org.b", "*", ""]),
    // Longer than a run, so that nobody may ask again because time went by.
    ("interval.ms", &["100000", "1", "3600001", "x", ""]),
    ("match", &["client_id=differential", "client_id=(", "foo=1", "", "client_software_version=1.*", "client_id"]),
    ("nope", &["1"]),
];
const OF_GROUPS: &[Option_] = &[
    ("consumer.session.timeout.ms", &["50000", "1", "x", "1000000"]),
    ("consumer.heartbeat.interval.ms", &["500", "5000", "1", "100000"]),
    ("consumer.assignment.interval.ms", &["0", "1000", "-1"]),
    ("nope", &["1"]),
];
/// What the launcher's file says.
const IN_FILE: &[&str] = &["broker.id", "node.id", "min.insync.replicas"];

fn options(kind: i8) -> &'static [Option_] {
    match kind {
        BROKER => OF_BROKERS,
        LOGGER => OF_LOGGERS,
        METRICS => OF_METRICS,
        GROUP => OF_GROUPS,
        _ => OF_TOPICS,
    }
}
fn resource(chance: &mut Chance) -> (i8, &'static str) {
    let at = *chance.pick(&[0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5, 6]);
    let (kind, names) = RESOURCES[at];
    (kind, chance.word(names))
}

fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_CONFIGS);
    let version = chance.version(min, max);
    let count = *chance.pick(&[1, 1, 2]);
    let mut resources: Vec<(i8, &str)> = (0..count).map(|_| resource(chance)).collect();
    resources.dedup();
    let resources = resources.into_iter().map(|(kind, name)| {
        let keys = (0..*chance.pick(&[0, 1, 3])).map(|_| text(chance.pick(options(kind)).0)).collect();
        described(kind, name).with_configuration_keys((!chance.once_in(4)).then_some(keys))
    });
    let request = DescribeConfigsRequest::default()
        .with_resources(resources.collect())
        .with_include_synonyms(chance.once_in(2))
        .with_include_documentation(version >= 3 && chance.once_in(2));
    ask(pair, version, &request);
}
fn described(kind: i8, name: &str) -> DescribeConfigsResource {
    DescribeConfigsResource::default().with_resource_type(kind).with_resource_name(text(name))
}
fn ask(pair: &mut Pair, version: i16, request: &DescribeConfigsRequest) {
    pair.ask(Kind::Reads, version, |_| request.clone(), |response, _| tidy(response));
}
fn tidy(response: &mut DescribeConfigsResponse) {
    response.results.sort_by(|one, other| {
        (one.resource_type, &one.resource_name).cmp(&(other.resource_type, &other.resource_name))
    });
    response.results.iter_mut().for_each(tidy_resource);
}
/// What the test gives a real Kafka alone.
fn is_reals(name: &str) -> bool {
    crate::REAL_SETTINGS.iter().any(|(setting, _)| *setting == name || setting.strip_prefix("group.") == Some(name))
}
fn tidy_resource(result: &mut DescribeConfigsResult) {
    result.configs.sort_by(|one, other| one.name.cmp(&other.name));
    let is_later = |name: &str| name.starts_with("share.") || name.starts_with("streams.") || is_reals(name);
    result.configs.retain(|option| result.resource_type != GROUP || !is_later(&option.name));
    result.configs.retain(|_| result.resource_type != LOGGER);
    let is_launchers = |name: &str| {
        let of_security = ["allow.everyone.if.no.acl.found", "super.users"].contains(&name);
        of_security || name.starts_with("listener.name.") || is_reals(name)
    };
    result.configs.retain(|option| result.resource_type != BROKER || !is_launchers(&option.name));
    for option in &mut result.configs {
        option.documentation = None;
        let is_compared = |name: &str| OF_BROKERS.iter().any(|(known, _)| *known == name) && !IN_FILE.contains(&name);
        if result.resource_type == BROKER && !is_compared(&option.name) {
            option.value = None;
            option.config_source = 0;
            option.synonyms.clear();
        }
    }
}
/// Waits until both have the same options.
fn settle(pair: &mut Pair, kind: i8, name: &str) {
    let known = match kind {
        BROKER => Some(OF_BROKERS.iter().map(|(name, _)| text(name)).collect()),
        _ => None,
    };
    let resource = described(kind, name).with_configuration_keys(known);
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]).with_include_synonyms(true);
    ask(pair, 4, &request);
    if kind == METRICS {
        telemetry::settle(pair);
    }
}

/// An option with values for it. But for topics, those after the first are right, since a Kafka tells one of several errors, in an order of
/// its own.
fn an_option(chance: &mut Chance, kind: i8, at: i32) -> Option_ {
    let (option, values) = *chance.pick(options(kind));
    (option, if at == 0 || kind == TOPIC { values } else { &values[..1] })
}
/// Seldom one that there is not: upon it a Kafka's controller ends, and takes two seconds to be there again.
fn operation(chance: &mut Chance) -> i8 {
    if chance.once_in(64) { 9 } else { *chance.pick(&[0, 0, 0, 0, 1, 2, 3]) }
}
fn alter_single(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::INCREMENTAL_ALTER_CONFIGS);
    let version = chance.version(min, max);
    let (kind, name) = resource(chance);
    let changes = (0..*chance.pick(&[1, 1, 1, 2, 0])).map(|at| {
        let (option, values) = an_option(chance, kind, at);
        let operation = if at == 0 { operation(chance) } else { 0 };
        let value = (operation != 1 && !chance.once_in(12)).then(|| text(chance.word(values)));
        IncrementalConfig::default().with_name(text(option)).with_config_operation(operation).with_value(value)
    });
    let resource = IncrementalResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(changes.collect());
    let request =
        IncrementalAlterConfigsRequest::default().with_resources(vec![resource]).with_validate_only(chance.once_in(6));
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
    settle(pair, kind, name);
}

fn alter_whole(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ALTER_CONFIGS);
    let version = chance.version(min, max);
    let (kind, name) = resource(chance);
    let changes = (0..*chance.pick(&[1, 1, 2, 0])).map(|at| {
        let (option, values) = an_option(chance, kind, at);
        AlterableConfig::default()
            .with_name(text(option))
            .with_value((!chance.once_in(12)).then(|| text(chance.word(values))))
    });
    let resource = AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(changes.collect());
    let request = AlterConfigsRequest::default().with_resources(vec![resource]).with_validate_only(chance.once_in(6));
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
    settle(pair, kind, name);
}

fn list(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LIST_CONFIG_RESOURCES);
    let version = chance.version(min, max);
    let kinds: &[i8] = if version == 0 {
        &[]
    } else {
        chance.pick::<&[i8]>(&[&[], &[TOPIC], &[BROKER, LOGGER], &[METRICS], &[GROUP], &[99], &[TOPIC, 3]])
    };
    let request = ListConfigResourcesRequest::default().with_resource_types(kinds.to_vec());
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, _| {
            response.config_resources.sort_by(|one, other| {
                (one.resource_type, &one.resource_name).cmp(&(other.resource_type, &other.resource_name))
            });
            // Made by a coordinator that this broker does not have.
            response.config_resources.retain(|resource| *resource.resource_name != *"__share_group_state");
        },
    );
}
