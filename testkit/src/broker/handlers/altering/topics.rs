//! Topics' options.

use super::{Alteration, changed, check_lists, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::configs::Values;
use crate::broker::handlers::create_topics::Refusal;
use crate::broker::topics::check_name;
use crate::broker::topics::config::{self, Kind as Type};
use crate::broker::topics::topic::Topic;
use millstream_protocol::ErrorCode;

pub(super) fn alter(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    let kind_of = |name: &str| config::option(name).map_or(Type::Text, |option| option.kind);
    check_lists(asked, kind_of)?;
    if name.is_empty() {
        return invalid_request("Default topic resources are not allowed.".to_owned());
    }
    check_name(name)?;
    let unknown = || (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("The topic '{name}' does not exist."));
    let topic = broker.topics.find_mut(name).ok_or_else(unknown)?;
    let values = changed(asked, &topic.configs, |name| topic.config(name).to_owned());
    if let Some(unknown) = values.keys().find(|name| config::option(name).is_none()) {
        return Err(invalid_config(format!("Unknown topic config name: {unknown}")));
    }
    let mut known = values.iter().filter_map(|(name, value)| Some((config::option(name)?, value)));
    known.try_for_each(|(option, value)| option.check(value, broker.settings.release)).map_err(invalid_config)?;
    let spelled = |(name, value): (String, String)| {
        let kind = kind_of(&name);
        (name, config::canonical(kind, &value))
    };
    let values: Values = values.into_iter().map(spelled).collect();
    check_together(topic, &values)?;
    if !asked.validate_only {
        topic.configs = values;
    }
    Ok(())
}

/// Says which options of a topic contradict each other, or what the brokers are set to.
fn check_together(topic: &Topic, values: &Values) -> Result<(), Refusal> {
    if values.get("remote.storage.enable").is_some_and(|value| value == "true") {
        let reason = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.";
        return Err(invalid_config(reason.to_owned()));
    }
    let lag = |name: &str| {
        let value = values.get(name).map_or_else(|| topic.inherited(name), String::as_str);
        value.parse::<i64>().unwrap_or(i64::MAX)
    };
    let (least, most) = (lag("min.compaction.lag.ms"), lag("max.compaction.lag.ms"));
    if least <= most {
        return Ok(());
    }
    let name = "conflict topic config setting min.compaction.lag.ms";
    Err(invalid_config(format!("{name} ({least}) > max.compaction.lag.ms ({most})")))
}
