//! Any request and any response, for those who do not know beforehand which one comes: a broker, a test.

use crate::ApiKey;
use crate::api::for_each_api;
use crate::codec::{Body, BodyWriter, Checked, Malformed};

macro_rules! kinds {
    ($($name:ident $key:ident $request:ident $response:ident $min:literal $max:literal $flexible:tt $whose:ident;)*) => {
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
            pub(crate) fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed> {
                match self {
                    $(Self::$name(request) => request.write(version, out),)*
                }
            }
            pub(crate) fn read(api: ApiKey, version: i16, body: &mut Checked) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$key => <super::$request as Body>::read(version, body).map(Self::$name),)*
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
            pub(crate) fn write(&self, version: i16, out: &mut BodyWriter) -> Result<(), Malformed> {
                match self {
                    $(Self::$name(response) => response.write(version, out),)*
                }
            }
            pub(crate) fn read(api: ApiKey, version: i16, body: &mut Checked) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$key => <super::$response as Body>::read(version, body).map(Self::$name),)*
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
        /// Whether the API's decoder, in this direction, checks all bounds itself.
        pub(crate) const fn checks_bounds(api: ApiKey, is_request: bool) -> bool {
            match api {
                $(ApiKey::$key => if is_request { <super::$request as Body>::CHECKS_BOUNDS } else { <super::$response as Body>::CHECKS_BOUNDS },)*
                _ => false,
            }
        }
    };
}
for_each_api!(kinds);

fn unknown() -> Malformed {
    Malformed::new("no such API is known here")
}
