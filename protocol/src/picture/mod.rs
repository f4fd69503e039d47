//! What bytes hold, as text: for errors, logs, tools and people.
//!
//! Drawn from the bytes after Kafka's schemas, so that it shows what is on the wire and not what a decoder made of it.
//! Any bytes may be given: what can be read is drawn, up to what is wrong, and then the error.

mod codes;
mod excerpt;
mod frame;
mod input;
mod json;
mod lines;
mod opened;
mod outline;
mod records;
mod records_json;

pub(crate) use excerpt::excerpt;
pub use input::{NotHex, from_hex, split_frames};

use crate::api;
use crate::codec::{DecodeError, Malformed, Site};
use crate::guard::{self, Direction, Limits, Shape, Visit, coordinator, embedded, secrets};
use crate::{ApiKey, ErrorCode};
use lines::{Extent, Lines, Origin, counted};
use opened::Hints;
use outline::Place;
use std::fmt;

/// Bytes to be shown: a frame, a message's body, or record batches.
///
/// `Display` draws one line for each value: where it begins, its bytes, its field's path and what it is. What is inside
/// of a message is drawn, too, where it is evident: batches of records, what members of a group tell each other, the
/// records of coordinators. Of what is large, the first part is drawn, unless [`whole`](Self::whole) is asked for;
/// passwords and keys are not drawn then, either. [`json`](Self::json) writes what Kafka's JSON converters do.
///
/// ```
/// use millstream_protocol::{ApiKey, picture::Picture};
/// let body = [0, 1, b'g', 0, 0, 0, 7, 0, 1, b'm'];
/// let picture = Picture::of_request(ApiKey::HEARTBEAT, 0, &body).expect("Kafka has it");
/// assert_eq!(picture.json()?, r#"{"groupId":"g","generationId":7,"memberId":"m"}"#);
/// assert_eq!(picture.to_string(), "\
/// HeartbeatRequest, version 0, 10 bytes
///      0  00 01 67                 groupId = \"g\"
///      3  00 00 00 07              generationId = 7
///      7  00 01 6d                 memberId = \"m\"
///     10                           end
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Bytes that are wrong are drawn up to there:
///
/// ```
/// use millstream_protocol::{ApiKey, picture::Picture};
/// let picture = Picture::of_request(ApiKey::HEARTBEAT, 0, b"\0\x01g\0\0").expect("Kafka has it");
/// assert_eq!(picture.to_string(), "\
/// HeartbeatRequest, version 0, 5 bytes
///      0  00 01 67                 groupId = \"g\"
///      3  00 00                    !! generationId: 4 bytes are needed here and 2 are left
/// ");
/// assert_eq!(picture.faults(), 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    what: What,
    bytes: &'a [u8],
    hints: Hints<'a>,
    extent: Extent,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Body { shape: &'static Shape, site: Site, version: i16 },
    Request,
    Response(ApiKey, i16),
    Records,
}

