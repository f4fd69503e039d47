//! Rust text of a schema's structs, as `wire_struct!` takes them.

use super::render::{camel, snake};
use super::schema::{Field, Schema, Span};
use std::error::Error;
use std::fmt::Write;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Whose like the structs are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `kafka-protocol`'s: the names and types of its fields, its newtypes and setters, so that both kinds mix.
    Message,
    /// Plain fields, to be written as literals.
    Plain,
}

/// The structs of a schema.
pub(crate) fn structs(schema: &Schema, style: Style) -> Result<String> {
    let mut writer = Writer { schema, style, text: String::new(), written: Vec::new() };
    writer.structure(&schema.name, &schema.fields)?;
    Ok(writer.text)
}

/// The imports of types that a file's text names.
pub(crate) fn imports(text: &str) -> String {
    let types = ["BrokerId", "GroupId", "ProducerId", "RecordData", "StrBytes", "TopicName", "TransactionalId", "Uuid"];
    let is_word = |name: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    let used: Vec<_> = types.into_iter().filter(|name| is_word(name)).collect();
    let mut imports = match used.as_slice() {
        [] => String::new(),
        [one] => format!("use crate::messages::{one};\n"),
        many => format!("use crate::messages::{{{}}};\n", many.join(", ")),
    };
    if is_word("Bytes") {
        imports += "use bytes::Bytes;\n";
    }
    imports
}

/// A schema's versions, in words.
pub(crate) fn of_schema(versions: Span) -> String {
    match versions.last {
        Some(last) if last > versions.first => format!("versions {} to {last}", versions.first),
        _ => format!("version {}", versions.first),
    }
}

/// Where its versions end, and from where on they are flexible: `wire_body!`'s last arguments.
pub(crate) fn body_versions(schema: &Schema) -> String {
    let versions = schema.versions;
    let last = versions.last.unwrap_or(versions.first);
    let flexible = schema.flexible.last.map_or(schema.flexible.first, |_| i16::MAX);
    format!("{}..={last}, flexible from {flexible}", versions.first)
}

/// Writes the structs of one schema, those outside first.
struct Writer<'a> {
    schema: &'a Schema,
    style: Style,
    text: String,
    written: Vec<String>,
}

impl<'a> Writer<'a> {
    fn structure(&mut self, name: &str, fields: &'a [Field]) -> Result<()> {
        if self.written.iter().any(|written| written == name) {
            return Ok(());
        }
        self.written.push(name.to_owned());
        let whole = self.schema.versions;
        let mut present: Vec<(&Field, Span)> =
            fields.iter().filter_map(|field| Some((field, field.versions?.intersect(whole)?))).collect();
        // Tagged fields come last, by their tags.
        present.sort_by_key(|(field, _)| field.tagged.map(|(_, tag)| tag));
        let (mut rows, mut setters) = (String::new(), String::new());
        for (field, versions) in &present {
            rows += &self.row(field, *versions)?;
            let (ident, kind) = (identifier(&field.name), self.rust_type(field)?);
            writeln!(setters, "    with_{} {ident}: {kind};", snake(&field.name))?;
        }
        let mark = if self.style == Style::Message { "    #[non_exhaustive]\n" } else { "" };
        writeln!(
            self.text,
            "\nwire_struct! {{\n    /// {}.\n{mark}    struct {name} {{\n{rows}    }}\n}}",
            self.title(name)
        )?;
        if self.style == Style::Message {
            writeln!(self.text, "setters!({name} {{\n{setters}}});")?;
        }
        present.into_iter().try_for_each(|(field, _)| self.inner(field))
    }

    fn title(&self, name: &str) -> String {
        if name == self.schema.name {
            format!("`{name}`, {}", of_schema(self.schema.versions))
        } else {
            format!("`{name}` of `{}`", self.schema.name)
        }
    }

    fn row(&self, field: &Field, versions: Span) -> Result<String> {
        let whole = self.schema.versions;
        let kind = self.rust_type(field)?;
        let default = default(field, &kind)?;
        let absent = if field.ignorable { "Ignored" } else { "Refused" };
        let nullable = field.nullable.and_then(|span| span.intersect(whole));
        let null = nullable.filter(|span| !covers(*span, versions)).map(|span| (in_words(span, whole), range(span)));
        let mut text = String::new();
        if let Some((tagged, tag)) = field.tagged {
            if !covers(tagged, versions) {
                return Err(format!("{} is tagged at some of its versions only", field.name).into());
            }
            writeln!(text, "        @{tag}")?;
        }
        let words = in_words(versions, whole).map_or_else(String::new, |words| format!(", {words}"));
        write!(text, "        /// `{}`{words}", camel(&field.name))?;
        let (note, null) = match (&null, nullable) {
            (Some((Some(words), span)), _) => (format!("; may be null in {words}"), format!(", null {span}")),
            (Some((None, _)) | None, Some(_)) => ("; may be null".to_owned(), String::new()),
            (_, None) => Default::default(),
        };
        let ident = identifier(&field.name);
        writeln!(text, "{note}.\n        {ident}: {kind} = {default}, {}, {absent}{null};", clipped(versions, whole))?;
        Ok(text)
    }

