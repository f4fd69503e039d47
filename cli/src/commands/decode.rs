//! `millstream decode`: what bytes of the protocol hold.

use crate::failure::Failure;
use bytes::Bytes;
use clap::{ArgGroup, Args};
use millstream::protocol::picture::{Picture, from_hex, split_frames};
use millstream::protocol::{ApiKey, api};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Shows what frames, record batches and what is inside of them hold, byte by byte.
///
/// Bytes are hexadecimal digits, from the command line or standard input, or come from a file. Without a flag they are
/// requests, which say in their header what they are: with their size before them or, a single one, without. Bytes that
/// are wrong are shown up to there, and the exit code is 1.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["request", "response", "records", "schema"]))]
#[command(after_help = "Examples:\n  \
    millstream decode 0012 0003 00000001 ffff 00 0178 0179 00\n  \
    millstream decode --response Metadata 12 --json <answer.hex\n  \
    millstream decode --file captured-requests.bin\n  \
    millstream decode --records --file 00000000000000000000.log --topic __consumer_offsets")]
pub(crate) struct Decode {
    /// Hexadecimal digits; standard input's without. Spaces, commas, colons and 0x are skipped
    #[arg(conflicts_with = "file")]
    hex: Vec<String>,
    /// A file of bytes: frames, each after its size of four bytes, or with --records a log's segment; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// They are requests (the default)
    #[arg(long)]
    request: bool,
    /// They are responses to this API, by Kafka's name or its number, at this version
    #[arg(long, num_args = 2, value_names = ["API", "VERSION"])]
    response: Option<Vec<String>>,
    /// They are record batches, one after another
    #[arg(long)]
    records: bool,
    /// They are a schema that is no API's, such as ConsumerProtocolSubscription or OffsetCommitValue, at this version,
    /// without the version before it
    #[arg(long, num_args = 2, value_names = ["NAME", "VERSION"])]
    schema: Option<Vec<String>>,
    /// The topic that the records are of: those of __consumer_offsets, __transaction_state and __share_group_state are
    /// shown field by field
    #[arg(long, value_name = "TOPIC", requires = "records")]
    topic: Option<String>,
    /// Prints JSON as Kafka's tools do, a line for each frame; without passwords, unless --whole is given
    #[arg(long)]
    json: bool,
    /// Shows everything, however large, and passwords too
    #[arg(long)]
    whole: bool,
}

/// What the bytes are.
#[derive(Debug, Clone, Copy)]
enum What<'a> {
    Request,
    Response(ApiKey, i16),
    Records,
    Schema(&'a str, i16),
}

