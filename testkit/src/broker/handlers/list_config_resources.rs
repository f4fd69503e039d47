//! ListConfigResources: topics and brokers. Version 0 asks for client metrics alone, of which there are none.

use super::Handler;
use super::describe_configs::{BROKER, TOPIC};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
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
        let is_wanted = |kind: i8| {
            call.version >= 1 && (request.resource_types.is_empty() || request.resource_types.contains(&kind))
        };
        let topics = broker.topics.all().map(|topic| (TOPIC, topic.name.clone()));
        let brokers = broker.nodes.all().iter().map(|node| (BROKER, StrBytes::from_string(node.id.to_string())));
        let found = topics.chain(brokers).filter(|(kind, _)| is_wanted(*kind));
        let resources = found
            .map(|(kind, name)| ConfigResource::default().with_resource_type(kind).with_resource_name(name))
            .collect();
        Answer::Reply(ListConfigResourcesResponse::default().with_config_resources(resources))
    }
    fn refuse(_: &ListConfigResourcesRequest, code: ErrorCode) -> ListConfigResourcesResponse {
        ListConfigResourcesResponse::default().with_error_code(code.get())
    }
}
