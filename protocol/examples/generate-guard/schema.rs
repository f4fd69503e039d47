//! Kafka's message schemas: JSON with comments.

use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A schema file.
pub(crate) struct Schema {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) versions: Span,
    pub(crate) flexible: Span,
    /// The newest version is under work: a broker offers it only when told to.
    pub(crate) latest_unstable: bool,
    pub(crate) fields: Vec<Field>,
    /// Structs that several fields name.
    pub(crate) common: Vec<(String, Vec<Field>)>,
}

impl Schema {
    /// The name of its API; of another schema its own.
    pub(crate) fn api_name(&self) -> &str {
        match self.kind {
            Kind::Request(_) => self.name.trim_end_matches("Request"),
            Kind::Response(_) => self.name.trim_end_matches("Response"),
            _ => &self.name,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Request(i16),
    Response(i16),
    Header,
    Data,
    /// The key of a coordinator's log record, with the record's type.
    CoordinatorKey(i16),
    CoordinatorValue,
}

/// From the first version to the second; nothing above means all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: i16,
    pub(crate) last: Option<i16>,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) versions: Option<Span>,
    pub(crate) nullable: Option<Span>,
    pub(crate) tagged: Option<(Span, u32)>,
    /// Not compact, at any version.
    pub(crate) never_flexible: bool,
    /// As the schema spells it: the text `null` too, but not JSON's null, which Kafka takes for none given.
    pub(crate) default: Option<String>,
    /// Left out at versions without it, whatever it holds.
    pub(crate) ignorable: bool,
    /// What an id or a name is of, such as `topicName`.
    pub(crate) entity: Option<String>,
    pub(crate) fields: Vec<Self>,
}

/// All schemas of a directory that have versions, by file name.
pub(crate) fn read_all(directory: &Path) -> Result<Vec<Schema>> {
    let mut paths: Vec<_> =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        parse(&fs::read_to_string(path)?).map_err(|error| format!("{}: {error}", path.display()).into())
    };
    let schemas: Result<Vec<Option<Schema>>> = paths.iter().map(read).collect();
    Ok(schemas?.into_iter().flatten().collect())
}

fn parse(text: &str) -> Result<Option<Schema>> {
    let json: Value = serde_json::from_str(&without_comments(text))?;
    let Some(versions) = span(text_of(&json, "validVersions")?)? else { return Ok(None) };
    let api = || json["apiKey"].as_i64().and_then(|key| i16::try_from(key).ok()).ok_or("no apiKey");
    let kind = match text_of(&json, "type")? {
        "request" => Kind::Request(api()?),
        "response" => Kind::Response(api()?),
        "header" => Kind::Header,
        "data" => Kind::Data,
        "coordinator-key" => Kind::CoordinatorKey(api()?),
        "coordinator-value" => Kind::CoordinatorValue,
        other => return Err(format!("a schema of type {other}").into()),
    };
    let flexible = span(text_of(&json, "flexibleVersions")?)?;
    let common = list(&json, "commonStructs").iter().map(|each| Ok((text_of(each, "name")?.to_owned(), fields(each)?)));
    Ok(Some(Schema {
        name: text_of(&json, "name")?.to_owned(),
        kind,
        versions,
        flexible: flexible.unwrap_or(Span { first: 1, last: Some(0) }),
        latest_unstable: json.get("latestVersionUnstable") == Some(&Value::Bool(true)),
        fields: fields(&json)?,
        common: common.collect::<Result<_>>()?,
    }))
}

fn fields(owner: &Value) -> Result<Vec<Field>> {
    list(owner, "fields").iter().map(field).collect()
}

fn field(json: &Value) -> Result<Field> {
    let optional = |key: &str| json.get(key).and_then(Value::as_str).map_or(Ok(None), span);
    let tag = json.get("tag").and_then(Value::as_u64).and_then(|tag| u32::try_from(tag).ok());
    // A field that is tagged from its first version on may say so once.
    let versions = optional("versions")?.or(optional("taggedVersions")?);
    // What is written under a version that the field does not have counts for nothing.
    let within = |inner: Option<Span>| inner.zip(versions).and_then(|(inner, outer)| inner.intersect(outer));
    Ok(Field {
        name: text_of(json, "name")?.to_owned(),
        kind: text_of(json, "type")?.to_owned(),
        versions,
        nullable: within(optional("nullableVersions")?),
        tagged: within(optional("taggedVersions")?).zip(tag),
        never_flexible: json.get("flexibleVersions").and_then(Value::as_str) == Some("none"),
        default: json.get("default").filter(|default| !default.is_null()).map(spelled),
        ignorable: json.get("ignorable").and_then(Value::as_bool) == Some(true),
        entity: json.get("entityType").and_then(Value::as_str).map(str::to_owned),
        fields: fields(json)?,
    })
}

fn spelled(json: &Value) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

impl Span {
    pub(crate) fn intersect(self, other: Self) -> Option<Self> {
        let last = [self.last, other.last].into_iter().flatten().min();
        let first = self.first.max(other.first);
        last.is_none_or(|last| first <= last).then_some(Self { first, last })
    }
}

/// `3-5`, `3+`, `3` or `none`.
fn span(text: &str) -> Result<Option<Span>> {
    if text == "none" {
        return Ok(None);
    }
    let (first, last) = match (text.strip_suffix('+'), text.split_once('-')) {
        (Some(first), _) => (first, None),
        (None, Some((first, last))) => (first, Some(last.parse()?)),
        (None, None) => (text, Some(text.parse()?)),
    };
    Ok(Some(Span { first: first.parse()?, last }))
}

fn text_of<'a>(json: &'a Value, key: &str) -> Result<&'a str> {
    json.get(key).and_then(Value::as_str).ok_or_else(|| format!("no {key} in {json}").into())
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Cuts `// …` and `/* … */`, but not inside strings.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, skipped) = match rest.as_bytes() {
            [b'"', ..] => (string_length(rest), 0),
            [b'/', b'/', ..] => (0, rest.find('\n').unwrap_or(rest.len())),
            [b'/', b'*', ..] => (0, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            _ => (1, 0),
        };
        out.push_str(&rest[..kept]);
        rest = &rest[kept + skipped..];
    }
    out + rest
}

/// The length of the string literal at the start, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}
