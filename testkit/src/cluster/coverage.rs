//! Which APIs, versions and error codes were met, as a report.

use crate::broker::{Broker, served_versions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Which APIs, versions and error codes a cluster's clients have met, beside all that it serves. `Display` is a table; with serde it is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coverage {
    /// By name of the API, in the order of their numbers.
    pub apis: Vec<ApiCoverage>,
}

/// One API that the cluster serves, or was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApiCoverage {
    /// Kafka's name of it.
    pub api: String,
    /// Its number.
    pub key: i16,
    /// The lowest version that is served; none when the API is not.
    pub min: Option<i16>,
    /// The highest.
    pub max: Option<i16>,
    /// The versions that were asked for.
    pub versions: Vec<VersionCoverage>,
}

/// One version of an API that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionCoverage {
    /// The version.
    pub version: i16,
    /// How many requests came.
    pub requests: u64,
    /// How many answers had a code, by its name; `NONE` is success. Answers of more than 16 KiB are not searched.
    pub codes: BTreeMap<String, u64>,
}

impl Coverage {
    pub(super) fn of(broker: &Broker) -> Self {
        let mut apis: BTreeMap<i16, ApiCoverage> = served_versions(broker)
            .map(|(api, range)| (api.get(), row(api, Some(range.min()), Some(range.max()))))
            .collect();
        for (api, version, met) in broker.request_log().coverage().all() {
            let codes = met.codes.iter().map(|(code, count)| (code.name().to_owned(), *count));
            let met = VersionCoverage { version, requests: met.requests, codes: codes.collect() };
            apis.entry(api.get()).or_insert_with(|| row(api, None, None)).versions.push(met);
        }
        Self { apis: apis.into_values().collect() }
    }
    /// The APIs that are served and were not asked for.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.apis.iter().filter(|api| api.versions.is_empty()).map(|api| api.api.as_str())
    }
}
fn row(api: millstream_protocol::ApiKey, min: Option<i16>, max: Option<i16>) -> ApiCoverage {
    ApiCoverage { api: api.name().to_owned(), key: api.get(), min, max, versions: Vec::new() }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for api in &self.apis {
            let served = match (api.min, api.max) {
                (Some(min), Some(max)) => format!("{min}-{max}"),
                _ => "not served".to_owned(),
            };
            writeln!(
                f,
                "{:<28} {served:>10}  {}",
                api.api,
                if api.versions.is_empty() { "never asked for" } else { "" }
            )?;
            for met in &api.versions {
                let codes: Vec<String> = met.codes.iter().map(|(code, count)| format!("{code} x{count}")).collect();
                writeln!(f, "  version {:>2} x{:<6} {}", met.version, met.requests, codes.join(", "))?;
            }
        }
        Ok(())
    }
}
