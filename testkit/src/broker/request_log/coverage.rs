//! Which APIs, versions and error codes a cluster's clients have met.

use millstream_protocol::frame::Frame;
use millstream_protocol::picture::Picture;
use millstream_protocol::{ApiKey, ErrorCode};
use std::collections::BTreeMap;

/// Larger answers are not searched for codes: they hold records or long lists.
const SEARCHED: usize = 16 << 10;

/// Requests and codes, by API and version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage(BTreeMap<(ApiKey, i16), Met>);

/// What was met of one version of an API.
#[derive(Debug, Clone, Default)]
pub(crate) struct Met {
    pub(crate) requests: u64,
    /// How many answers had a code, by the code; 0 is success.
    pub(crate) codes: BTreeMap<ErrorCode, u64>,
}

impl Coverage {
    pub(super) fn asked(&mut self, api: ApiKey, version: i16) {
        self.0.entry((api, version)).or_default().requests += 1;
    }
    pub(super) fn answered(&mut self, api: ApiKey, version: i16, codes: Vec<ErrorCode>) {
        if let Some(met) = self.0.get_mut(&(api, version)) {
            codes.into_iter().for_each(|code| *met.codes.entry(code).or_default() += 1);
        }
    }
    /// All that was met, by API and version.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ApiKey, i16, &Met)> {
        self.0.iter().map(|((api, version), met)| (*api, *version, met))
    }
}

/// The different codes in an answer, in rising order.
pub(super) fn error_codes(api: ApiKey, version: i16, frame: &Frame) -> Vec<ErrorCode> {
    if frame.len() > SEARCHED {
        return Vec::new();
    }
    Picture::of_response_frame(api, version, &frame.payload()).error_codes().unwrap_or_default()
}