    /// The struct that a field is made of.
    fn inner(&mut self, field: &'a Field) -> Result<()> {
        let name = field.kind.strip_prefix("[]").unwrap_or(&field.kind);
        if primitive(name, None).is_some() {
            return Ok(());
        }
        let common = self.schema.common.iter().find(|(common, _)| common == name);
        self.structure(name, common.map_or(&field.fields, |(_, fields)| fields))
    }

    fn rust_type(&self, field: &Field) -> Result<String> {
        let element = field.kind.strip_prefix("[]");
        let name = element.unwrap_or(&field.kind);
        let entity = field.entity.as_deref().filter(|_| self.style == Style::Message);
        let kind = primitive(name, entity).unwrap_or(name).to_owned();
        let kind = if element.is_some() { format!("Vec<{kind}>") } else { kind };
        let nullable = field.nullable.is_some_and(|span| span.intersect(self.schema.versions).is_some());
        Ok(if nullable && kind != "RecordData" { format!("Option<{kind}>") } else { kind })
    }
}

pub(crate) fn primitive(kind: &str, entity: Option<&str>) -> Option<&'static str> {
    Some(match (kind, entity) {
        ("string", Some("topicName")) => "TopicName",
        ("string", Some("groupId")) => "GroupId",
        ("string", Some("transactionalId")) => "TransactionalId",
        ("int32", Some("brokerId")) => "BrokerId",
        ("int64", Some("producerId")) => "ProducerId",
        ("bool", _) => "bool",
        ("int8", _) => "i8",
        ("int16", _) => "i16",
        ("uint16", _) => "u16",
        ("int32", _) => "i32",
        ("int64", _) => "i64",
        ("float64", _) => "f64",
        ("uuid", _) => "Uuid",
        ("string", _) => "StrBytes",
        ("bytes", _) => "Bytes",
        ("records", _) => "RecordData",
        _ => return None,
    })
}

fn default(field: &Field, kind: &str) -> Result<String> {
    let given = field.default.as_deref();
    Ok(match (kind, given) {
        (_, Some("null")) => "None".to_owned(),
        ("bool", given) => given.unwrap_or("false").to_owned(),
        ("i8" | "i16" | "u16" | "i32" | "i64", given) => given.unwrap_or("0").to_owned(),
        ("BrokerId" | "ProducerId", given) => format!("{kind}({})", given.unwrap_or("0")),
        ("Uuid", None) => "Uuid::nil()".to_owned(),
        ("RecordData", None) => "RecordData::NULL".to_owned(),
        ("Bytes" | "StrBytes", None | Some("")) => format!("{kind}::new()"),
        (_, None | Some("")) => match kind.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>')) {
            Some(kind) => format!("Some({})", empty(kind)),
            None => empty(kind),
        },
        (kind, Some(given)) => return Err(format!("{}: a default of {given} for {kind}", field.name).into()),
    })
}

fn empty(kind: &str) -> String {
    if kind.starts_with("Vec<") { "Vec::new()".to_owned() } else { format!("{kind}::default()") }
}

pub(crate) fn covers(outer: Span, inner: Span) -> bool {
    outer.intersect(inner) == Some(inner)
}

/// A field's versions within those of its message, open at the end where the message ends, too.
fn clipped(span: Span, whole: Span) -> String {
    if ends_with(span, whole) { format!("{}..", span.first) } else { range(span) }
}

fn range(span: Span) -> String {
    span.last.map_or_else(|| format!("{}..", span.first), |last| format!("{}..={last}", span.first))
}

/// A field's versions within those of its message; none if they are the same.
fn in_words(span: Span, whole: Span) -> Option<String> {
    Some(match (span.first <= whole.first, span.last) {
        (true, _) if ends_with(span, whole) => return None,
        (true, Some(last)) => format!("up to version {last}"),
        (_, Some(last)) if span.first == last => format!("version {last}"),
        (_, Some(last)) if !ends_with(span, whole) => format!("versions {} to {last}", span.first),
        _ => format!("version {} and up", span.first),
    })
}

fn ends_with(span: Span, whole: Span) -> bool {
    span.last.is_none() || span.last >= whole.last
}

fn identifier(name: &str) -> String {
    let name = snake(name);
    if name == "type" { format!("{name}_") } else { name }
}
