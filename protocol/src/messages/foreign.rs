//! Messages of `kafka-protocol` as bodies of ours, and our own ones as messages of `kafka-protocol`: with its traits,
//! so that code written for that crate takes both.

#[cfg(any(feature = "client", feature = "broker"))]
use crate::codec::{BodyWriter, Checked, Malformed};
#[cfg(any(feature = "client", feature = "broker"))]
use crate::frame::{Limits, body::Kind};
#[cfg(any(feature = "client", feature = "broker"))]
use bytes::Bytes;

/// Makes a pair of `kafka-protocol`'s messages bodies of ours.
macro_rules! foreign {
    ($request:ident $response:ident) => {
        impl $crate::codec::RequestBody for $request {
            #[cfg(feature = "client")]
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                let written = ::kafka_protocol::protocol::Encodable::encode(self, out.buffer(), version);
                written.map_err($crate::messages::foreign::malformed)
            }
            #[cfg(feature = "broker")]
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                let read = ::kafka_protocol::protocol::Decodable::decode(&mut body.into_bytes(), version);
                read.map_err($crate::messages::foreign::malformed)
            }
        }
        impl $crate::codec::ResponseBody for $response {
            #[cfg(feature = "broker")]
            fn write(&self, version: i16, out: &mut $crate::codec::BodyWriter) -> Result<(), $crate::codec::Malformed> {
                let written = ::kafka_protocol::protocol::Encodable::encode(self, out.buffer(), version);
                written.map_err($crate::messages::foreign::malformed)
            }
            #[cfg(feature = "client")]
            fn read(version: i16, body: $crate::codec::Checked) -> Result<Self, $crate::codec::Malformed> {
                let read = ::kafka_protocol::protocol::Decodable::decode(&mut body.into_bytes(), version);
                read.map_err($crate::messages::foreign::malformed)
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
                let (message, length) = $crate::messages::foreign::read(kind, whole, read)?;
                buf.advance(length);
                Ok(message)
            }
        }
    };
}
pub(super) use {foreign, own};

#[cfg(any(feature = "client", feature = "broker"))]
pub(super) fn malformed(error: anyhow::Error) -> Malformed {
    Malformed::new(format!("{error:#}"))
}

#[cfg(any(feature = "client", feature = "broker"))]
pub(super) fn written(write: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>) -> anyhow::Result<BodyWriter> {
    let mut out = BodyWriter::default();
    write(&mut out).map_err(|malformed| anyhow::anyhow!("{malformed}"))?;
    Ok(out)
}

#[cfg(any(feature = "client", feature = "broker"))]
pub(super) fn read<T>(
    kind: Kind,
    whole: Bytes,
    read: impl FnOnce(Checked) -> Result<T, Malformed>,
) -> anyhow::Result<(T, usize)> {
    Ok(kind.read(whole, &Limits::DEFAULT, read)?)
}
