//! Which APIs, versions and error codes a cluster's clients have met.

use millstream_protocol::frame::Frame;
use millstream_protocol::picture::Picture;
use millstream_protocol::{ApiKey, api};
use std::collections::BTreeMap;

/// Larger answers are not searched for codes: they hold records or long lists.
const SEARCHED: usize = 16 << 10;
/// The size and the correlation id before a body.
const HEADER: usize = 8;

/// Requests and codes, by API and version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage(BTreeMap<(ApiKey, i16), Met>);

/// What was met of one version of an API.
#[derive(Debug, Clone, Default)]
pub(crate) struct Met {
    pub(crate) requests: u64,
    /// How many answers had a code, by the code; 0 is success.
    pub(crate) codes: BTreeMap<i16, u64>,
}

impl Coverage {
    pub(super) fn asked(&mut self, api: ApiKey, version: i16) {
        self.0.entry((api, version)).or_default().requests += 1;
    }
    pub(super) fn answered(&mut self, api: ApiKey, version: i16, codes: Vec<i16>) {
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
pub(super) fn error_codes(api: ApiKey, version: i16, frame: &Frame) -> Vec<i16> {
    if frame.len() > SEARCHED {
        return Vec::new();
    }
    let tags = usize::from(api::response_header_version(api, version) >= 1);
    let bytes = frame.to_bytes();
    let body = bytes.get(HEADER + tags..).unwrap_or_default();
    let json = Picture::of_response(api, version, body).and_then(|picture| picture.json().ok()).unwrap_or_default();
    codes_in(&json)
}
// Fields with codes are called `errorCode` in Kafka's schemas, or end so. In text values the quote would be escaped.
fn codes_in(json: &str) -> Vec<i16> {
    let number = |rest: &str| {
        let end = rest.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end).and_then(|digits| digits.parse().ok())
    };
    let named = |name: &'static str| json.split(name).skip(1).filter_map(number);
    let mut codes: Vec<i16> = named("errorCode\":").chain(named("ErrorCode\":")).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_at_all_depths_and_not_in_text() {
        let json = r#"{"errorCode":0,"topics":[{"name":"\"errorCode\":7","errorCode":3},{"errorCode":-1}],"partitionErrorCode":3}"#;
        assert_eq!(codes_in(json), [-1, 0, 3]);
    }
}
