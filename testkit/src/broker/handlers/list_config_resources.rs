//! ListConfigResources (KIP-1142): what has options, by kind. Version 0 asks for subscriptions to clients' metrics alone.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::configs::Kind;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::list_config_resources_response::ConfigResource;
use millstream_protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse, StrBytes};

pub(super) struct ListConfigResources;

impl Handler for ListConfigResources {
    type Request = ListConfigResourcesRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: ListConfigResourcesRequest,
    ) -> Answer<ListConfigResourcesResponse> {
        let asked: Option<Vec<Kind>> = match call.version {
            0 => Some(vec![Kind::ClientMetrics]),
            _ if request.resource_types.is_empty() => Some(Kind::ALL.to_vec()),
            _ => request.resource_types.iter().map(|number| Kind::numbered(*number)).collect(),
        };
        let Some(asked) = asked else { return Answer::Reply(Self::refuse(&request, ErrorCode::UNSUPPORTED_VERSION)) };
        let found = Kind::ALL.into_iter().filter(|kind| asked.contains(kind)).flat_map(|kind| {
            names(broker, kind)
                .into_iter()
                .map(move |name| ConfigResource::default().with_resource_type(kind.number()).with_resource_name(name))
        });
        let resources = found.collect();
        Answer::Reply(ListConfigResourcesResponse::default().with_config_resources(resources))
    }
    fn refuse(_: &ListConfigResourcesRequest, code: ErrorCode) -> ListConfigResourcesResponse {
        ListConfigResourcesResponse::default().with_error_code(code.get())
    }
}

fn names(broker: &Broker, kind: Kind) -> Vec<StrBytes> {
    let text = |name: &String| StrBytes::from_string(name.clone());
    match kind {
        Kind::Topic => broker.topics.all().map(|topic| topic.name.clone()).collect(),
        Kind::Broker | Kind::Logger => {
            broker.nodes.all().iter().map(|node| StrBytes::from_string(node.id.to_string())).collect()
        }
        Kind::ClientMetrics => broker.configs.client_metrics.keys().map(text).collect(),
        Kind::Group => broker.configs.groups.keys().map(text).collect(),
    }
}
