//! Rust text of the types of schemas that are no API's: one file for each, and one index.

use super::render::{NOTICE, camel, screaming, snake};
use super::schema::{Field, Kind, Schema, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Schemas that a reader of an older version takes at any newer one, as Kafka's classes do.
const READ_WHEN_NEWER: [&str; 4] =
    ["ConsumerProtocolAssignment", "ConsumerProtocolSubscription", "ControlRecordTypeSchema", "EndTxnMarker"];

/// File names and texts.
pub(crate) fn files(schemas: &[Schema]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut index = format!("//! One file for each schema.\n{NOTICE}\n");
    let mut list = String::new();
    for schema in schemas.iter().filter(|schema| is_embedded(schema.kind)) {
        let module = snake(&schema.name);
        writeln!(index, "pub mod {module};")?;
        writeln!(list, "pub use {module}::{};", schema.name)?;
        files.insert(format!("{module}.rs"), file(schema)?);
    }
    let names = schemas.iter().filter(|schema| is_embedded(schema.kind)).map(|schema| schema.name.as_str());
    let names = names.fold(String::new(), |names, name| names + "            " + name + "\n");
    write!(
        list,
        "\n/// Calls the macro `$then` with the names of all.\nmacro_rules! for_each_schema {{\n    ($then:ident) => {{\n"
    )?;
    write!(list, "        $then! {{\n{names}        }}\n    }};\n}}\npub(crate) use for_each_schema;\n")?;
    files.insert("mod.rs".to_owned(), index + "\n" + &list);
    Ok(files)
}

const fn is_embedded(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::CoordinatorKey(_) | Kind::CoordinatorValue)
}

fn file(schema: &Schema) -> Result<String> {
    let name = &schema.name;
    let mut types = Types { schema, text: String::new(), written: BTreeSet::new() };
    let doc = format!("Kafka's `{name}`, {}.", versions_in_words(schema.versions));
    types.structure(name, &schema.fields, &doc)?;
    let text = types.text;
    let (shapes, prefix) = match schema.kind {
        Kind::CoordinatorKey(record_type) => ("coordinator", format!("RecordType({record_type})")),
        Kind::CoordinatorValue => ("coordinator", "Version".to_owned()),
        _ if schema.fields.first().is_some_and(|field| field.name.eq_ignore_ascii_case("version")) => {
            ("embedded", "First".to_owned())
        }
        _ => ("embedded", "Version".to_owned()),
    };
    let newer = if READ_WHEN_NEWER.contains(&name.as_str()) { "AsNewest" } else { "Refused" };
    let last = schema.versions.last.ok_or("valid versions have an end")?;
    let flexible = if schema.flexible.last.is_some() { i16::MAX } else { schema.flexible.first };
    let used = ["StrBytes", "Uuid"].into_iter().filter(|name| text.contains(*name)).collect::<Vec<_>>();
    let mut out = format!(
        "//! Kafka's `{name}`.\n{NOTICE}\nuse crate::embedded::embedded_schema;\nuse crate::guard::{shapes};\n"
    );
    out += "use crate::messages::field::{wire_body, wire_struct};\n";
    match used.as_slice() {
        [] => {}
        [one] => writeln!(out, "use crate::messages::{one};")?,
        many => writeln!(out, "use crate::messages::{{{}}};", many.join(", "))?,
    }
    if text.contains("Bytes") && text.replace("StrBytes", "").contains("Bytes") {
        out += "use bytes::Bytes;\n";
    }
    out += &text;
    writeln!(out, "\nwire_body!({name}, {}..={last}, flexible from {flexible});", schema.versions.first)?;
    writeln!(out, "embedded_schema!({name}, {shapes}::{}, {prefix}, {newer});", screaming(name))?;
    Ok(out)
}

/// Writes the structs of one schema, those outside first.
struct Types<'a> {
    schema: &'a Schema,
    text: String,
    written: BTreeSet<String>,
}

