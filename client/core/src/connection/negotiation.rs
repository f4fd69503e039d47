//! Asks a broker for its versions, on every connection anew (W-12, KIP-511).

use super::Broken;
use bytes::Bytes;
use millstream_protocol::api::{self, BrokerVersions, UnsupportedVersion};
use millstream_protocol::frame::{self, EncodeError, Frame};
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, StrBytes};
use millstream_protocol::{ApiKey, ErrorCode};

/// What a broker offers, as it said on one connection.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Versions {
    /// The ranges of the APIs.
    pub ranges: BrokerVersions,
    /// Features that the whole cluster has switched on, with their levels (KIP-584).
    pub finalized_features: HashMap<String, i16>,
    /// Which edition of the features this is; −1 from brokers that do not know. The highest counts.
    pub features_epoch: i64,
}

impl Versions {
    /// The version to use for a request.
    ///
    /// # Errors
    ///
    /// When the two sides share none.
    pub fn negotiate(&self, api: ApiKey, max: Option<i16>) -> Result<i16, UnsupportedVersion> {
        max.map_or_else(|| self.ranges.negotiate(api), |max| self.ranges.negotiate_up_to(api, max))
    }
}

#[derive(Debug)]
pub(super) struct Negotiation {
    version: i16,
    tries: u8,
}

pub(super) enum Outcome {
    Agreed(Versions),
    /// The broker does not know that version of ApiVersions itself.
    Again(Negotiation),
    Refused(ErrorCode),
}

/// The first request must be understood without knowing anything of the broker: it names its own range when it is not.
const TRIES: u8 = 3;

impl Negotiation {
    pub(super) fn new(first_version: Option<i16>) -> Self {
        let highest = highest_version();
        Self { version: first_version.unwrap_or(highest).clamp(0, highest), tries: 1 }
    }
    pub(super) const fn version(&self) -> i16 {
        self.version
    }
    pub(super) fn encode(&self, correlation: i32, client_id: &str) -> Result<Frame, EncodeError> {
        let mut request = ApiVersionsRequest::default();
        if self.version >= 3 {
            request.client_software_name = StrBytes::from_static_str("millstream");
            request.client_software_version = StrBytes::from_static_str(env!("CARGO_PKG_VERSION"));
        }
        frame::encode_request(self.version, correlation, Some(client_id), &request)
    }
    pub(super) fn handle_answer(self, payload: Bytes) -> Result<Outcome, Broken> {
        let code = payload.get(4..6).and_then(|bytes| bytes.first_chunk::<2>());
        let code = code.map_or(ErrorCode::NONE, |bytes| ErrorCode::new(i16::from_be_bytes(*bytes)));
        // Then the body is in version 0, whatever was asked (W-2).
        let version = if code == ErrorCode::UNSUPPORTED_VERSION { 0 } else { self.version };
        let (_, answer) = frame::decode_response::<ApiVersionsRequest>(version, payload).map_err(Broken::malformed)?;
        match code {
            ErrorCode::NONE => Ok(Outcome::Agreed(Versions::from(&answer))),
            ErrorCode::UNSUPPORTED_VERSION if self.version > 0 && self.tries < TRIES => {
                Ok(Outcome::Again(self.lower(&answer)))
            }
            code => Ok(Outcome::Refused(code)),
        }
    }

    /// The highest version of ApiVersions that the broker says it has; 0 when it does not say.
    fn lower(&self, answer: &ApiVersionsResponse) -> Self {
        let theirs =
            BrokerVersions::from_response(answer).range(ApiKey::API_VERSIONS).map_or(0, api::VersionRange::max);
        Self { version: theirs.clamp(0, self.version - 1), tries: self.tries + 1 }
    }
}

impl From<&ApiVersionsResponse> for Versions {
    fn from(answer: &ApiVersionsResponse) -> Self {
        let features = answer.finalized_features.iter();
        Self {
            ranges: BrokerVersions::from_response(answer),
            finalized_features: features.map(|each| (each.name.to_string(), each.max_version_level)).collect(),
            features_epoch: answer.finalized_features_epoch,
        }
    }
}

fn highest_version() -> i16 {
    api::supported(ApiKey::API_VERSIONS).map_or(0, api::VersionRange::max)
}
