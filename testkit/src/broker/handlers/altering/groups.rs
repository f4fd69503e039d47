//! Groups' options.

use super::{Alteration, changed, check_grown, check_lists, invalid_config, invalid_request};
use crate::broker::Broker;
use crate::broker::call::Refusal;
use crate::broker::configs::{Configs, options};
use crate::broker::topics::config::Kind as Type;

pub(super) fn alter(broker: &mut Broker, asked: &Alteration) -> Result<(), Refusal> {
    let name = &asked.resource_name;
    check_lists(asked, |name| options::find(&options::GROUP, name).map_or(Type::Text, |option| option.kind))?;
    if name.is_empty() {
        return invalid_request("Default group resources are not allowed.".to_owned());
    }
    let before = broker.configs.groups.get(name.as_str()).cloned().unwrap_or_default();
    let values = changed(asked, &before, |_| String::new());
    check_grown(asked, &values)?;
    if let Some(unknown) = values.keys().find(|option| options::find(&options::GROUP, option).is_none()) {
        return Err(invalid_config(format!("Unknown group config name: {unknown}")));
    }
    for (option, value) in &values {
        check_group_option(broker, option, value).map_err(invalid_config)?;
    }
    if !asked.validate_only {
        Configs::replace(&mut broker.configs.groups, name, values);
    }
    Ok(())
}
fn check_group_option(broker: &Broker, name: &str, value: &str) -> Result<(), String> {
    let unknown = || format!("Unknown group config name: {name}");
    options::find(&options::GROUP, name).ok_or_else(unknown)?.check(value)?;
    let settings = &broker.settings.consumer_groups;
    let (least, most) = match name {
        "consumer.session.timeout.ms" => settings.session_timeout_range,
        "consumer.heartbeat.interval.ms" => settings.heartbeat_interval_range,
        "consumer.assignment.interval.ms" => settings.assignment_interval_range,
        _ => return Ok(()),
    };
    if value.parse::<u64>().is_ok_and(|value| (least..=most).contains(&value)) {
        return Ok(());
    }
    Err(format!("{name} must be in the range {least} to {most} inclusive."))
}
