//! Reads a body of a known API, direction and version: version check, guard, decoder.

use super::Limits;
use crate::ApiKey;
use crate::api;
use crate::codec::{BodyWriter, Checked, DecodeError, EncodeError, Malformed, Site};
use crate::guard::{self, Direction, secrets};
use bytes::Bytes;

/// Which body it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) api: ApiKey,
    pub(crate) direction: Direction,
    pub(crate) version: i16,
}

impl Kind {
    pub(crate) const fn request(api: ApiKey, version: i16) -> Self {
        Self { api, direction: Direction::Request, version }
    }
    pub(crate) const fn response(api: ApiKey, version: i16) -> Self {
        Self { api, direction: Direction::Response, version }
    }
    pub(super) const fn site(self) -> Site {
        match self.direction {
            Direction::Request => Site::Request(self.api, self.version),
            Direction::Response => Site::Response(self.api, self.version),
        }
    }

    /// Whether there is a codec for this version at all.
    pub(super) fn check_version(self) -> Result<(), Malformed> {
        match api::unspoken(self.api, self.version) {
            None => Ok(()),
            Some(reason) => Err(Malformed::new(reason)),
        }
    }

    /// A body alone.
    pub(super) fn write(
        self,
        body: impl FnOnce(&mut BodyWriter) -> Result<(), Malformed>,
    ) -> Result<BodyWriter, EncodeError> {
        let mut out = BodyWriter::default();
        let written = self.check_version().and_then(|()| body(&mut out)).and_then(|()| self.check_written(&out, 0));
        written.map_err(|malformed| EncodeError::new(self.site(), malformed))?;
        Ok(out)
    }

    /// Whether a reader would take what was written from this byte on. What shares chunks is ours, whose writer has looked.
    pub(super) fn check_written(self, out: &BodyWriter, start: usize) -> Result<(), Malformed> {
        let Some(body) = out.unshared().and_then(|all| all.get(start..)) else { return Ok(()) };
        let shape = guard::shape(self.api, self.direction);
        shape.map_or(Ok(()), |shape| guard::check_written(shape, self.version, body))
    }

    /// The one way from bytes to messages; also says how long the body is.
    pub(crate) fn read<T>(
        self,
        body: Bytes,
        limits: &Limits,
        decode: impl FnOnce(Checked) -> Result<T, Malformed>,
    ) -> Result<(T, usize), DecodeError> {
        let kept = body.clone();
        self.check_version()
            .and_then(|()| limits.check_size(body.len()))
            .and_then(|()| guard::shape(self.api, self.direction).ok_or_else(|| Malformed::new("an unknown API")))
            .and_then(|shape| {
                let (checked, length) = guard::check(shape, self.version, body, limits)?;
                let explain = |refused| self.explain(shape, &kept, limits, refused);
                Ok((decode(checked).map_err(explain)?, length))
            })
            .map_err(|malformed| DecodeError::new(self.site(), self.shown(malformed, &kept)))
    }

    /// With the bytes at its place, unless they may be a secret's.
    fn shown(self, malformed: Malformed, body: &[u8]) -> Malformed {
        secrets::shown(malformed, guard::shape(self.api, self.direction), body)
    }

    /// Where the text that a decoder refused begins, rather than where it gave up.
    fn explain(self, shape: &guard::Shape, body: &[u8], limits: &Limits, refused: Malformed) -> Malformed {
        guard::explain(shape, self.version, body, limits).unwrap_or(refused)
    }
}
