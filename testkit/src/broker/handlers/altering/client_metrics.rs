//! Options of subscriptions to clients' metrics.

use super::{Alteration, changed, check_lists, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::call::Refusal;
use crate::broker::configs::Configs;
use crate::broker::configs::client_metrics::{self, Invalid};
use crate::broker::topics::config::Kind as Type;
use millstream_protocol::ErrorCode;

pub(super) fn alter(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    // Kafka's controller does not know that two of them are lists.
    check_lists(asked, |_| Type::Text)?;
    if name.is_empty() {
        return invalid_request("Subscription name can't be empty".to_owned());
    }
    let before = broker.configs.client_metrics.get(name.as_str()).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    let is_known = |name: &str| client_metrics::OPTIONS.iter().any(|(known, _)| *known == name);
    if let Some(unknown) = values.keys().find(|name| !is_known(name)) {
        return invalid_request(format!("Unknown client metrics configuration: {unknown}"));
    }
    for (option, value) in &values {
        client_metrics::check(option, value).map_err(|invalid| match invalid {
            Invalid::Request(reason) => (ErrorCode::INVALID_REQUEST, reason),
            Invalid::Config(reason) => invalid_config(reason),
        })?;
    }
    // Clients go on as before where nothing changes.
    if !asked.validate_only && values != before {
        Configs::replace(&mut broker.configs.client_metrics, name, values);
        broker.telemetry.renew();
    }
    Ok(())
}
