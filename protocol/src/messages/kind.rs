//! Any request and any response, for those who do not know beforehand which one comes: a broker, a test.

use crate::ApiKey;
use crate::api::for_each_api;
#[cfg(any(feature = "client", feature = "broker"))]
use crate::codec::{BodyWriter, Checked, Malformed, RequestBody, ResponseBody};
use crate::guard::Direction;

macro_rules! kinds {
    ($($name:ident $key:ident $request:ident $response:ident $min:literal $stable:literal $max:literal $flexible:tt $whose:ident;)*) => {
        /// A request of any API.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "one variant for each API, by its name; it lives as long as one request")]
        pub enum RequestKind {
            $($name(super::$request),)*
        }
        /// A response of any API.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "one variant for each API, by its name; it lives as long as one response")]
        pub enum ResponseKind {
            $($name(super::$response),)*
        }
        impl RequestKind {
            /// The API.
            #[must_use]
            pub const fn api(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => ApiKey::$key,)*
                }
            }
            #[cfg(feature = "client")]
            pub(crate) fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed> {
                match self {
                    $(Self::$name(request) => request.write(version, out),)*
                }
            }
            #[cfg(feature = "broker")]
            pub(crate) fn read(api: ApiKey, version: i16, body: Checked) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$key => <super::$request as RequestBody>::read(version, body).map(Self::$name),)*
                    _ => Err(unknown()),
                }
            }
        }
        impl ResponseKind {
            /// The API.
            #[must_use]
            pub const fn api(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => ApiKey::$key,)*
                }
            }
            #[cfg(feature = "broker")]
            pub(crate) fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed> {
                match self {
                    $(Self::$name(response) => response.write(version, out),)*
                }
            }
            #[cfg(feature = "client")]
            pub(crate) fn read(api: ApiKey, version: i16, body: Checked) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$key => <super::$response as ResponseBody>::read(version, body).map(Self::$name),)*
                    _ => Err(unknown()),
                }
            }
        }
        $(
            impl From<super::$request> for RequestKind {
                fn from(request: super::$request) -> Self {
                    Self::$name(request)
                }
            }
            impl From<super::$response> for ResponseKind {
                fn from(response: super::$response) -> Self {
                    Self::$name(response)
                }
            }
        )*
    };
}
for_each_api!(kinds);

/// A message of any API, in either direction.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
#[expect(clippy::large_enum_variant, reason = "it lives as long as one message")]
pub enum AnyMessage {
    /// What is asked.
    Request(RequestKind),
    /// What answers.
    Response(ResponseKind),
}

impl AnyMessage {
    /// The API.
    #[must_use]
    pub const fn api(&self) -> ApiKey {
        match self {
            Self::Request(request) => request.api(),
            Self::Response(response) => response.api(),
        }
    }
    /// Which way it goes.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match self {
            Self::Request(_) => Direction::Request,
            Self::Response(_) => Direction::Response,
        }
    }
}
impl From<RequestKind> for AnyMessage {
    fn from(request: RequestKind) -> Self {
        Self::Request(request)
    }
}
impl From<ResponseKind> for AnyMessage {
    fn from(response: ResponseKind) -> Self {
        Self::Response(response)
    }
}

#[cfg(any(feature = "client", feature = "broker"))]
fn unknown() -> Malformed {
    Malformed::new("no such API is known here")
}
