//! AlterClientQuotas (KIP-546): each entity by itself.
//!
//! Versions 0 to 1. Left out: nothing.

use super::{Handler, counted_by};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::quotas::{Entity, check_entity, check_quota, in_java_order};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_client_quotas_request::{EntityData as AskedEntity, EntryData as Asked};
use millstream_protocol::messages::alter_client_quotas_response::{EntityData, EntryData};
use millstream_protocol::messages::{AlterClientQuotasRequest, AlterClientQuotasResponse, StrBytes};
use std::collections::BTreeSet;

pub(super) struct AlterClientQuotas;

impl Handler for AlterClientQuotas {
    type Request = AlterClientQuotasRequest;
    fn handle(broker: &mut Broker, _: &Call, request: AlterClientQuotasRequest) -> Answer<AlterClientQuotasResponse> {
        let asked: Vec<(&Asked, Entity)> = request.entries.iter().map(|asked| (asked, entity(asked))).collect();
        let altered = |((asked, of), times): (&(&Asked, Entity), usize)| {
            let result = if has_option_twice(asked) { Err(twice(of)) } else { check_entity(of) };
            let result = result.and_then(|()| alter(broker, of, asked, request.validate_only));
            // What comes first is done all the same; the answer is about what comes again.
            let result = if times > 1 { Err(twice(of)) } else { result };
            answer(of, result.err().map(|reason| (ErrorCode::INVALID_REQUEST, reason)))
        };
        let entries = counted_by(&asked, |(_, of)| of).into_iter().map(altered).collect();
        Answer::Reply(AlterClientQuotasResponse::default().with_entries(entries))
    }
    fn when_full(_: &Broker, request: &AlterClientQuotasRequest) -> Option<ErrorCode> {
        let mut changes = request.entries.iter().flat_map(|entry| &entry.ops);
        changes.any(|change| !change.remove).then_some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &AlterClientQuotasRequest, code: ErrorCode) -> AlterClientQuotasResponse {
        let refused = |asked: &Asked| {
            let part = |part: &AskedEntity| {
                let name = part.entity_name.clone();
                EntityData::default().with_entity_type(part.entity_type.clone()).with_entity_name(name)
            };
            answer(&Entity::new(), Some((code, code.message().to_owned())))
                .with_entity(asked.entity.iter().map(part).collect())
        };
        AlterClientQuotasResponse::default().with_entries(request.entries.iter().map(refused).collect())
    }
}

fn entity(asked: &Asked) -> Entity {
    let part = |name: &StrBytes| name.to_string();
    asked.entity.iter().map(|each| (part(&each.entity_type), each.entity_name.as_ref().map(part))).collect()
}
fn has_option_twice(asked: &Asked) -> bool {
    let mut seen = BTreeSet::new();
    !asked.ops.iter().all(|op| seen.insert(&op.key))
}
fn twice(entity: &Entity) -> String {
    let parts = in_java_order(entity.iter().collect(), |(kind, _)| kind).into_iter();
    let parts: Vec<String> =
        parts.map(|(kind, name)| format!("{kind}={}", name.as_deref().unwrap_or("null"))).collect();
    format!("Ignoring duplicate entity ClientQuotaEntity(entries={{{}}})", parts.join(", "))
}
fn alter(broker: &mut Broker, of: &Entity, asked: &Asked, validate_only: bool) -> Result<(), String> {
    let change = |op: &millstream_protocol::messages::alter_client_quotas_request::OpData| {
        (op.key.to_string(), (!op.remove).then_some(op.value))
    };
    let changes: Vec<(String, Option<f64>)> = asked.ops.iter().map(change).collect();
    let checked = in_java_order(changes.iter().collect(), |(name, _)| name);
    checked.into_iter().try_for_each(|(name, value)| check_quota(of, name, *value))?;
    if !validate_only {
        broker.quotas.alter(of, &changes);
    }
    Ok(())
}
fn answer(of: &Entity, refusal: Option<(ErrorCode, String)>) -> EntryData {
    let text = |text: &String| StrBytes::from_string(text.clone());
    let entity = in_java_order(of.iter().collect(), |(kind, _)| kind).into_iter().map(|(kind, name)| {
        EntityData::default().with_entity_type(text(kind)).with_entity_name(name.as_ref().map(text))
    });
    let (code, reason) = refusal.unzip();
    EntryData::default()
        .with_error_code(code.unwrap_or(ErrorCode::NONE).get())
        .with_error_message(reason.map(StrBytes::from_string))
        .with_entity(entity.collect())
}
