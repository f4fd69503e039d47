//! Reads a body of a known API, direction and version: version check, guard, decoder.

use crate::ApiKey;
use crate::api;
use crate::codec::{Checked, DecodeError, Malformed, Site};
use crate::guard::{self, Direction};
use bytes::Bytes;

/// Which body it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) api: ApiKey,
    pub(super) direction: Direction,
    pub(super) version: i16,
}

impl Kind {
    pub(super) const fn site(self) -> Site {
        match self.direction {
            Direction::Request => Site::Request(self.api, self.version),
            Direction::Response => Site::Response(self.api, self.version),
        }
    }

    /// Whether there is a codec for this version at all.
    pub(super) fn check_version(self) -> Result<(), Malformed> {
        match api::supported(self.api) {
            Some(range) if range.contains(self.version) => Ok(()),
            Some(range) => Err(Malformed::new(format!("this client speaks version {range} of it only"))),
            None => Err(Malformed::new("this client does not know the API")),
        }
    }

    /// The one way from bytes to messages.
    pub(super) fn read<T>(
        self,
        body: Bytes,
        decode: impl FnOnce(&mut Checked) -> Result<T, Malformed>,
    ) -> Result<T, DecodeError> {
        let kept = body.clone();
        self.check_version()
            .and_then(|()| guard::check(self.api, self.direction, self.version, body))
            .and_then(|mut checked| decode(&mut checked).map_err(|refused| self.explain(&kept, refused)))
            .map_err(|malformed| DecodeError::new(self.site(), malformed))
    }

    /// A better reason than the decoder's, if that does not know the field.
    fn explain(self, body: &[u8], refused: Malformed) -> Malformed {
        if refused.field().is_some() {
            return refused;
        }
        let shape = guard::shape(self.api, self.direction);
        shape.and_then(|shape| guard::explain(shape, self.version, body)).unwrap_or(refused)
    }
}
