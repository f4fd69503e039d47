//! DescribeConfigs, AlterConfigs and IncrementalAlterConfigs: each resource by its kind; brokers, their loggers and client metrics are the
//! cluster's.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{CLUSTER, Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest};

/// The kinds of resources that have configurations.
const TOPIC: i8 = 2;
const GROUP: i8 = 32;

/// What a configuration belongs to, and the code for those who may not touch it.
const fn owner(kind: i8) -> (ResourceType, ErrorCode) {
    match kind {
        TOPIC => (ResourceType::Topic, ErrorCode::TOPIC_AUTHORIZATION_FAILED),
        GROUP => (ResourceType::Group, ErrorCode::GROUP_AUTHORIZATION_FAILED),
        _ => (ResourceType::Cluster, ErrorCode::CLUSTER_AUTHORIZATION_FAILED),
    }
}

macro_rules! configs {
    ($($request:ident $operation:ident $answers:ident;)*) => {$(
        impl Guard for $request {
            const NEEDS: &'static [Need] = &[
                (ResourceType::Topic, Operation::$operation),
                (ResourceType::Group, Operation::$operation),
                (ResourceType::Cluster, Operation::$operation),
            ];
            fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
                let denied = split(&mut self.resources, |resource| {
                    let (kind, _) = owner(resource.resource_type);
                    let name = if kind == ResourceType::Cluster { CLUSTER } else { resource.resource_name.as_str() };
                    rights.may(Operation::$operation, kind, name)
                });
                let refused = denied.into_iter().map(|resource| {
                    let (_, code) = owner(resource.resource_type);
                    refuse(&self.clone().with_resources(vec![resource]), code)
                });
                joined(refused.collect(), |answer, refused| answer.$answers.extend(refused.$answers))
            }
        }
    )*};
}
configs! {
    DescribeConfigsRequest DescribeConfigs results;
    AlterConfigsRequest AlterConfigs responses;
    IncrementalAlterConfigsRequest AlterConfigs responses;
}
