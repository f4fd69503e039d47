//! The walk over a frame before a decoder may see it.
//!
//! `kafka-protocol`'s decoders reserve room by counts on the wire: a frame of twenty bytes can make them ask for
//! gigabytes, which ends the process. So nothing is decoded before a walk after the message's shape has found every
//! count and length to fit the bytes that are there. The walk allocates nothing, unless it has an error to tell.
//!
//! It also refuses what those decoders would misread: varints of more than 32 bits, null where a field has none,
//! lengths below −1, tagged fields whose size is not their content's.

mod limits;
mod shape;
#[rustfmt::skip]
mod shapes;
mod walk;
mod walker;

pub(crate) use limits::Limits;
pub(crate) use shape::Shape;
pub(crate) use shapes::embedded;
pub(crate) use walk::{Value, Visit, walk};
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

/// The shape of an API's message; none for an API that Kafka does not have.
pub(crate) fn shape(api: ApiKey, direction: Direction) -> Option<&'static Shape> {
    let index = shapes::APIS.binary_search_by_key(&api.get(), |(key, ..)| *key).ok()?;
    let (_, request, response) = shapes::APIS.get(index)?;
    Some(if direction == Direction::Request { request } else { response })
}

/// Lets a body through to its decoder, after a walk over it unless the decoder needs none.
pub(crate) fn check(api: ApiKey, direction: Direction, version: i16, body: Bytes) -> Result<Checked, Malformed> {
    if !checks_bounds(api, direction == Direction::Request) {
        let shape = shape(api, direction).ok_or_else(|| Malformed::new("no such API is known here"))?;
        check_shape(shape, version, &body)?;
    }
    Ok(Checked::new(body))
}

/// Walks over a body of this shape.
pub(crate) fn check_shape(shape: &Shape, version: i16, body: &[u8]) -> Result<usize, Malformed> {
    walk(shape, version, body, Limits::DEFAULT, &mut Blind)
}

/// Why a decoder refused what the guard let through: text that is not UTF-8, in which field, if that is what it is.
pub(crate) fn explain(shape: &Shape, version: i16, body: &[u8]) -> Option<Malformed> {
    walk(shape, version, body, Limits::DEFAULT, &mut Utf8).err()
}

/// Looks at nothing.
struct Blind;
impl Visit<'_> for Blind {}

/// Looks at text.
struct Utf8;
impl<'a> Visit<'a> for Utf8 {
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        match value {
            Value::Text(text) if std::str::from_utf8(text).is_err() => Err(Malformed::new("text that is not UTF-8")),
            _ => Ok(()),
        }
    }
}
