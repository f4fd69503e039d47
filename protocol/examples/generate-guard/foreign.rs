//! Rust text that names the fields of `kafka-protocol`'s types in the order of their shapes: one file for each message.

use super::messages::{BY_HAND, GENERATED};
use super::render::{NOTICE, snake};
use super::schema::{Field, Kind, Schema, Span};
use super::types::{covers, primitive};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// File names and texts.
pub(crate) fn files(schemas: &[Schema]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for schema in schemas.iter().filter(|schema| is_foreign(schema)) {
        files.insert(format!("{}.rs", snake(&schema.name)), file(schema)?);
    }
    let mut index = format!("//! The fields of `kafka-protocol`'s types, in the order of their shapes.\n{NOTICE}\n");
    files.keys().for_each(|name| index += &format!("mod {};\n", name.trim_end_matches(".rs")));
    files.insert("mod.rs".into(), index);
    Ok(files)
}

fn is_foreign(schema: &Schema) -> bool {
    let name = schema.api_name();
    matches!(schema.kind, Kind::Request(_) | Kind::Response(_))
        && !GENERATED.contains(&name)
        && !BY_HAND.contains(&name)
}

fn file(schema: &Schema) -> Result<String> {
    let mut structs = Vec::new();
    collect(schema, &schema.name, &schema.fields, &mut structs);
    let mut text = format!("// {}.\n{NOTICE}", schema.name);
    let names: Vec<_> = structs.iter().map(|(name, _)| *name).collect();
    let names = if let [one] = names[..] { one.to_owned() } else { format!("{{{}}}", names.join(", ")) };
    writeln!(text, "use crate::messages::foreign::shaped;\nuse crate::messages::{}::{names};\n", snake(&schema.name))?;
    for (name, fields) in structs {
        let (mut rows, mut defaults) = (String::new(), String::new());
        for (index, field, versions) in present(schema, fields) {
            let ident = identifier(&field.name);
            write!(rows, " {index} {ident}")?;
            // Whether a value may be left out is asked of tagged fields, and of those that some versions cannot carry.
            if field.tagged.is_some() || !field.ignorable && !covers(versions, schema.versions) {
                write!(defaults, " {index} {ident} = {};", default(field))?;
            }
        }
        // Where no version is flexible the type has no tagged fields.
        let tags = if schema.flexible.last.is_some() { "" } else { " unknown_tagged_fields" };
        writeln!(text, "shaped!({name} {{{rows} }} defaults {{{defaults} }} tags {{{tags} }});")?;
    }
    Ok(text)
}

/// The structs of a schema, those outside first, each once.
fn collect<'a>(schema: &'a Schema, name: &'a str, fields: &'a [Field], structs: &mut Vec<(&'a str, &'a [Field])>) {
    if structs.iter().any(|(written, _)| *written == name) {
        return;
    }
    structs.push((name, fields));
    for (_, field, _) in present(schema, fields) {
        let inner = field.kind.strip_prefix("[]").unwrap_or(&field.kind);
        if primitive(inner, None).is_none() {
            let common = schema.common.iter().find(|(common, _)| common == inner);
            collect(schema, inner, common.map_or(&field.fields, |(_, fields)| fields), structs);
        }
    }
}

/// Fields that a version has, with their place among all and their versions.
fn present<'a>(schema: &'a Schema, fields: &'a [Field]) -> impl Iterator<Item = (usize, &'a Field, Span)> {
    let versions = |field: &Field| field.versions?.intersect(schema.versions);
    fields.iter().enumerate().filter_map(move |(index, field)| Some((index, field, versions(field)?)))
}

fn default(field: &Field) -> String {
    match (field.default.as_deref(), field.entity.as_deref()) {
        (Some("null"), _) => "None".to_owned(),
        (Some(number), Some("brokerId" | "producerId")) => format!("({number}).into()"),
        (Some(""), _) | (None, _) if field.nullable.is_some() => "Some(Default::default())".to_owned(),
        (Some("") | None, _) => "Default::default()".to_owned(),
        (Some(given), _) => given.to_owned(),
    }
}

/// As `kafka-protocol` writes it.
fn identifier(name: &str) -> String {
    let name = snake(name);
    if name == "match" || name == "type" { format!("_{name}") } else { name }
}
