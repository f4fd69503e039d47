//! A resource as AlterConfigs and IncrementalAlterConfigs name it. Each of the two has types of its own for the same thing, in the request and
//! in the answer: this is one description for both.

use super::{Alteration, Change, Mode, Operation, Refusal, alter_all};
use crate::broker::Broker;
use crate::broker::call::Call;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::messages::{alter_configs_request, alter_configs_response};
use millstream_protocol::messages::{incremental_alter_configs_request, incremental_alter_configs_response};

/// A resource of a request.
pub(in crate::broker::handlers) trait Resource {
    /// What an answer says of it.
    type Answer;
    fn alteration(&self, validate_only: bool) -> Alteration;
    fn answer(&self, code: ErrorCode, reason: Option<String>) -> Self::Answer;
}

/// Describes a resource: its type, that of its answers, how its changes are meant and what each of them does.
macro_rules! resource {
    ($resource:ty, $answer:ty, $mode:expr, $operation:expr) => {
        impl Resource for $resource {
            type Answer = $answer;
            fn alteration(&self, validate_only: bool) -> Alteration {
                let changes = self.configs.iter().map(|given| Change {
                    name: given.name.clone(),
                    operation: $operation(given),
                    value: given.value.clone(),
                });
                Alteration {
                    resource_type: self.resource_type,
                    resource_name: self.resource_name.clone(),
                    mode: $mode,
                    changes: changes.collect(),
                    validate_only,
                }
            }
            fn answer(&self, code: ErrorCode, reason: Option<String>) -> $answer {
                <$answer>::default()
                    .with_resource_type(self.resource_type)
                    .with_resource_name(self.resource_name.clone())
                    .with_error_code(code.get())
                    .with_error_message(reason.map(StrBytes::from_string))
            }
        }
    };
}
resource!(
    alter_configs_request::AlterConfigsResource,
    alter_configs_response::AlterConfigsResourceResponse,
    Mode::Whole,
    |_: &alter_configs_request::AlterableConfig| Operation::Set
);
resource!(
    incremental_alter_configs_request::AlterConfigsResource,
    incremental_alter_configs_response::AlterConfigsResourceResponse,
    Mode::Single,
    |given: &incremental_alter_configs_request::AlterableConfig| Operation::numbered(given.config_operation)
);

/// Alters what a request names, and says what became of each.
pub(in crate::broker::handlers) fn alter_resources<R: Resource>(
    broker: &mut Broker,
    call: &Call,
    resources: &[R],
    validate_only: bool,
) -> Vec<R::Answer> {
    let asked: Vec<Alteration> = resources.iter().map(|resource| resource.alteration(validate_only)).collect();
    let altered = alter_all(broker, call, &asked);
    resources.iter().zip(altered).map(|(resource, altered)| told(resource, altered)).collect()
}
/// Says of each that it was not altered.
pub(in crate::broker::handlers) fn refuse_resources<R: Resource>(resources: &[R], code: ErrorCode) -> Vec<R::Answer> {
    resources.iter().map(|resource| told(resource, Err((code, code.message().to_owned())))).collect()
}
/// Of what Kafka did not expect it says nothing but the code.
fn told<R: Resource>(resource: &R, altered: Result<(), Refusal>) -> R::Answer {
    match altered {
        Ok(()) => resource.answer(ErrorCode::NONE, None),
        Err((code @ ErrorCode::UNKNOWN_SERVER_ERROR, _)) => resource.answer(code, None),
        Err((code, reason)) => resource.answer(code, Some(reason)),
    }
}
