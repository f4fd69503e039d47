//! AlterClientQuotas (KIP-546): each entity by itself.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::quotas::{Entity, check_entity, check_quota};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_client_quotas_request::EntryData as Asked;
use millstream_protocol::messages::alter_client_quotas_response::{EntityData, EntryData};
use millstream_protocol::messages::{AlterClientQuotasRequest, AlterClientQuotasResponse, StrBytes};

pub(super) struct AlterClientQuotas;

impl Handler for AlterClientQuotas {
    type Request = AlterClientQuotasRequest;
    fn handle(broker: &mut Broker, _: &Call, request: AlterClientQuotasRequest) -> Answer<AlterClientQuotasResponse> {
        let entities: Vec<Entity> = request.entries.iter().map(entity).collect();
        let altered = |(asked, of): (&Asked, &Entity)| {
            let is_twice = entities.iter().filter(|other| *other == of).count() > 1;
            let result = check_entity(of).and_then(|()| if is_twice { Err(twice(of)) } else { Ok(()) });
            let result = result.and_then(|()| alter(broker, of, asked, request.validate_only));
            answer(asked, result.err().map(|reason| (ErrorCode::INVALID_REQUEST, reason)))
        };
        let first =
            |(place, _): &(usize, _)| entities.iter().take(*place).all(|earlier| entities.get(*place) != Some(earlier));
        let asked = request.entries.iter().zip(&entities).enumerate().filter(first).map(|(_, asked)| asked);
        let entries = asked.map(altered).collect();
        Answer::Reply(AlterClientQuotasResponse::default().with_entries(entries))
    }
    fn refuse(request: &AlterClientQuotasRequest, code: ErrorCode) -> AlterClientQuotasResponse {
        let refused = |asked: &Asked| answer(asked, Some((code, code.message().to_owned())));
        AlterClientQuotasResponse::default().with_entries(request.entries.iter().map(refused).collect())
    }
}

fn entity(asked: &Asked) -> Entity {
    let part = |name: &StrBytes| name.to_string();
    asked.entity.iter().map(|each| (part(&each.entity_type), each.entity_name.as_ref().map(part))).collect()
}
fn twice(entity: &Entity) -> String {
    let part = |(kind, name): (&String, &Option<String>)| format!("{kind}={}", name.as_deref().unwrap_or("null"));
    let parts: Vec<String> = entity.iter().map(part).collect();
    format!("Ignoring duplicate entity ClientQuotaEntity(entries={{{}}})", parts.join(", "))
}
fn alter(broker: &mut Broker, of: &Entity, asked: &Asked, validate_only: bool) -> Result<(), String> {
    let change = |op: &millstream_protocol::messages::alter_client_quotas_request::OpData| {
        (op.key.to_string(), (!op.remove).then_some(op.value))
    };
    let changes: Vec<(String, Option<f64>)> = asked.ops.iter().map(change).collect();
    changes.iter().try_for_each(|(name, value)| check_quota(of, name, *value))?;
    if !validate_only {
        broker.quotas.alter(of, &changes);
    }
    Ok(())
}
fn answer(asked: &Asked, refusal: Option<(ErrorCode, String)>) -> EntryData {
    let entity = asked.entity.iter().map(|each| {
        EntityData::default().with_entity_type(each.entity_type.clone()).with_entity_name(each.entity_name.clone())
    });
    let (code, reason) = refusal.unzip();
    EntryData::default()
        .with_error_code(code.unwrap_or(ErrorCode::NONE).get())
        .with_error_message(reason.map(StrBytes::from_string))
        .with_entity(entity.collect())
}
