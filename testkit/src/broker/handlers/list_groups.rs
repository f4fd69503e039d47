//! ListGroups: those that this node coordinates, filtered by state (KIP-518) and type (KIP-848).
//!
//! Versions 0 to 5. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::Group;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::list_groups_response::ListedGroup;
use millstream_protocol::messages::{GroupId, ListGroupsRequest, ListGroupsResponse, StrBytes};
use std::collections::BTreeSet;

pub(super) struct ListGroups;

impl Handler for ListGroups {
    type Request = ListGroupsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ListGroupsRequest) -> Answer<ListGroupsResponse> {
        let set =
            |filter: &[StrBytes]| filter.iter().map(|each| each.to_ascii_lowercase()).collect::<BTreeSet<String>>();
        let (states, types) = (set(&request.states_filter), set(&request.types_filter));
        let is_in =
            |filter: &BTreeSet<String>, value: &str| filter.is_empty() || filter.contains(&value.to_ascii_lowercase());
        let is_wanted = |group: &&Group| {
            group.is_shown()
                && broker.is_coordinator(call.node, &group.id)
                && is_in(&states, group.state_name())
                && is_in(&types, group.type_name())
        };
        let groups = broker.groups.all().filter(is_wanted).map(|group| {
            ListedGroup::default()
                .with_group_id(GroupId(group.id.clone()))
                .with_protocol_type(group.protocol_type())
                .with_group_state(StrBytes::from_static_str(group.state_name()))
                .with_group_type(StrBytes::from_static_str(group.type_name()))
        });
        Answer::Reply(ListGroupsResponse::default().with_groups(groups.collect()))
    }
    fn refuse(_: &ListGroupsRequest, code: ErrorCode) -> ListGroupsResponse {
        ListGroupsResponse::default().with_error_code(code.get())
    }
}
