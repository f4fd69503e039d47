//! What may be said to the control port is what `openapi.yaml` says, down to what may be left out: both ways, by what the server names when it
//! refuses something.

use super::Controlled;
use super::description::{description, operations, resolved};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A name that nothing has.
const UNKNOWN: &str = "no_such_name";

/// The path with an example in each place.
fn filled(path: &str, parameters: &[&Value]) -> String {
    let places = parameters.iter().filter(|parameter| parameter["in"] == "path");
    places.fold(path.to_owned(), |path, place| {
        let example = place["example"].to_string();
        path.replace(&format!("{{{}}}", place["name"].as_str().expect("a name")), example.trim_matches('"'))
    })
}
/// The server's reason to refuse a request.
fn reason(controlled: &Controlled, method: &str, path: &str, body: Option<&Value>) -> String {
    let (status, text) = controlled.ask(&method.to_uppercase(), path, body);
    assert_eq!(status, 400, "{method} {path}: {text}");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    answer["error"].as_str().expect("a sentence").to_owned()
}
/// The names between backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
fn names<'v>(values: impl Iterator<Item = &'v str>) -> BTreeSet<String> {
    values.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_takes_the_query_parameters_that_are_described_and_no_others() {
    let all = description();
    let controlled = Controlled::start().await;
    let mut seen = 0;
    for (path, method, operation, parameters) in operations(&all) {
        let own = operation["parameters"].as_array().into_iter().flatten().map(|parameter| resolved(&all, parameter));
        let in_query = parameters.iter().copied().chain(own).filter(|parameter| parameter["in"] == "query");
        let described = names(in_query.filter_map(|parameter| parameter["name"].as_str()));
        let reason = reason(&controlled, method, &format!("{}?{UNKNOWN}=1", filled(path, &parameters)), None);
        let (_, taken) = reason.split_once("in its query; it takes ").unwrap_or_else(|| panic!("{reason}"));
        let taken = names(taken.split(", ").filter(|name| *name != "none"));
        assert_eq!(taken, described, "{method} {path}");
        seen += taken.len();
    }
    assert!(seen > 0, "no route takes any");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_body_has_the_fields_that_are_described_and_no_others() {
    let all = description();
    let controlled = Controlled::start().await;
    let mut seen = 0;
    for (path, method, operation, parameters) in operations(&all) {
        let content = &operation["requestBody"]["content"]["application/json"];
        if content.is_null() {
            continue;
        }
        let path = filled(path, &parameters);
        for (described, body) in with_unknown_fields(&all, &content["schema"], &content["example"]) {
            let reason = reason(&controlled, method, &path, Some(&body));
            let (reason, _) = reason.split_once("; as in ").expect("an example");
            let (_, taken) = reason.split_once(", expected ").unwrap_or_else(|| panic!("{method} {path}: {reason}"));
            assert_eq!(quoted(taken), described, "{method} {path} with {body}");
            seen += 1;
        }
    }
    assert!(seen > 0, "no route takes a body");
}
/// The body with a field that is not described, in itself and in each object that it has; beside each the fields that are described there.
fn with_unknown_fields(all: &Value, schema: &Value, example: &Value) -> Vec<(BTreeSet<String>, Value)> {
    let schema = resolved(all, schema);
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let mut found = vec![(fields(properties), with(example, UNKNOWN, json!(1)))];
    for (name, property) in properties {
        let property = resolved(all, property);
        let is_list = property["type"] == "array";
        let inner = if is_list { resolved(all, &property["items"]) } else { property };
        if let Some(properties) = inner["properties"].as_object() {
            let unknown = json!({UNKNOWN: 1});
            let unknown = if is_list { json!([unknown]) } else { unknown };
            found.push((fields(properties), with(example, name, unknown)));
        }
    }
    found
}
fn fields(properties: &Map<String, Value>) -> BTreeSet<String> {
    names(properties.keys().map(String::as_str))
}
fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().expect("an object").insert(name.to_owned(), value);
    body
}
