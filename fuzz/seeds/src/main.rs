//! Writes seeds for the fuzz targets: a folder for each, out of the wire corpora.
//!
//! ```text
//! cargo run -p millstream-fuzz-seeds -- ../testkit/vectors/wire target/seeds
//! ```

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Longer rows are left out: chance needs short ones.
const LONGEST: usize = 2048;
/// Seeds of one corpus for one target, evenly taken.
const MOST: usize = 600;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(wire), Some(target)) = (arguments.next(), arguments.next()) else {
        return Err("give the folder of the corpora and the folder to write to".into());
    };
    let seeds = Seeds { wire, target };
    for (corpus, target, what) in [("messages-requests", "requests", 0), ("messages-responses", "responses", 1)] {
        seeds.write(corpus, &[target], |row| message(row, target == "responses"))?;
        seeds.write(corpus, &["picture"], |row| Ok([&[what], &message(row, false)?[..]].concat()))?;
    }
    seeds.write("messages-requests", &["decode"], request_frame)?;
    seeds.write("messages-requests", &["frames"], |row| Ok([&[16], &request_frame(row)?[..]].concat()))?;
    seeds.write("hostile-messages", &["requests"], |row| message(row, false))?;
    seeds.write("hostile-messages", &["responses"], |row| message(row, true))?;
    seeds.write("records", &["records"], |row| bytes(row, "hex"))?;
    seeds.write("hostile-records", &["records"], |row| bytes(row, "hex"))?;
    seeds.write("records", &["legacy"], |row| Ok([&[magic(row)], &bytes(row, "hex")?[..]].concat()))?;
    seeds.write("records", &["picture"], |row| Ok([&[2, 0, 0], &bytes(row, "hex")?[..]].concat()))?;
    seeds.write("records", &["codecs"], codec_block)?;
    let names = seeds.names()?;
    let which = |row: &Value| names.iter().position(|name| row["name"] == **name).and_then(|at| u8::try_from(at).ok());
    seeds.write("messages-data", &["embedded"], |row| {
        let whole = [bytes(row, "prefix")?, bytes(row, "hex")?].concat();
        Ok([&[which(row).ok_or("a name")?], &whole[..]].concat())
    })?;
    seeds.write("messages-data", &["consumer_protocol"], |row| {
        Ok([bytes(row, "prefix")?, bytes(row, "hex")?].concat())
    })?;
    seeds.write("streams-user-data", &["consumer_protocol"], |row| bytes(row, "hex"))
}

struct Seeds {
    wire: PathBuf,
    target: PathBuf,
}

impl Seeds {
    fn rows(&self, corpus: &str) -> Result<Vec<Value>> {
        let path = self.wire.join(format!("{corpus}.jsonl.gz"));
        let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
        lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
    }
    /// The names of all schemas in the order of `Any::NAMES`, which is that of the alphabet.
    fn names(&self) -> Result<Vec<String>> {
        let rows = self.rows("messages-data")?;
        let mut names: Vec<_> = rows.iter().filter_map(|row| row["name"].as_str().map(str::to_owned)).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
    fn write(&self, corpus: &str, targets: &[&str], seed: impl Fn(&Value) -> Result<Vec<u8>>) -> Result<()> {
        let seeds: Vec<_> = self.rows(corpus)?.iter().filter_map(|row| seed(row).ok()).collect();
        let short: Vec<_> = seeds.iter().filter(|seed| seed.len() <= LONGEST).collect();
        let step = short.len().div_ceil(MOST).max(1);
        for target in targets {
            let folder: &Path = &self.target.join(target);
            fs::create_dir_all(folder)?;
            for (index, seed) in short.iter().step_by(step).enumerate() {
                fs::write(folder.join(format!("{corpus}-{index}")), seed)?;
            }
        }
        Ok(())
    }
}

/// API, version, body; of a response with a header before the body.
fn message(row: &Value, with_header: bool) -> Result<Vec<u8>> {
    let (api, version) = (small(row, "api")?, small(row, "version")?);
    let header: &[u8] = match (with_header, row["header_version"].as_u64()) {
        (false, _) => &[],
        (true, Some(1)) => &[0; 5],
        (true, _) => &[0; 4],
    };
    let body = bytes(row, "hex")?;
    Ok([&[api, version][..], header, &body].concat())
}

/// A stream of one request.
fn request_frame(row: &Value) -> Result<Vec<u8>> {
    let (api, version) = (small(row, "api")?, small(row, "version")?);
    let mut frame = vec![0, api, 0, version, 0, 0, 0, 7, 0xff, 0xff];
    if row["header_version"] == 2 {
        frame.push(0);
    }
    frame.extend(bytes(row, "hex")?);
    let size = u32::try_from(frame.len())?.to_be_bytes();
    Ok([&size[..], &frame].concat())
}

/// Codec, and the compressed part of a magic 2 batch.
fn codec_block(row: &Value) -> Result<Vec<u8>> {
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    let codec = codecs.iter().position(|codec| row["batches"][0]["codec"] == **codec).ok_or("no codec")?;
    let buffer = bytes(row, "hex")?;
    Ok([&[u8::try_from(codec)?], buffer.get(61..).ok_or("an old batch")?].concat())
}

fn magic(row: &Value) -> u8 {
    row["batches"][0]["magic"].as_u64().and_then(|magic| u8::try_from(magic).ok()).unwrap_or(0)
}

fn small(row: &Value, field: &str) -> Result<u8> {
    Ok(u8::try_from(row[field].as_u64().ok_or("a number")?)?)
}

fn bytes(row: &Value, field: &str) -> Result<Vec<u8>> {
    let hex = row[field].as_str().ok_or("digits")?;
    let digits = |at| hex.get(at..at + 2).ok_or("an even number of digits");
    (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(digits(at)?, 16)?)).collect()
}
