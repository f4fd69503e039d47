//! The walk over a frame before a decoder may see it.

mod walker;

pub(crate) use walker::Walker;

use crate::ApiKey;
use crate::codec::{Checked, Malformed};
use crate::messages::checks_bounds;
use bytes::Bytes;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Request,
    Response,
}

pub(crate) fn check(api: ApiKey, direction: Direction, _version: i16, body: Bytes) -> Result<Checked, Malformed> {
    if checks_bounds(api, direction == Direction::Request) {
        return Ok(Checked::new(body));
    }
    Ok(Checked::new(body))
}
