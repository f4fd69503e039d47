//! Messages of `kafka-protocol` as bodies of ours, written and read by one engine after the guard's shapes; and our own
//! messages with that crate's traits, so that code written for it takes both.

mod engine;
#[rustfmt::skip]
mod types;
mod value;

pub(crate) use engine::{Shaped, same, shaped};
pub(crate) use value::Value;

use crate::ApiKey;
use crate::codec::{BodyWriter, Checked, Malformed};
#[cfg(any(feature = "client", feature = "broker"))]
use crate::frame::{Limits, body::Kind};
use crate::guard::{self, Direction};
#[cfg(any(feature = "client", feature = "broker"))]
use bytes::Bytes;

/// Makes a pair of `kafka-protocol`'s messages bodies of ours, after their shapes.
macro_rules! foreign {
    ($key:ident $request:ident $response:ident) => {
        foreign!(@body $request $key Request RequestBody "client" "broker");
        foreign!(@body $response $key Response ResponseBody "broker" "client");
    };
    (@body $message:ident $key:ident $direction:ident $body:ident $writes:literal $reads:literal) => {
        impl $crate::codec::$body for $message {
            #[cfg(feature = $writes)]
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                use $crate::guard::Direction;
                $crate::messages::foreign::write(self, $crate::ApiKey::$key, Direction::$direction, version, out)
            }
            #[cfg(feature = $reads)]
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                use $crate::guard::Direction;
                let mut message = Self::default();
                $crate::messages::foreign::read_into(&mut message, $crate::ApiKey::$key, Direction::$direction, version, body)?;
                Ok(message)
            }
        }
    };
}

/// Gives a pair of our own messages the traits of `kafka-protocol`.
macro_rules! own {
    ($key:ident $request:ident $response:ident $min:literal $max:literal) => {
        own!(@message $request $min $max);
        own!(@message $response $min $max);
        own!(@codec $request $key request RequestBody "client" "broker");
        own!(@codec $response $key response ResponseBody "broker" "client");
        impl ::kafka_protocol::protocol::HeaderVersion for $request {
            fn header_version(version: i16) -> i16 {
                $crate::api::request_header_version($crate::ApiKey::$key, version)
            }
        }
        impl ::kafka_protocol::protocol::HeaderVersion for $response {
            fn header_version(version: i16) -> i16 {
                $crate::api::response_header_version($crate::ApiKey::$key, version)
            }
        }
        #[cfg(all(feature = "client", feature = "broker"))]
        impl ::kafka_protocol::protocol::Request for $request {
            const KEY: i16 = $crate::ApiKey::$key.get();
            type Response = $response;
        }
    };
    (@message $message:ident $min:literal $max:literal) => {
        impl ::kafka_protocol::protocol::Message for $message {
            const VERSIONS: ::kafka_protocol::protocol::VersionRange =
                ::kafka_protocol::protocol::VersionRange { min: $min, max: $max };
            const DEPRECATED_VERSIONS: Option<::kafka_protocol::protocol::VersionRange> = None;
        }
    };
    (@codec $message:ident $key:ident $direction:ident $body:ident $writes:literal $reads:literal) => {
        #[cfg(feature = $writes)]
        impl ::kafka_protocol::protocol::Encodable for $message {
            fn encode<B: ::kafka_protocol::protocol::buf::ByteBufMut>(&self, buf: &mut B, version: i16) -> ::anyhow::Result<()> {
                let write = |out: &mut $crate::codec::BodyWriter| $crate::codec::$body::write(self, version, out);
                buf.put_slice(&$crate::messages::foreign::written(write)?.into_bytes());
                Ok(())
            }
            fn compute_size(&self, version: i16) -> ::anyhow::Result<usize> {
                let write = |out: &mut $crate::codec::BodyWriter| $crate::codec::$body::write(self, version, out);
                Ok($crate::messages::foreign::written(write)?.len())
            }
        }
        #[cfg(feature = $reads)]
        impl ::kafka_protocol::protocol::Decodable for $message {
            fn decode<B: ::kafka_protocol::protocol::buf::ByteBuf>(buf: &mut B, version: i16) -> ::anyhow::Result<Self> {
                let kind = $crate::frame::body::Kind::$direction($crate::ApiKey::$key, version);
                let whole = buf.try_peek_bytes(0..buf.remaining())?;
                let read = |checked| $crate::codec::$body::read(version, checked);
                let (message, length) = $crate::messages::foreign::read_guarded(kind, whole, read)?;
                buf.advance(length);
                Ok(message)
            }
        }
    };
}
pub(super) use {foreign, own};

fn shape(api: ApiKey, direction: Direction) -> Result<&'static guard::Shape, Malformed> {
    guard::shape(api, direction).ok_or_else(|| Malformed::new("no such API is known here"))
}

pub(super) fn write(
    message: &dyn Shaped,
    api: ApiKey,
    direction: Direction,
    version: i16,
    out: &mut BodyWriter,
) -> Result<(), Malformed> {
    engine::write_body(message, shape(api, direction)?, version, out)
}

pub(super) fn read_into(
    message: &mut dyn Shaped,
    api: ApiKey,
    direction: Direction,
    version: i16,
    body: Checked,
) -> Result<(), Malformed> {
    engine::read_body(message, shape(api, direction)?, version, body)
}

#[cfg(any(feature = "client", feature = "broker"))]
pub(super) fn written(write: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>) -> anyhow::Result<BodyWriter> {
    let mut out = BodyWriter::default();
    write(&mut out).map_err(|malformed| anyhow::anyhow!("{malformed}"))?;
    Ok(out)
}

#[cfg(any(feature = "client", feature = "broker"))]
pub(super) fn read_guarded<T>(
    kind: Kind,
    whole: Bytes,
    read: impl FnOnce(Checked) -> Result<T, Malformed>,
) -> anyhow::Result<(T, usize)> {
    Ok(kind.read(whole, &Limits::DEFAULT, read)?)
}
