//! Whole frames: the header, then the body that it announces.

use super::lines::{Lines, Origin};
use super::opened::Hints;
use super::outline::{self, Place};
use crate::frame::answered_version;
use crate::guard::{self, Direction, Shape, embedded};
use crate::{ApiKey, api};

/// API and version, from a request's first bytes.
pub(super) fn announced(frame: &[u8]) -> Option<(ApiKey, i16)> {
    let [api, version] = [frame.get(..2)?, frame.get(2..4)?].map(|half| half.first_chunk().copied());
    Some((ApiKey::new(i16::from_be_bytes(api?)), i16::from_be_bytes(version?)))
}

/// The version of the body in a response's frame.
pub(super) fn answered(api: ApiKey, asked: i16, frame: &[u8]) -> i16 {
    // The header of an `ApiVersions` response is the correlation id at every version.
    answered_version(api, asked, frame.get(4..).unwrap_or_default())
}

/// Draws a request with its header.
pub(super) fn draw_request(frame: &[u8], origin: Origin, path: &str, hints: Hints<'_>, lines: &mut Lines) {
    // Without an API every version of the header comes to the same error.
    let (api, version) = announced(frame).unwrap_or((ApiKey::PRODUCE, 0));
    let header = (&embedded::REQUEST_HEADER, api::request_header_version(api, version));
    let body = (guard::shape(api, Direction::Request), api, version);
    draw(frame, origin, path, hints, header, body, lines);
}

/// Draws a response with its header.
pub(super) fn draw_response(frame: &[u8], api: ApiKey, version: i16, lines: &mut Lines) {
    let version = answered(api, version, frame);
    let header = (&embedded::RESPONSE_HEADER, api::response_header_version(api, version));
    let body = (guard::shape(api, Direction::Response), api, version);
    draw(frame, Origin::At(0), "", Hints::NONE, header, body, lines);
}

fn draw(
    frame: &[u8],
    origin: Origin,
    path: &str,
    hints: Hints<'_>,
    (header, header_version): (&'static Shape, i16),
    (body, api, version): (Option<&'static Shape>, ApiKey, i16),
    lines: &mut Lines,
) {
    let header_path = if path.is_empty() { "header".to_owned() } else { format!("{path}.header") };
    let place =
        Place { shape: header, version: header_version, bytes: frame, origin, path: &header_path, hints: Hints::NONE };
    let Some(length) = outline::draw(place, lines) else { return };
    let (bytes, origin) = (frame.get(length..).unwrap_or_default(), origin.plus(length));
    let Some(shape) = body else {
        let reason = format!("Kafka 4.4 has no API {}; the body cannot be read", api.get());
        return lines.wrong(Some(origin), bytes, &reason);
    };
    let place = Place { shape, version, bytes, origin, path, hints };
    if let Some(length) = outline::draw(place, lines).filter(|_| path.is_empty()) {
        place.end(length, lines);
    }
}
