//! DescribeConfigs, AlterConfigs and IncrementalAlterConfigs: each resource by its kind; brokers, their loggers and client metrics are the
//! cluster's.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{CLUSTER, Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_configs_request::AlterConfigsResource;
use millstream_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::incremental_alter_configs_request::AlterConfigsResource as SingleResource;
use millstream_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse as SingleResponse;
use millstream_protocol::messages::{
    AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest, StrBytes,
};
use std::collections::BTreeSet;

/// The kinds of resources that have configurations.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;
const KINDS: [i8; 5] = [TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP];
/// IncrementalAlterConfigs' number for what needs no value.
const DELETE: i8 = 1;

/// A resource of which options are altered, by either of the two requests.
trait Altered {
    fn kind(&self) -> i8;
    /// Its options: name, and whether there is the value that it needs.
    fn options(&self) -> impl Iterator<Item = (&StrBytes, bool)>;
    /// Whether single options of loggers can be changed.
    const HAS_LOGGERS: bool;
}
impl Altered for AlterConfigsResource {
    const HAS_LOGGERS: bool = false;
    fn kind(&self) -> i8 {
        self.resource_type
    }
    fn options(&self) -> impl Iterator<Item = (&StrBytes, bool)> {
        self.configs.iter().map(|option| (&option.name, option.value.is_some()))
    }
}
impl Altered for SingleResource {
    const HAS_LOGGERS: bool = true;
    fn kind(&self) -> i8 {
        self.resource_type
    }
    fn options(&self) -> impl Iterator<Item = (&StrBytes, bool)> {
        self.configs.iter().map(|option| (&option.name, option.config_operation == DELETE || option.value.is_some()))
    }
}
/// Whether it is of no kind that can be altered, or an option is there twice or without a value.
fn is_wrong<R: Altered>(resource: &R) -> bool {
    let mut seen = BTreeSet::new();
    !KINDS.contains(&resource.kind())
        || resource.kind() == LOGGER && !R::HAS_LOGGERS
        || resource.options().any(|(name, has_value)| !has_value || !seen.insert(name))
}
/// Of brokers no more is told than the code.
const fn is_quiet(kind: i8) -> bool {
    matches!(kind, BROKER | LOGGER)
}
fn hush(refused: &mut [AlterConfigsResourceResponse]) {
    let quiet = refused.iter_mut().filter(|refused| is_quiet(refused.resource_type));
    quiet.for_each(|refused| refused.error_message = None);
}
fn hush_single(refused: &mut [SingleResponse]) {
    let quiet = refused.iter_mut().filter(|refused| is_quiet(refused.resource_type));
    quiet.for_each(|refused| refused.error_message = None);
}

/// What a configuration belongs to, and the code for those who may not touch it.
const fn owner(kind: i8) -> (ResourceType, ErrorCode) {
    match kind {
        TOPIC => (ResourceType::Topic, ErrorCode::TOPIC_AUTHORIZATION_FAILED),
        GROUP => (ResourceType::Group, ErrorCode::GROUP_AUTHORIZATION_FAILED),
        _ => (ResourceType::Cluster, ErrorCode::CLUSTER_AUTHORIZATION_FAILED),
    }
}

// `$whole`: with a resource of another kind nothing of the request is done.
// `$wrong`: what is refused for other reasons first. `$quiet`: takes out of refusals what Kafka does not say.
macro_rules! configs {
    ($($request:ident $operation:ident $answers:ident $whole:literal $wrong:expr, $quiet:expr;)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[
                (ResourceType::Topic, Operation::$operation),
                (ResourceType::Group, Operation::$operation),
                (ResourceType::Cluster, Operation::$operation),
            ];
            fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
                if $whole && self.resources.iter().any(|resource| !KINDS.contains(&resource.resource_type)) {
                    return Verdict::Denied(ErrorCode::INVALID_REQUEST);
                }
                let denied = split(&mut self.resources, |resource| {
                    if $wrong(resource) {
                        return true;
                    }
                    let (kind, _) = owner(resource.resource_type);
                    let name = if kind == ResourceType::Cluster { CLUSTER } else { resource.resource_name.as_str() };
                    rights.may(Operation::$operation, kind, name)
                });
                let refused = denied.into_iter().map(|resource| {
                    let (_, code) = owner(resource.resource_type);
                    let mut refused = refuse(&self.clone().with_resources(vec![resource]), code);
                    $quiet(&mut refused.$answers);
                    refused
                });
                joined(refused.collect(), |answer, refused| answer.$answers.extend(refused.$answers))
            }
        }
    )*};
}
configs! {
    DescribeConfigsRequest DescribeConfigs results true |_: &DescribeConfigsResource| false, |_: &mut [_]| ();
    AlterConfigsRequest AlterConfigs responses false is_wrong, hush;
    IncrementalAlterConfigsRequest AlterConfigs responses false is_wrong, hush_single;
}
