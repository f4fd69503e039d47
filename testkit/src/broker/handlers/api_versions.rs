//! ApiVersions: what this broker serves, and the features in force. A version that it does not know is refused in the layout of version 0,
//! with the range of ApiVersions itself.

use super::{Handler, all_versions, versions};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Outcome};
use millstream_protocol::api::VersionRange;
use millstream_protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use millstream_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, StrBytes};
use millstream_protocol::{ApiKey, ErrorCode, frame};

/// From this version on features are told.
const FEATURES_SINCE: i16 = 3;

pub(super) struct ApiVersions;

impl Handler for ApiVersions {
    type Request = ApiVersionsRequest;
    fn handle(broker: &mut Broker, call: &Call, _: ApiVersionsRequest) -> Answer<ApiVersionsResponse> {
        let apis = ApiVersionsResponse::default()
            .with_api_keys(all_versions(broker).map(|(api, range)| row(api, range)).collect());
        if call.version < FEATURES_SINCE {
            return Answer::Reply(apis);
        }
        let features = features(broker.settings.transaction_version);
        let supported = features.iter().map(|(name, highest, _)| supported_feature(name, *highest)).collect();
        let finalized = features
            .iter()
            .filter(|(_, _, level)| *level > 0)
            .map(|(name, _, level)| finalized_feature(name, *level))
            .collect();
        Answer::Reply(
            apis.with_supported_features(supported).with_finalized_features(finalized).with_finalized_features_epoch(1),
        )
    }
    fn refuse(_: &ApiVersionsRequest, code: ErrorCode) -> ApiVersionsResponse {
        ApiVersionsResponse::default().with_error_code(code.get())
    }
}

pub(super) fn refuse_version(broker: &Broker, call: &Call) -> Outcome {
    let own = versions(broker, ApiKey::API_VERSIONS).map(|range| row(ApiKey::API_VERSIONS, range));
    let response = ApiVersionsResponse::default()
        .with_error_code(ErrorCode::UNSUPPORTED_VERSION.get())
        .with_api_keys(own.into_iter().collect());
    frame::encode_response::<ApiVersionsRequest>(0, call.correlation_id, &response)
        .map_or(Outcome::Close, Outcome::Frame)
}

/// Name, highest level, level in force.
fn features(transaction_version: i16) -> [(&'static str, i16, i16); 3] {
    [("group.version", 1, 0), ("metadata.version", 29, 29), ("transaction.version", 2, transaction_version)]
}
fn row(api: ApiKey, range: VersionRange) -> ApiVersion {
    // Kafka 4 takes no Produce below 3, and says 0 all the same: librdkafka compresses only where it sees that (KAFKA-18659).
    let min = if api == ApiKey::PRODUCE { 0 } else { range.min() };
    ApiVersion::default().with_api_key(api.get()).with_min_version(min).with_max_version(range.max())
}
fn supported_feature(name: &'static str, highest: i16) -> SupportedFeatureKey {
    SupportedFeatureKey::default()
        .with_name(StrBytes::from_static_str(name))
        .with_min_version(0)
        .with_max_version(highest)
}
fn finalized_feature(name: &'static str, level: i16) -> FinalizedFeatureKey {
    FinalizedFeatureKey::default()
        .with_name(StrBytes::from_static_str(name))
        .with_min_version_level(level)
        .with_max_version_level(level)
}