impl Decode {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let what = self.what()?;
        let bytes = self.bytes()?;
        let framed = matches!(what, What::Request | What::Response(..));
        let (frames, rest) = if framed { self.frames(what, bytes)? } else { (vec![(0, bytes)], Bytes::new()) };
        let mut out = std::io::stdout().lock();
        let mut wrong = 0;
        for (index, (at, frame)) in frames.iter().enumerate() {
            if frames.len() > 1 && !self.json {
                writeln!(out, "{}frame {} at byte {at}", if index > 0 { "\n" } else { "" }, index + 1)?;
            }
            wrong += usize::from(!self.show(what, frame, &mut out)?);
        }
        out.flush()?;
        if !rest.is_empty() {
            return Err(cut_short(frames.len(), &rest));
        }
        match wrong {
            0 => Ok(()),
            _ if self.json => Err(Failure::because(format!("{wrong} of {} could not be read", frames.len()))),
            _ => Err(Failure::because(format!("{wrong} of {} could not be read: see !! above", frames.len()))),
        }
    }

    fn what(&self) -> Result<What<'_>, Failure> {
        if let Some([api, number]) = self.response.as_deref() {
            return Ok(What::Response(api_of(api)?, version(number)?));
        }
        if let Some([name, number]) = self.schema.as_deref() {
            return Ok(What::Schema(name, version(number)?));
        }
        Ok(if self.records { What::Records } else { What::Request })
    }

    fn bytes(&self) -> Result<Bytes, Failure> {
        if let Some(path) = &self.file {
            return Ok(read(path)?.into());
        }
        let text = if self.hex.is_empty() { hex_from_stdin()? } else { self.hex.join(" ") };
        let bytes = from_hex(&text).map_err(|error| Failure::new("read hexadecimal digits", error))?;
        if bytes.is_empty() {
            return Err(Failure::because(
                "nothing to decode: give hexadecimal digits as arguments or on standard input, or --file FILE",
            ));
        }
        Ok(bytes.into())
    }

    /// A file has frames with their sizes. Digits have them if the sizes fit exactly; else they are one frame.
    ///
    /// A size may fit by chance: a response's correlation id can be as many as the bytes after it. So digits that are
    /// whole as one frame, and not as frames with sizes, are one.
    fn frames(&self, what: What<'_>, bytes: Bytes) -> Result<(Vec<(usize, Bytes)>, Bytes), Failure> {
        let (frames, rest) = split_frames(&bytes);
        if self.file.is_some() {
            return Ok((frames, rest));
        }
        let one = vec![(0, bytes)];
        let is_one = !rest.is_empty() || (!self.are_whole(what, &frames)? && self.are_whole(what, &one)?);
        Ok((if is_one { one } else { frames }, Bytes::new()))
    }

    /// Whether each is a message to its last byte.
    fn are_whole(&self, what: What<'_>, frames: &[(usize, Bytes)]) -> Result<bool, Failure> {
        let mut whole = true;
        for (_, frame) in frames {
            whole &= self.picture(what, frame)?.length().is_ok_and(|length| length == frame.len());
        }
        Ok(whole)
    }

    fn picture<'a>(&'a self, what: What<'_>, bytes: &'a [u8]) -> Result<Picture<'a>, Failure> {
        let picture = match what {
            What::Request => Picture::of_request_frame(bytes),
            What::Response(api, version) => Picture::of_response_frame(api, version, bytes),
            What::Records => Picture::of_records(bytes),
            What::Schema(name, version) => {
                Picture::of_embedded(name, version, bytes).ok_or_else(|| no_such_schema(name))?
            }
        };
        let picture = self.topic.as_deref().map_or(picture, |topic| picture.in_topic(topic));
        Ok(if self.whole { picture.whole() } else { picture })
    }

    /// Prints it; whether nothing was wrong.
    fn show(&self, what: What<'_>, bytes: &[u8], out: &mut impl Write) -> Result<bool, Failure> {
        let picture = self.picture(what, bytes)?;
        if !self.json {
            write!(out, "{picture}")?;
            return Ok(picture.faults() == 0);
        }
        match picture.json() {
            Ok(json) => writeln!(out, "{json}").map(|()| true).map_err(Failure::from),
            Err(error) => {
                eprintln!("millstream: {error}");
                Ok(false)
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::new(format!("read {}", path.display()), error);
    if path.as_os_str() != "-" {
        return std::fs::read(path).map_err(failed);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn hex_from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|error| Failure::new("read standard input (of bytes that are no digits: --file -)", error))?;
    Ok(text)
}

/// By Kafka's name, however spelled, or its number.
fn api_of(text: &str) -> Result<ApiKey, Failure> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let by_name = api::all().map(|(api, _)| api).find(|api| plain(api.name()) == plain(text));
    by_name.or_else(|| text.parse().ok().map(ApiKey::new)).ok_or_else(|| {
        Failure::because(format!("no API is called `{text}`; give Kafka's name, such as Metadata, or its number"))
    })
}

fn version(text: &str) -> Result<i16, Failure> {
    let not_a_version = |error: std::num::ParseIntError| Failure::new(format!("`{text}` is no version"), error);
    text.parse().map_err(not_a_version)
}

fn no_such_schema(name: &str) -> Failure {
    Failure::because(format!(
        "Kafka has no schema `{name}`; give a name of Kafka's message files, such as ConsumerProtocolAssignment"
    ))
}

fn cut_short(frames: usize, rest: &[u8]) -> Failure {
    let claimed = rest.first_chunk().map(|size| i32::from_be_bytes(*size));
    let what = match claimed {
        Some(size) if size < 0 => format!("a size of {size}: no frame begins there"),
        Some(size) => format!("a size of {size}, and {} bytes after it", rest.len() - 4),
        None => format!("{} bytes, too few for a size", rest.len()),
    };
    Failure::because(format!(
        "after {frames} whole frame(s) the file ends with {what}; it is cut short, or no file of frames"
    ))
}