impl<'a> Picture<'a> {
    /// Of a request's body; none for an API that Kafka does not have.
    #[must_use]
    pub fn of_request(api: ApiKey, version: i16, body: &'a [u8]) -> Option<Self> {
        let shape = guard::shape(api, Direction::Request)?;
        Some(Self::of(What::Body { shape, site: Site::Request(api, version), version }, body))
    }
    /// Of a response's body; none for an API that Kafka does not have.
    #[must_use]
    pub fn of_response(api: ApiKey, version: i16, body: &'a [u8]) -> Option<Self> {
        let shape = guard::shape(api, Direction::Response)?;
        Some(Self::of(What::Body { shape, site: Site::Response(api, version), version }, body))
    }
    /// Of a header or another schema that is no API's, by Kafka's name, such as `ConsumerProtocolSubscription`,
    /// without a version before it; none for a name that Kafka does not have.
    #[must_use]
    pub fn of_embedded(name: &str, version: i16, body: &'a [u8]) -> Option<Self> {
        let mut all = embedded::ALL.iter().chain(coordinator::ALL).copied();
        let shape = all.find(|shape| shape.name == name)?;
        Some(Self::of(What::Body { shape, site: Site::Embedded(shape.name, version), version }, body))
    }
    /// Of a request with its header, which says what it is; without the size before it.
    #[must_use]
    pub const fn of_request_frame(frame: &'a [u8]) -> Self {
        Self::of(What::Request, frame)
    }
    /// Of a response with its header, to a request of this API and version; without the size before it. An `ApiVersions`
    /// response that says `UNSUPPORTED_VERSION` is one of version 0, whatever was asked.
    #[must_use]
    pub const fn of_response_frame(api: ApiKey, version: i16, frame: &'a [u8]) -> Self {
        Self::of(What::Response(api, version), frame)
    }
    /// Of record batches, as a Fetch response or a log's segment holds them.
    #[must_use]
    pub const fn of_records(buffer: &'a [u8]) -> Self {
        Self::of(What::Records, buffer)
    }
    /// Says which topic records are of, where the bytes do not: those of coordinators (`__consumer_offsets`,
    /// `__transaction_state`, `__share_group_state`) are drawn field by field.
    #[must_use]
    pub fn in_topic(self, topic: &'a str) -> Self {
        Self { hints: Hints::of_topic(topic), ..self }
    }
    /// Everything is drawn, however large, and secrets too.
    #[must_use]
    pub const fn whole(self) -> Self {
        Self { extent: Extent::Whole, ..self }
    }

    /// As Kafka's JSON converters write it: fields of this version, bytes in base64, ids in Kafka's base64 form.
    /// Tagged fields that Kafka does not know are left out. A frame is written as its `header` and its `body`, records
    /// as their `batches`. In the place of passwords and keys it says `(3 bytes that are secret)`, unless [`whole`](Self::whole)
    /// is asked for.
    ///
    /// # Errors
    ///
    /// When the bytes are no such thing.
    pub fn json(&self) -> Result<String, DecodeError> {
        let mut json = json::Json::new(self.extent == Extent::Whole);
        match self.what {
            What::Body { shape, site, version } => drop(walk(shape, site, version, self.bytes, &mut json)?),
            What::Records => records_json::write(self.bytes, &mut json).map_err(wrong_records)?,
            What::Request | What::Response(..) => drop(self.walk_frame(&mut json)?),
        }
        Ok(json.text)
    }
    /// How many bytes the message takes; what follows is not looked at. Of records, the bytes of whole batches.
    ///
    /// # Errors
    ///
    /// When the bytes are no such thing.
    pub fn length(&self) -> Result<usize, DecodeError> {
        match self.what {
            What::Body { shape, site, version } => walk(shape, site, version, self.bytes, &mut guard::Blind),
            What::Records => records_json::length(self.bytes).map_err(wrong_records),
            What::Request | What::Response(..) => self.walk_frame(&mut guard::Blind),
        }
    }
    /// The different error codes in it, in rising order, where 0 is success: what fields hold that Kafka calls `errorCode`, or so that it ends
    /// like that. Cheaper by far than drawing it.
    ///
    /// ```
    /// use millstream_protocol::messages::{MetadataRequest, MetadataResponse, metadata_response::MetadataResponseTopic};
    /// use millstream_protocol::{ApiKey, ErrorCode, frame, picture::Picture};
    /// let mut refused = MetadataResponseTopic::default();
    /// refused.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED.get();
    /// let mut answer = MetadataResponse::default();
    /// answer.topics = vec![refused.clone(), MetadataResponseTopic::default(), refused];
    /// let frame = frame::encode_response::<MetadataRequest>(9, 7, &answer)?.payload();
    /// let codes = Picture::of_response_frame(ApiKey::METADATA, 9, &frame).error_codes()?;
    /// assert_eq!(codes, [ErrorCode::NONE, ErrorCode::TOPIC_AUTHORIZATION_FAILED]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the bytes are no such thing.
    pub fn error_codes(&self) -> Result<Vec<ErrorCode>, DecodeError> {
        let mut codes = codes::Codes::default();
        match self.what {
            What::Body { shape, site, version } => drop(walk(shape, site, version, self.bytes, &mut codes)?),
            // Records have none.
            What::Records => {}
            What::Request | What::Response(..) => drop(self.walk_frame(&mut codes)?),
        }
        Ok(codes.sorted())
    }
    /// How many things are wrong with it, those inside included.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.draw().faults
    }

    const fn of(what: What, bytes: &'a [u8]) -> Self {
        Self { what, bytes, hints: Hints::NONE, extent: Extent::Excerpt }
    }

    /// Header, then body, as the fields `header` and `body`.
    fn walk_frame(&self, visit: &mut impl Visit<'a>) -> Result<usize, DecodeError> {
        let (api, version, direction) = match self.what {
            What::Response(api, version) => (api, frame::answered(api, version, self.bytes), Direction::Response),
            _ => frame::announced(self.bytes).map(|(api, version)| (api, version, Direction::Request)).ok_or_else(
                || DecodeError::new(Site::RequestHeader, Malformed::new("fewer than four bytes").at_offset(0)),
            )?,
        };
        let (header, header_version, header_site, site) = match direction {
            Direction::Request => (
                &embedded::REQUEST_HEADER,
                api::request_header_version(api, version),
                Site::RequestHeader,
                Site::Request(api, version),
            ),
            Direction::Response => (
                &embedded::RESPONSE_HEADER,
                api::response_header_version(api, version),
                Site::ResponseHeader(api, version),
                Site::Response(api, version),
            ),
        };
        visit.open_struct();
        visit.field("header", 0);
        // A header's error shows bytes after it, too.
        let shown = |malformed| secrets::shown_in_frame(malformed, api, direction, self.bytes);
        let length = guard::walk(header, header_version, self.bytes, &Limits::DEFAULT, visit)
            .map_err(|malformed| DecodeError::new(header_site, shown(malformed)))?
            .length;
        let unknown = || DecodeError::new(site, Malformed::new("Kafka 4.4 has no such API"));
        let shape = guard::shape(api, direction).ok_or_else(unknown)?;
        visit.field("body", length);
        let body = walk(shape, site, version, self.bytes.get(length..).unwrap_or_default(), visit)?;
        visit.close_struct();
        Ok(length + body)
    }

    fn draw(&self) -> Lines {
        let (mut lines, origin) = (Lines::new(self.extent), Origin::At(0));
        match self.what {
            What::Body { shape, version, .. } => {
                let place = Place { shape, version, bytes: self.bytes, origin, path: "", hints: self.hints };
                if let Some(length) = outline::draw(place, &mut lines) {
                    place.end(length, &mut lines);
                }
            }
            What::Request => frame::draw_request(self.bytes, origin, "", self.hints, &mut lines),
            What::Response(api, version) => frame::draw_response(self.bytes, api, version, &mut lines),
            What::Records => records::draw(self.bytes, origin, "", self.hints, &mut lines),
        }
        lines
    }
}

