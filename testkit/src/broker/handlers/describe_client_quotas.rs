//! DescribeClientQuotas (KIP-546): the entities that a filter matches.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Refusal};
use crate::broker::quotas::{Entity, Match, Values, is_kind, mixes};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_client_quotas_request::ComponentData;
use millstream_protocol::messages::describe_client_quotas_response::{EntityData, EntryData, ValueData};
use millstream_protocol::messages::{DescribeClientQuotasRequest, DescribeClientQuotasResponse, StrBytes};
use std::collections::BTreeMap;

pub(super) struct DescribeClientQuotas;

impl Handler for DescribeClientQuotas {
    type Request = DescribeClientQuotasRequest;
    fn handle(
        broker: &mut Broker,
        _: &Call,
        request: DescribeClientQuotasRequest,
    ) -> Answer<DescribeClientQuotasResponse> {
        let parts = match filter(&request.components) {
            Ok(parts) => parts,
            Err((code, reason)) => return Answer::Reply(refused(code, reason)),
        };
        let entries =
            broker.quotas.find(&parts, request.strict).map(|(entity, values)| entry(entity, values)).collect();
        let response = DescribeClientQuotasResponse::default().with_error_message(Some(StrBytes::new()));
        Answer::Reply(response.with_entries(Some(entries)))
    }
    fn refuse(_: &DescribeClientQuotasRequest, code: ErrorCode) -> DescribeClientQuotasResponse {
        refused(code, code.message().to_owned())
    }
}

fn refused(code: ErrorCode, reason: String) -> DescribeClientQuotasResponse {
    DescribeClientQuotasResponse::default()
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(reason)))
        .with_entries(None)
}
fn filter(components: &[ComponentData]) -> Result<BTreeMap<String, Match>, Refusal> {
    let invalid = |reason: String| (ErrorCode::INVALID_REQUEST, reason);
    let mut parts = BTreeMap::new();
    for component in components {
        let kind = component.entity_type.to_string();
        if kind.is_empty() {
            return Err(invalid("Invalid empty entity type.".to_owned()));
        }
        if !is_kind(&kind) {
            return Err((ErrorCode::UNSUPPORTED_VERSION, format!("Unsupported entity type {kind}")));
        }
        if parts.contains_key(&kind) {
            return Err(invalid(format!("Entity type {kind} cannot appear more than once in the filter.")));
        }
        parts.insert(kind, wanted(component).map_err(invalid)?);
    }
    if mixes(parts.keys()) {
        let reason = "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.";
        return Err(invalid(reason.to_owned()));
    }
    Ok(parts)
}
fn wanted(component: &ComponentData) -> Result<Match, String> {
    let but = |kind: &str| Err(format!("Request specified {kind}, but also specified a match string."));
    match (component.match_type, component._match.as_deref()) {
        (0, Some(name)) => Ok(Match::Named(name.to_owned())),
        (0, None) => Err("Request specified MATCH_TYPE_EXACT, but set match string to null.".to_owned()),
        (1, None) => Ok(Match::Default),
        (1, Some(_)) => but("MATCH_TYPE_DEFAULT"),
        (2, None) => Ok(Match::Any),
        (2, Some(_)) => but("MATCH_TYPE_SPECIFIED"),
        (other, _) => Err(format!("Unknown match type {other}")),
    }
}
fn entry(entity: &Entity, values: &Values) -> EntryData {
    let text = |text: &String| StrBytes::from_string(text.clone());
    let part = |(kind, name): (&String, &Option<String>)| {
        EntityData::default().with_entity_type(text(kind)).with_entity_name(name.as_ref().map(text))
    };
    let value = |(name, value): (&String, &f64)| ValueData::default().with_key(text(name)).with_value(*value);
    EntryData::default().with_entity(entity.iter().map(part).collect()).with_values(values.iter().map(value).collect())
}
