//! UpdateFeatures (KIP-584): all of the request or nothing. What the broker does follows the new levels at once.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::features::Change;
use crate::broker::java_hash::string_hash;
use crate::broker::java_order::in_map_order;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::update_features_request::FeatureUpdateKey;
use millstream_protocol::messages::update_features_response::UpdatableFeatureResult;
use millstream_protocol::messages::{StrBytes, UpdateFeaturesRequest, UpdateFeaturesResponse};

/// From this version on the kind of change is told apart.
const KINDS_SINCE: i16 = 1;
/// From this version on the features have no results of their own.
const NO_RESULTS_SINCE: i16 = 2;

const METADATA: &str = "metadata.version";

pub(super) struct UpdateFeatures;

impl Handler for UpdateFeatures {
    type Request = UpdateFeaturesRequest;
    fn handle(broker: &mut Broker, call: &Call, request: UpdateFeaturesRequest) -> Answer<UpdateFeaturesResponse> {
        // Of several that cannot be, the first of Kafka's table is told.
        let updates = in_map_order(request.feature_updates.iter().collect(), |update| string_hash(&update.feature));
        let metadata = asked_metadata(broker, &request);
        if let Err((code, reason)) = updates.into_iter().try_for_each(|update| check(broker, call, update, metadata)) {
            return Answer::Reply(refused(code, &reason));
        }
        if !request.validate_only {
            request
                .feature_updates
                .iter()
                .for_each(|update| broker.features.set(&update.feature, update.max_version_level));
        }
        let done = |update: &FeatureUpdateKey| {
            UpdatableFeatureResult::default()
                .with_feature(update.feature.clone())
                .with_error_message(Some(StrBytes::from_static_str("NONE")))
        };
        let results = request.feature_updates.iter().filter(|_| call.version < NO_RESULTS_SINCE).map(done);
        Answer::Reply(UpdateFeaturesResponse::default().with_error_message(None).with_results(results.collect()))
    }
    fn refuse(_: &UpdateFeaturesRequest, code: ErrorCode) -> UpdateFeaturesResponse {
        UpdateFeaturesResponse::default()
            .with_error_code(code.get())
            .with_error_message(Some(StrBytes::from_static_str(code.message())))
    }
}

/// The level of the metadata that there would be: what depends on it is checked against that.
fn asked_metadata(broker: &Broker, request: &UpdateFeaturesRequest) -> i16 {
    let update = request.feature_updates.iter().find(|update| update.feature.as_str() == METADATA);
    update.map_or_else(|| broker.features.level(METADATA), |update| update.max_version_level)
}
fn check(broker: &Broker, call: &Call, update: &FeatureUpdateKey, metadata: i16) -> Result<(), (ErrorCode, String)> {
    let controller = broker.nodes.controller().map_or(-1, |node| node.id.get());
    let change = change(call.version, update);
    broker.features.check((&update.feature, update.max_version_level), change, metadata, controller)
}
fn change(version: i16, update: &FeatureUpdateKey) -> Change {
    match update.upgrade_type {
        _ if version < KINDS_SINCE => {
            if update.allow_downgrade {
                Change::SafeDowngrade
            } else {
                Change::Upgrade
            }
        }
        1 => Change::Upgrade,
        2 => Change::SafeDowngrade,
        3 => Change::UnsafeDowngrade,
        _ => Change::Unknown,
    }
}
fn refused(code: ErrorCode, reason: &str) -> UpdateFeaturesResponse {
    let sentence = format!("The update failed for all features since the following feature had an error: {reason}");
    UpdateFeaturesResponse::default()
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(sentence)))
}