/// Walks over a message and returns its length.
fn walk<'a>(
    shape: &'static Shape,
    site: Site,
    version: i16,
    bytes: &'a [u8],
    visit: &mut impl Visit<'a>,
) -> Result<usize, DecodeError> {
    let walked = guard::walk(shape, version, bytes, &Limits::DEFAULT, visit);
    let shown = |malformed| DecodeError::new(site, secrets::shown(malformed, Some(shape), bytes));
    walked.map(|walked| walked.length).map_err(shown)
}

fn wrong_records(error: crate::record::RecordError) -> DecodeError {
    DecodeError::new(Site::Records, Malformed::new(error.to_string()))
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = counted(self.bytes.len(), "byte");
        match self.what {
            What::Body { shape, version, .. } => writeln!(f, "{}, version {version}, {size}", shape.name)?,
            What::Request => match frame::announced(self.bytes) {
                Some((api, version)) => writeln!(f, "{api} request with its header, version {version}, {size}")?,
                None => writeln!(f, "a request with its header, {size}")?,
            },
            What::Response(api, asked) => {
                let version = frame::answered(api, asked, self.bytes);
                writeln!(f, "{api} response with its header, version {version}, {size}")?;
            }
            What::Records => writeln!(f, "record batches, {size}")?,
        }
        f.write_str(&self.draw().text)
    }
}
