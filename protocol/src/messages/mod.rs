//! Requests and responses, by their names in Kafka's schemas.
//!
//! Most types are `kafka-protocol`'s, which agree with Kafka byte for byte; Produce and Fetch, which carry records,
//! are this crate's own. Their decoders are reached through [`frame`](crate::frame) only, behind the guard.
//! Other packages name these types inside, never in a public signature.

pub mod fetch_request;
pub mod fetch_response;
pub(crate) mod field;
mod kind;
pub mod produce_request;
pub mod produce_response;
mod record_data;

pub use kafka_protocol::messages::*;
pub use kafka_protocol::protocol::StrBytes;
pub(crate) use kind::checks_bounds;
pub use kind::{RequestKind, ResponseKind};
pub use uuid::Uuid;

// Ours, in place of `kafka-protocol`'s of the same name.
pub use crate::ApiKey;
pub use fetch_request::FetchRequest;
pub use fetch_response::FetchResponse;
pub use field::TaggedFields;
pub use produce_request::ProduceRequest;
pub use produce_response::ProduceResponse;
pub use record_data::RecordData;

use crate::api::for_each_api;
use crate::codec::{Body, foreign_body};

/// A request or a response.
pub trait Message: Body + Clone + std::fmt::Debug + Default + PartialEq + Send + Sync + 'static {}

/// A request, and what answers it.
pub trait Request: Message + Into<RequestKind> {
    /// The API.
    const KEY: ApiKey;
    /// What a broker answers with.
    type Response: Message + Into<ResponseKind>;
}

macro_rules! body {
    (foreign $request:ident $response:ident) => {
        foreign_body!($request, $response);
    };
    // Written by hand, beside the types.
    (own $request:ident $response:ident) => {};
}
macro_rules! requests {
    ($($name:ident $key:ident $request:ident $response:ident $min:literal $max:literal $flexible:tt $whose:ident;)*) => {
        $(
            impl Message for $request {}
            impl Message for $response {}
            impl Request for $request {
                const KEY: ApiKey = ApiKey::$key;
                type Response = $response;
            }
        )*
        $(body!($whose $request $response);)*
    };
}
for_each_api!(requests);
