//! Topics' options.

use super::{Alteration, changed, check_grown, check_lists, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::call::Refusal;
use crate::broker::configs::MIN_ISR;
use crate::broker::topics::check_name;
use crate::broker::topics::config::{self, Kind as Type};
use millstream_protocol::ErrorCode;

pub(super) fn alter(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    let kind_of = |name: &str| config::option(name).map_or(Type::Text, |option| option.kind);
    check_lists(asked, kind_of)?;
    if name.is_empty() {
        return invalid_request("Default topic resources are not allowed.".to_owned());
    }
    check_name(name)?;
    // Whether there is such a topic is looked at last.
    let topic = broker.topics.find(name);
    let inherited = |name: &str| config::inherited(&broker.settings.topic_defaults, name).to_owned();
    let before = topic.map(|topic| topic.configs.clone()).unwrap_or_default();
    let values = changed(asked, &before, inherited);
    check_grown(asked, &values)?;
    config::check_all(&values, &broker.settings.topic_defaults, broker.settings.release).map_err(invalid_config)?;
    let unknown = || (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("The topic '{name}' does not exist."));
    let topic = broker.topics.find_mut(name).ok_or_else(unknown)?;
    if !asked.validate_only {
        let before = std::mem::replace(&mut topic.configs, config::spelled(values));
        if before.get(MIN_ISR) != topic.configs.get(MIN_ISR) {
            broker.follow_min_isr(Some(name));
        }
    }
    Ok(())
}
