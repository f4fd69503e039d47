//! ApiVersions: what this broker serves, and the features in force. A version that it does not know is refused in the layout of version 0, with
//! the range of ApiVersions itself.
//!
//! Versions 0 to 5. Left out: nothing.

use super::{Handler, all_versions, versions};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Outcome};
use crate::broker::features::Feature;
use crate::broker::unwritten;
use millstream_protocol::api::VersionRange;
use millstream_protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use millstream_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, StrBytes};
use millstream_protocol::{ApiKey, ErrorCode, frame};

/// From this version on clients say what they are (KIP-511).
const SOFTWARE_SINCE: i16 = 3;
/// From this version on features are told.
const FEATURES_SINCE: i16 = 3;
/// The reporter that every broker has; it takes no clients' metrics.
const JMX: &str = "org.apache.kafka.common.metrics.JmxReporter";
const LEVEL_ZERO_SINCE: i16 = 4;

pub(super) struct ApiVersions;

impl Handler for ApiVersions {
    type Request = ApiVersionsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ApiVersionsRequest) -> Answer<ApiVersionsResponse> {
        if call.version >= SOFTWARE_SINCE && !is_software(&request) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        let apis =
            ApiVersionsResponse::default().with_api_keys(offered(broker).map(|(api, range)| row(api, range)).collect());
        if call.version < FEATURES_SINCE {
            return Answer::Reply(apis);
        }
        let features = broker.features.all();
        let finalized = features.iter().filter(|feature| feature.level > 0).map(finalized_feature).collect();
        // Older clients refuse a lowest level of zero (KAFKA-17011): they are not told of such a feature.
        let is_told = |feature: &&Feature| feature.lowest > 0 || call.version >= LEVEL_ZERO_SINCE;
        Answer::Reply(
            apis.with_supported_features(features.iter().filter(is_told).map(supported_feature).collect())
                .with_finalized_features(finalized)
                .with_finalized_features_epoch(broker.features.epoch),
        )
    }
    fn refuse(_: &ApiVersionsRequest, code: ErrorCode) -> ApiVersionsResponse {
        ApiVersionsResponse::default().with_error_code(code.get())
    }
}

/// Whether name and version of a client are what Kafka takes for such: ends of letters and digits, with dots and dashes between them.
fn is_software(request: &ApiVersionsRequest) -> bool {
    let is_word = |text: &str| {
        let is_end = |end: Option<u8>| end.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let mut bytes = text.bytes();
        is_end(bytes.clone().next())
            && is_end(bytes.clone().next_back())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
    };
    is_word(&request.client_software_name) && is_word(&request.client_software_version)
}

pub(super) fn refuse_version(broker: &Broker, call: &Call) -> Outcome {
    let own = versions(broker, ApiKey::API_VERSIONS).map(|range| row(ApiKey::API_VERSIONS, range));
    let response = ApiVersionsResponse::default()
        .with_error_code(ErrorCode::UNSUPPORTED_VERSION.get())
        .with_api_keys(own.into_iter().collect());
    frame::encode_response::<ApiVersionsRequest>(0, call.correlation_id, &response)
        .map_or_else(|error| Outcome::Close(unwritten(&error)), Outcome::Frame)
}

/// What is served, but that telemetry (KIP-714) is offered only by brokers that have a reporter for it; who asks all the same is answered.
fn offered(broker: &Broker) -> impl Iterator<Item = (ApiKey, VersionRange)> {
    let reporters = broker.settings.given.get("metric.reporters").map_or("", String::as_str);
    let has_reporter = reporters.split(',').map(str::trim).any(|name| !name.is_empty() && name != JMX);
    let is_telemetry = |api: ApiKey| matches!(api, ApiKey::GET_TELEMETRY_SUBSCRIPTIONS | ApiKey::PUSH_TELEMETRY);
    all_versions(broker).filter(move |(api, _)| has_reporter || !is_telemetry(*api))
}
fn row(api: ApiKey, range: VersionRange) -> ApiVersion {
    // Kafka 4 takes no Produce below 3, and says 0 all the same: librdkafka compresses only where it sees that (KAFKA-18659).
    let min = if api == ApiKey::PRODUCE { 0 } else { range.min() };
    ApiVersion::default().with_api_key(api.get()).with_min_version(min).with_max_version(range.max())
}
fn supported_feature(feature: &Feature) -> SupportedFeatureKey {
    SupportedFeatureKey::default()
        .with_name(StrBytes::from_static_str(feature.name))
        .with_min_version(feature.lowest)
        .with_max_version(feature.highest)
}
fn finalized_feature(feature: &Feature) -> FinalizedFeatureKey {
    FinalizedFeatureKey::default()
        .with_name(StrBytes::from_static_str(feature.name))
        .with_min_version_level(feature.level)
        .with_max_version_level(feature.level)
}
