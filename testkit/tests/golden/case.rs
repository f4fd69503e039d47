//! Golden files as they are read.

use bytes::Bytes;
use flate2::read::GzDecoder;
use millstream_protocol::{Headers, Timestamp};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// One topology and one run of it.
pub(crate) struct Case {
    /// The file's fields; those of a run over those of its file.
    fields: Value,
    run: Option<u64>,
}
impl Case {
    /// The cases of a file: one, or one for each of its runs.
    pub(crate) fn read(path: &Path) -> Vec<Self> {
        let mut text = String::new();
        let mut file = File::open(path).expect("a golden file can be opened");
        let read = match path.extension() {
            Some(extension) if extension == "gz" => GzDecoder::new(file).read_to_string(&mut text),
            _ => file.read_to_string(&mut text),
        };
        read.expect("a golden file is text");
        let mut fields: Value = serde_json::from_str(&text).expect("a golden file is JSON");
        match fields.as_object_mut().and_then(|fields| fields.remove("runs")) {
            Some(Value::Array(runs)) => runs.into_iter().map(|run| Self::of_run(&fields, run)).collect(),
            _ => vec![Self { fields, run: None }],
        }
    }
    fn of_run(fields: &Value, run: Value) -> Self {
        let (mut fields, seed) = (fields.clone(), run["seed"].as_u64());
        let run = run.as_object().expect("a run is an object").clone();
        fields.as_object_mut().expect("a file is an object").extend(run);
        Self { fields, run: seed }
    }
    pub(crate) fn name(&self) -> String {
        let name = self.kind();
        self.run.map_or_else(|| name.to_owned(), |seed| format!("{name}, seed {seed}"))
    }
    /// The name without the run.
    pub(crate) fn kind(&self) -> &str {
        self.text("case")
    }
    pub(crate) fn area(&self) -> &str {
        self.text("area")
    }
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }
    pub(crate) fn steps(&self) -> &[Value] {
        self.fields["steps"].as_array().map_or(&[], Vec::as_slice)
    }
    /// How a store's keys or values are written: as in its changelog.
    pub(crate) fn store_format(&self, store: &str, part: &str) -> String {
        let format = &self.fields["serdes"][format!("golden-{store}-changelog")][part];
        format.as_str().unwrap_or("string").to_owned()
    }
    fn text(&self, name: &str) -> &str {
        self.fields[name].as_str().expect("every case has a name and an area")
    }
}

/// The bytes of a key or a value: `…_hex` where the format is not plain text.
pub(crate) fn bytes(record: &Value, part: &str) -> Option<Bytes> {
    if let Some(text) = record.get(format!("{part}_hex")).and_then(Value::as_str) {
        return Some(hex(text));
    }
    match record.get(part) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(Bytes::from(text.clone())),
        Some(other) => panic!("{other} has no bytes beside it"),
    }
}
/// The bytes of a key or a value that is shown without them.
pub(crate) fn encoded(value: &Value, format: &str) -> Bytes {
    let number = || value.as_i64().expect("a number");
    match format {
        "string" => Bytes::from(value.as_str().expect("text").to_owned()),
        "long" => Bytes::copy_from_slice(&number().to_be_bytes()),
        "int" => Bytes::copy_from_slice(&i32::try_from(number()).expect("an int").to_be_bytes()),
        other => panic!("no store of a case that is built has the format {other}"),
    }
}
pub(crate) fn timestamp(record: &Value) -> Timestamp {
    Timestamp::from_millis(record["timestamp"].as_i64().unwrap_or(-1))
}
pub(crate) fn headers(record: &Value) -> Headers {
    let mut headers = Headers::new();
    for header in record["headers"].as_array().into_iter().flatten() {
        headers.push(header["key"].as_str().expect("a header has a name"), bytes(header, "value"));
    }
    headers
}
pub(crate) fn lines(value: Option<&Value>) -> Vec<String> {
    let lines = value.and_then(Value::as_array).into_iter().flatten();
    lines.map(|line| line.as_str().expect("a trace is text").to_owned()).collect()
}
fn hex(text: &str) -> Bytes {
    let byte = |place: usize| u8::from_str_radix(&text[place..place + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(byte).collect()
}