impl<'a> Types<'a> {
    fn structure(&mut self, name: &str, fields: &'a [Field], doc: &str) -> Result<()> {
        if !self.written.insert(name.to_owned()) {
            return Ok(());
        }
        let (mut plain, mut tagged, mut inner) = (String::new(), String::new(), Vec::new());
        for field in fields {
            let kind = field.kind.trim_start_matches("[]");
            if kind.starts_with(char::is_uppercase) {
                inner.push((kind, self.fields_of(kind, field)));
            }
            match field.tagged {
                Some((_, tag)) => write!(tagged, "        @{tag}\n{}", member(field)?)?,
                None => plain += &member(field)?,
            }
        }
        write!(self.text, "\nwire_struct! {{\n    /// {doc}\n    struct {name} {{\n{plain}{tagged}    }}\n}}\n")?;
        let of = format!("Part of Kafka's `{}`.", self.schema.name);
        inner.iter().try_for_each(|(name, fields)| self.structure(name, fields, &of))
    }

    fn fields_of(&self, kind: &str, field: &'a Field) -> &'a [Field] {
        let common = self.schema.common.iter().find(|(name, _)| name == kind);
        common.map_or(&field.fields, |(_, fields)| fields)
    }
}

fn member(field: &Field) -> Result<String> {
    let versions = field.versions.ok_or_else(|| format!("{} is in no version", field.name))?;
    let absent = if field.ignorable { "Ignored" } else { "Refused" };
    let (kind, nullable) = (rust_type(&field.kind), field.nullable.is_some());
    let (kind, default) = (if nullable { format!("Option<{kind}>") } else { kind }, default(field, nullable)?);
    let (mut name, json) = (snake(&field.name), camel(&field.name));
    if name == "type" {
        name.push('_');
    }
    let since = if versions == (Span { first: 0, last: None }) {
        String::new()
    } else {
        format!(", {}", versions_in_words(versions))
    };
    let null = if nullable { "; may be null" } else { "" };
    Ok(format!(
        "        /// `{json}`{since}{null}.\n        {name}: {kind} = {default}, {}, {absent};\n",
        range(versions)
    ))
}

fn rust_type(kind: &str) -> String {
    if let Some(element) = kind.strip_prefix("[]") {
        return format!("Vec<{}>", rust_type(element));
    }
    let rust = match kind {
        "int8" => "i8",
        "int16" => "i16",
        "uint16" => "u16",
        "int32" => "i32",
        "int64" => "i64",
        "uuid" => "Uuid",
        "string" => "StrBytes",
        "bytes" => "Bytes",
        other => other,
    };
    rust.to_owned()
}

/// As Kafka's classes have it: empty text and arrays, even where null may stand.
fn default(field: &Field, nullable: bool) -> Result<String> {
    let given = field.default.as_deref();
    let value = match (field.kind.as_str(), given) {
        (_, Some("null")) => return Ok("None".to_owned()),
        ("bool", given) => given.unwrap_or("false").to_owned(),
        ("int8" | "int16" | "uint16" | "int32" | "int64", given) => given.unwrap_or("0").to_owned(),
        ("uuid", None) => "Uuid::nil()".to_owned(),
        ("string", None) => "StrBytes::new()".to_owned(),
        ("bytes", None) => "Bytes::new()".to_owned(),
        (array, None) if array.starts_with("[]") => "Vec::new()".to_owned(),
        (name, None) => format!("{name}::default()"),
        (kind, Some(given)) => return Err(format!("a {kind} with default {given}").into()),
    };
    Ok(if nullable { format!("Some({value})") } else { value })
}

fn range(span: Span) -> String {
    span.last.map_or_else(|| format!("{}..", span.first), |last| format!("{}..={last}", span.first))
}

fn versions_in_words(span: Span) -> String {
    match span.last {
        None => format!("from version {} on", span.first),
        Some(last) if last == span.first => format!("version {last}"),
        Some(last) => format!("versions {} to {last}", span.first),
    }
}
