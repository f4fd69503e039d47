//! Faults as data: for which requests, and what becomes of one after the other.

use super::{Effect, LONGEST_DELAY, Malformation, api, millis};
use crate::broker::{APIS_OF_GROUPS, served};
use millstream_protocol::{ApiKey, ErrorCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Why a plan of faults cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FaultPlanError(pub(crate) String);

/// What becomes of the next requests of a kind, one step after the other: librdkafka's stacks of (error, round trip).
///
/// A request meets the plan with the narrowest scope: of a partition, of a group, of a node, of the cluster; among equals the oldest.
///
/// ```
/// use millstream_testkit::faults::FaultPlan;
///
/// let plan: FaultPlan = serde_json::from_str(r#"{
///     "api": "Produce",
///     "node": 2,
///     "steps": [
///         {"do": {"error": "NOT_LEADER_OR_FOLLOWER"}, "rtt_ms": 20},
///         {"do": "disconnect", "times": 3}
///     ]
/// }"#)?;
/// assert_eq!(plan.steps.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "written as a literal in tests; read from JSON")]
pub struct FaultPlan {
    /// Only requests of this API; without one, of all.
    #[serde(default, with = "api", skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiKey>,
    /// Only at this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<i32>,
    /// Only about this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Only this partition of a Produce or Fetch; the others in the request are served. Its steps are errors alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionScope>,
    /// Only from clients of this `client.id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// What becomes of the requests.
    pub steps: Vec<FaultStep>,
}

/// A partition, in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "written as a literal in tests; read from JSON")]
pub struct PartitionScope {
    /// Its topic.
    pub topic: String,
    /// Its index.
    pub partition: i32,
}

/// One step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step as in {\"do\": \"disconnect\", \"times\": 3}")]
#[expect(clippy::exhaustive_structs, reason = "written as a literal in tests; read from JSON")]
pub struct FaultStep {
    /// What becomes of the request.
    #[serde(rename = "do")]
    pub effect: Effect,
    /// The answer, if there is one, comes so much later.
    #[serde(default, rename = "rtt_ms", with = "millis", skip_serializing_if = "Duration::is_zero")]
    pub rtt: Duration,
    /// How many requests this step is for; `null` is all that come. Default: one.
    #[serde(default = "once")]
    pub times: Option<u64>,
}

#[expect(clippy::unnecessary_wraps, reason = "the field's type")]
const fn once() -> Option<u64> {
    Some(1)
}

impl FaultStep {
    /// A step for one request, answered at once.
    #[must_use]
    pub const fn new(effect: Effect) -> Self {
        Self { effect, rtt: Duration::ZERO, times: once() }
    }
    /// A code, at the level where the API has codes.
    #[must_use]
    pub const fn error(code: ErrorCode) -> Self {
        Self::new(Effect::Error(code))
    }
    /// The answer comes so much later.
    #[must_use]
    pub const fn rtt(mut self, rtt: Duration) -> Self {
        self.rtt = rtt;
        self
    }
    /// For so many requests.
    #[must_use]
    pub const fn times(mut self, count: u64) -> Self {
        self.times = Some(count);
        self
    }
    /// For all requests that come.
    #[must_use]
    pub const fn always(mut self) -> Self {
        self.times = None;
        self
    }
}
impl From<Effect> for FaultStep {
    fn from(effect: Effect) -> Self {
        Self::new(effect)
    }
}

impl FaultPlan {
    /// A plan for requests of an API.
    #[must_use]
    pub fn new(api: ApiKey, steps: impl IntoIterator<Item = FaultStep>) -> Self {
        Self { api: Some(api), steps: steps.into_iter().collect(), ..Self::default() }
    }
    /// Checks that it can be, whatever the cluster.
    ///
    /// # Errors
    ///
    /// When it has no step, a step for no request, or an effect that its API cannot have; when its requests are about no group or
    /// partition, but it is.
    pub fn check(&self) -> Result<(), FaultPlanError> {
        if self.steps.is_empty() || self.steps.iter().any(|step| step.times == Some(0)) {
            return Err(FaultPlanError(
                "a plan has at least one step, and each step is for at least one request".to_owned(),
            ));
        }
        self.check_scope()?;
        self.steps.iter().try_for_each(|step| self.check_step(step))
    }
    fn check_scope(&self) -> Result<(), FaultPlanError> {
        let served = |api: ApiKey| served(api).is_some();
        if let Some(api) = self.api.filter(|api| !served(*api)) {
            return Err(FaultPlanError(format!(
                "these brokers do not serve {api}: no request would ever meet the plan"
            )));
        }
        if let Some(api) = self.api.filter(|api| self.group.is_some() && !APIS_OF_GROUPS.contains(api)) {
            let apis: Vec<&str> = APIS_OF_GROUPS.iter().map(|api| api.name()).collect();
            let reason = format!("{api} is about no group; leave `group` out, or name one of {}", apis.join(", "));
            return Err(FaultPlanError(reason));
        }
        match &self.partition {
            Some(scope) if scope.partition < 0 => {
                let PartitionScope { topic, partition } = scope;
                Err(FaultPlanError(format!("`{topic}` has no partition {partition}: they count from 0")))
            }
            Some(_) if !self.is_of(&[ApiKey::PRODUCE, ApiKey::FETCH]) => Err(FaultPlanError(
                "only Produce and Fetch can fail for one partition; name one of them as `api`".to_owned(),
            )),
            _ => Ok(()),
        }
    }
    fn is_of(&self, apis: &[ApiKey]) -> bool {
        self.api.is_some_and(|api| apis.contains(&api))
    }
    fn check_step(&self, step: &FaultStep) -> Result<(), FaultPlanError> {
        let refused = |reason: &str| Err(FaultPlanError(reason.to_owned()));
        let longest = step.effect.delay().max(step.rtt);
        if longest > LONGEST_DELAY {
            let (given, most) = (longest.as_millis(), LONGEST_DELAY.as_millis());
            return Err(FaultPlanError(format!(
                "a delay of {given} ms is too long; {most} ms (a hundred years) is the most"
            )));
        }
        match step.effect {
            Effect::Error(ErrorCode::NONE) => {
                refused("NONE (0) is no error: name another code, or do `pass`, which serves the request")
            }
            Effect::Error(_) => Ok(()),
            _ if self.partition.is_some() => refused("one partition of a request can only fail with an error code"),
            Effect::Malform(how) if how.apis().is_some_and(|apis| !self.is_of(apis)) => {
                let apis = how.apis().unwrap_or_default().iter().map(|api| api.name());
                let apis = apis.collect::<Vec<_>>().join(" or ");
                Err(FaultPlanError(format!("only an answer to {apis} can be such that it {how}: name one as `api`")))
            }
            Effect::Malform(Malformation::TruncatedTags) if self.api.is_some_and(has_no_tags) => {
                refused("no version of this API has tagged fields; name another `api`, or another malformation")
            }
            Effect::CorruptRecords if !self.is_of(&[ApiKey::FETCH]) => {
                refused("only answers to Fetch carry records; name it as `api`")
            }
            _ => Ok(()),
        }
    }
}

fn has_no_tags(api: ApiKey) -> bool {
    served(api).is_none_or(|versions| !millstream_protocol::api::is_flexible(api, versions.max()))
}

/// What has become of a fault so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FaultState {
    /// Its number, from 1.
    pub id: u64,
    /// For which requests it is, and what becomes of the next ones, step by step, in words.
    pub text: String,
    /// How many requests it has met.
    pub used: u64,
    /// How many it still waits for; none when it never ends.
    pub left: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_survives_json() {
        let plan = FaultPlan {
            node: Some(1),
            group: Some("g".to_owned()),
            client_id: Some("c".to_owned()),
            ..FaultPlan::new(
                ApiKey::HEARTBEAT,
                [
                    FaultStep::error(ErrorCode::NOT_COORDINATOR).rtt(Duration::from_millis(7)).times(3),
                    FaultStep::new(Effect::Delay(Duration::from_millis(5))).always(),
                    FaultStep::new(Effect::Malform(Malformation::HugeCount)),
                ],
            )
        };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<FaultPlan>(&text).unwrap(), plan, "{text}");
    }

    #[test]
    fn a_plan_that_cannot_be_says_why() {
        let partition = Some(PartitionScope { topic: "t".to_owned(), partition: 0 });
        let error = FaultStep::error(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        let reason = |plan: FaultPlan| plan.check().unwrap_err().to_string();
        assert!(reason(FaultPlan::new(ApiKey::FETCH, [])).contains("at least one step"));
        assert!(reason(FaultPlan::new(ApiKey::FETCH, [error.times(0)])).contains("at least one request"));
        let heartbeat = FaultPlan { partition: partition.clone(), ..FaultPlan::new(ApiKey::HEARTBEAT, [error]) };
        assert!(reason(heartbeat).starts_with("only Produce and Fetch can fail for one partition"));
        let silent = FaultPlan { partition, ..FaultPlan::new(ApiKey::FETCH, [Effect::Silence.into()]) };
        assert_eq!(reason(silent), "one partition of a request can only fail with an error code");
        let corrupt = FaultPlan::new(ApiKey::PRODUCE, [Effect::CorruptRecords.into()]);
        assert!(reason(corrupt).starts_with("only answers to Fetch carry records"));
        let malformed = |api, how| FaultPlan::new(api, [Effect::Malform(how).into()]);
        let twice = malformed(ApiKey::HEARTBEAT, Malformation::DuplicatePartitions);
        let only = "only an answer to Metadata or Produce or Fetch can be such that it tells of each partition twice";
        assert_eq!(reason(twice), format!("{only}: name one as `api`"));
        assert!(reason(malformed(ApiKey::METADATA, Malformation::Bomb)).starts_with("only an answer to Fetch"));
        let of_all = FaultPlan { api: None, ..malformed(ApiKey::FETCH, Malformation::BadChecksum) };
        assert!(reason(of_all).starts_with("only an answer to Fetch"));
        let tags = malformed(ApiKey::SASL_HANDSHAKE, Malformation::TruncatedTags);
        assert!(reason(tags).starts_with("no version of this API has tagged fields"));
        let none = FaultPlan::new(ApiKey::FETCH, [FaultStep::error(ErrorCode::NONE)]);
        assert!(reason(none).starts_with("NONE (0) is no error"));
        let late = FaultPlan::new(ApiKey::FETCH, [FaultStep::new(Effect::Pass).rtt(Duration::MAX)]);
        assert!(reason(late).contains("a hundred years"));
        let group = Some("g".to_owned());
        let produce = FaultPlan { group, ..FaultPlan::new(ApiKey::PRODUCE, [error]) };
        assert!(
            reason(produce).starts_with("Produce is about no group; leave `group` out, or name one of JoinGroup, ")
        );
        let below = Some(PartitionScope { topic: "t".to_owned(), partition: -5 });
        let below = FaultPlan { partition: below, ..FaultPlan::new(ApiKey::FETCH, [error]) };
        assert_eq!(reason(below), "`t` has no partition -5: they count from 0");
        let unserved = FaultPlan::new(ApiKey::LEADER_AND_ISR, [error]);
        assert!(reason(unserved).starts_with("these brokers do not serve LeaderAndIsr"));
        let unknown = serde_json::from_str::<FaultPlan>(r#"{"api": "Nope", "steps": []}"#).unwrap_err().to_string();
        assert!(unknown.starts_with("Kafka has no API `Nope`"), "{unknown}");
    }
}
