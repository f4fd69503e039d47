//! What the bytes of a message hold, as text: for logs, tests and people.
//!
//! Drawn from the bytes after Kafka's schemas, so that it shows what is on the wire and not what a decoder made of it.
//! It knows every API and version of Kafka 4.4, those included that this crate has no types for.

mod json;
mod outline;

use crate::ApiKey;
use crate::codec::{DecodeError, Site};
use crate::guard::{self, Direction, Limits, Shape, coordinator, embedded};
use std::fmt;

/// A message's body, to be shown.
///
/// `Display` draws one line for each value, with where it begins; [`json`](Self::json) writes what Kafka's JSON
/// converters do.
///
/// ```
/// use millstream_protocol::{ApiKey, picture::Picture};
/// let body = [0, 1, b'g', 0, 0, 0, 7, 0, 1, b'm'];
/// let picture = Picture::of_request(ApiKey::HEARTBEAT, 0, &body).expect("Kafka has it");
/// assert_eq!(picture.json()?, r#"{"groupId":"g","generationId":7,"memberId":"m"}"#);
/// assert_eq!(picture.to_string(), "\
/// HeartbeatRequest, version 0
///      0  groupId: \"g\"
///      3  generationId: 7
///      7  memberId: \"m\"
///     10  end
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    shape: &'static Shape,
    site: Site,
    version: i16,
    body: &'a [u8],
}

impl<'a> Picture<'a> {
    /// Of a request's body; none for an API that Kafka does not have.
    #[must_use]
    pub fn of_request(api: ApiKey, version: i16, body: &'a [u8]) -> Option<Self> {
        let shape = guard::shape(api, Direction::Request)?;
        Some(Self { shape, site: Site::Request(api, version), version, body })
    }
    /// Of a response's body; none for an API that Kafka does not have.
    #[must_use]
    pub fn of_response(api: ApiKey, version: i16, body: &'a [u8]) -> Option<Self> {
        let shape = guard::shape(api, Direction::Response)?;
        Some(Self { shape, site: Site::Response(api, version), version, body })
    }
    /// Of a header or another schema that is no API's, by Kafka's name, such as `ConsumerProtocolSubscription`,
    /// without a version before it; none for a name that Kafka does not have.
    #[must_use]
    pub fn of_embedded(name: &str, version: i16, body: &'a [u8]) -> Option<Self> {
        let mut all = embedded::ALL.iter().chain(coordinator::ALL).copied();
        let shape = all.find(|shape| shape.name == name)?;
        Some(Self { shape, site: Site::Embedded(shape.name, version), version, body })
    }
    /// As Kafka's JSON converters write it: fields of this version, bytes in base64, ids in Kafka's base64 form.
    /// Tagged fields that Kafka does not know are left out.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    pub fn json(&self) -> Result<String, DecodeError> {
        let mut json = json::Json::default();
        self.walk(&mut json)?;
        Ok(json.text)
    }
    /// How many bytes of the body the message takes; what follows is not looked at.
    ///
    /// # Errors
    ///
    /// When the bytes are no such message.
    pub fn length(&self) -> Result<usize, DecodeError> {
        Ok(self.walk(&mut guard::Blind)?.length)
    }

    fn walk(&self, visit: &mut impl guard::Visit<'a>) -> Result<guard::Walked, DecodeError> {
        guard::walk(self.shape, self.version, self.body, &Limits::DEFAULT, visit)
            .map_err(|malformed| DecodeError::new(self.site, malformed))
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, version {}", self.shape.name, self.version)?;
        let mut outline = outline::Outline::default();
        let walked = self.walk(&mut outline);
        f.write_str(&outline.text)?;
        match walked {
            Ok(walked) => writeln!(f, "{:>6}  end", walked.length),
            Err(error) => writeln!(f, "     ?  {error}"),
        }
    }
}
