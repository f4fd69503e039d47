//! Rust text of the types of schemas that are no API's: one file for each, and one index.

use super::render::{NOTICE, screaming, snake};
use super::schema::{Kind, Schema};
use super::types::{Style, body_versions, imports, of_schema, structs};
use std::collections::BTreeMap;
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
    let (mut list, mut names) = (String::new(), String::new());
    for schema in schemas.iter().filter(|schema| is_embedded(schema.kind)) {
        let (name, module) = (&schema.name, snake(&schema.name));
        writeln!(index, "pub mod {module};")?;
        writeln!(list, "pub use {module}::{name};")?;
        writeln!(names, "            {name}")?;
        files.insert(format!("{module}.rs"), file(schema)?);
    }
    list += "\n/// Calls the macro `$then` with the names of all.\nmacro_rules! for_each_schema {\n    ($then:ident) => {\n";
    write!(list, "        $then! {{\n{names}        }}\n    }};\n}}\npub(crate) use for_each_schema;\n")?;
    files.insert("mod.rs".to_owned(), index + "\n" + &list);
    Ok(files)
}

const fn is_embedded(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::CoordinatorKey(_) | Kind::CoordinatorValue)
}

fn file(schema: &Schema) -> Result<String> {
    let (name, text) = (&schema.name, structs(schema, Style::Plain)?);
    let (shapes, prefix) = place(schema);
    let newer = if READ_WHEN_NEWER.contains(&name.as_str()) { "AsNewest" } else { "Refused" };
    let mut out = format!("//! Kafka's `{name}`, {}.\n{NOTICE}\n", of_schema(schema.versions));
    write!(out, "use crate::embedded::embedded_schema;\nuse crate::guard::{shapes};\n")?;
    out += "use crate::messages::field::{wire_body, wire_struct};\n";
    out += &(imports(&text) + &text);
    writeln!(out, "\nwire_body!(data {name}, {});", body_versions(schema))?;
    writeln!(out, "embedded_schema!({name}, {shapes}::{}, {prefix}, {newer});", screaming(name))?;
    Ok(out)
}

/// Where its shape is, and what stands before it.
fn place(schema: &Schema) -> (&'static str, String) {
    match schema.kind {
        Kind::CoordinatorKey(record_type) => ("coordinator", format!("RecordType({record_type})")),
        Kind::CoordinatorValue => ("coordinator", "Version".to_owned()),
        _ if schema.fields.first().is_some_and(|field| field.name.eq_ignore_ascii_case("version")) => {
            ("embedded", "First".to_owned())
        }
        _ => ("embedded", "Version".to_owned()),
    }
}
