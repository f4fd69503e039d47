//! Quotas: DescribeClientQuotas, AlterClientQuotas. They are too wide to slow anybody here.

use crate::Step;
use crate::chance::Chance;
use crate::data::text;
use crate::pair::{ADMINISTRATOR, Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use millstream_protocol::messages::describe_client_quotas_request::ComponentData;
use millstream_protocol::messages::{
    AlterClientQuotasRequest, DescribeClientQuotasRequest, DescribeClientQuotasResponse,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::ALTER_CLIENT_QUOTAS, alter),
        (ApiKey::ALTER_CLIENT_QUOTAS, alter),
        (ApiKey::DESCRIBE_CLIENT_QUOTAS, describe),
    ]
}

const KINDS: &[&str] = &["user", "user", "client-id", "ip", "foo", ""];

fn entity(chance: &mut Chance, kinds: &[&'static str]) -> EntityData {
    let kind = chance.word(kinds);
    let names: &[Option<&str>] = if kind == "ip" {
        &[Some("10.0.0.1"), Some("10.0.0.2"), None, Some("not an address")]
    } else {
        &[Some("one"), Some("two"), None, Some("")]
    };
    EntityData::default().with_entity_type(text(kind)).with_entity_name(chance.pick(names).map(text))
}
fn alter(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ALTER_CLIENT_QUOTAS);
    let version = chance.version(min, max);
    let keys = [
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
        "nope",
    ];
    let entries = (0..*chance.pick(&[1, 1, 2])).map(|_| {
        // Of several parts Kafka tells in an order of its own which is wrong.
        let entity = match chance.below(5) {
            0 => Vec::new(),
            1 => vec![entity(chance, &KINDS[..4]), entity(chance, &KINDS[..4])],
            _ => vec![entity(chance, KINDS)],
        };
        let ops = (0..*chance.pick(&[1, 1, 2, 0])).map(|_| {
            OpData::default()
                .with_key(text(chance.word(&keys)))
                .with_value(*chance.pick(&[1e9, 2e9, 1e12, 1e9 + 0.5, 0.0, -1.0]))
                .with_remove(chance.once_in(3))
        });
        EntryData::default().with_entity(entity).with_ops(ops.collect())
    });
    let request =
        AlterClientQuotasRequest::default().with_entries(entries.collect()).with_validate_only(chance.once_in(5));
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| {
            for entry in &mut response.entries {
                entry.entity.sort_by(|one, other| one.entity_type.cmp(&other.entity_type));
            }
            response.entries.sort_by_key(|entry| format!("{:?}", entry.entity));
        },
    );
    ask(pair, ADMINISTRATOR, 1, DescribeClientQuotasRequest::default());
}
fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_CLIENT_QUOTAS);
    let version = chance.version(min, max);
    let components = (0..*chance.pick(&[0, 1, 1, 1, 2])).map(|_| {
        let entity = entity(chance, KINDS);
        let kind = *chance.pick(&[0, 0, 1, 2, 3]);
        let name = if kind == 0 || chance.once_in(8) { entity.entity_name } else { None };
        ComponentData::default().with_entity_type(entity.entity_type).with_match_type(kind).with_match(name)
    });
    let components = components.collect();
    let asker = pair.next_client();
    let request = DescribeClientQuotasRequest::default().with_components(components).with_strict(chance.once_in(2));
    ask(pair, asker, version, request);
}
fn ask(pair: &mut Pair, asker: usize, version: i16, request: DescribeClientQuotasRequest) {
    pair.ask_as(asker, Kind::Reads, version, |_| request.clone(), |response, _| tidy(response));
}
fn tidy(response: &mut DescribeClientQuotasResponse) {
    for entry in response.entries.iter_mut().flatten() {
        entry.entity.sort_by(|one, other| one.entity_type.cmp(&other.entity_type));
        entry.values.sort_by(|one, other| one.key.cmp(&other.key));
    }
    response.entries.iter_mut().for_each(|entries| entries.sort_by_key(|entry| format!("{:?}", entry.entity)));
}
