//! Levels of a broker's loggers.

use super::brokers::broker_of;
use super::{Alteration, Operation, changed, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::call::{Call, Refusal};
use crate::broker::configs::loggers;

pub(super) fn alter(broker: &mut Broker, call: &Call, asked: &Alteration) -> Result<(), Refusal> {
    let node = broker_of(call, &asked.resource_name, "Unexpected node id. Expected {}, but received {}")?;
    let node = node.unwrap_or(call.node);
    for change in &asked.changes {
        if change.is_partial() {
            let operation = change.operation.name();
            return invalid_request(format!("{operation} operation is not allowed for the BROKER_LOGGER resource"));
        }
        if let Some(number) = change.operation.unknown() {
            let reason = format!("Unknown operation type {number} is not allowed for the BROKER_LOGGER resource");
            return invalid_request(reason);
        }
        if !loggers::exists(&change.name) {
            return Err(invalid_config(format!("Logger {} does not exist!", change.name)));
        }
        if change.operation == Operation::Set {
            loggers::check_level(&change.name, change.given()).map_err(invalid_config)?;
        }
    }
    let before = broker.configs.loggers.get(&node).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    if !asked.validate_only {
        broker.configs.loggers.insert(node, values);
    }
    Ok(())
}
