//! `openapi.yaml` and the routes agree, and all its examples work and are answered as it says.

use super::Controlled;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use yaml_rust2::{Yaml, YamlLoader};

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

pub(super) fn description() -> Value {
    json(&YamlLoader::load_from_str(include_str!("../../openapi.yaml")).expect("YAML")[0])
}
fn json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Integer(number) => (*number).into(),
        Yaml::Boolean(value) => (*value).into(),
        Yaml::String(text) => text.as_str().into(),
        Yaml::Array(items) => items.iter().map(json).collect(),
        Yaml::Hash(fields) => {
            let pairs = fields.iter().map(|(key, value)| (json(key).as_str().expect("a name").to_owned(), json(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
/// Follows a reference.
pub(super) fn resolved<'d>(all: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(path) => all.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path} is not there")),
        None => value,
    }
}
/// Each operation: path, method, description, parameters of its path.
pub(super) fn operations(all: &Value) -> Vec<(&String, &str, &Value, Vec<&Value>)> {
    let paths = all["paths"].as_object().expect("paths");
    let of_path = |(path, item): (&'_ String, &'_ Value)| -> Vec<&'static str> {
        assert!(path.starts_with('/'));
        METHODS.into_iter().filter(|method| !item[*method].is_null()).collect()
    };
    let mut found = Vec::new();
    for (path, item) in paths {
        let parameters = item["parameters"].as_array().into_iter().flatten();
        let parameters: Vec<&Value> = parameters.map(|parameter| resolved(all, parameter)).collect();
        for method in of_path((path, item)) {
            found.push((path, method, &item[method], parameters.clone()));
        }
    }
    found
}

#[test]
fn the_description_has_the_routes_and_no_others() {
    let all = description();
    let described: BTreeSet<(String, String)> =
        operations(&all).iter().map(|(path, method, ..)| (method.to_uppercase(), (*path).clone())).collect();
    let served: BTreeSet<(String, String)> =
        millstream_testkit::server::routes().map(|(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(described, served);
}

/// Without ids a generated client has names made from paths, and another one with each generator.
#[test]
fn each_operation_has_an_id_of_its_own() {
    let all = description();
    let ids = operations(&all).into_iter().map(|(path, method, operation, _)| {
        operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no operationId"))
    });
    let ids: Vec<&str> = ids.collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

/// A description without quotes ended at its comma, and what came after it was a field that OpenAPI does not have, without a value: whoever
/// generates a client from the file, or checks it, refused it.
#[test]
fn nothing_in_the_description_is_without_a_value() {
    assert_eq!(without_value(&description(), ""), Vec::<String>::new());
}
fn without_value(value: &Value, path: &str) -> Vec<String> {
    match value {
        Value::Null => vec![path.to_owned()],
        Value::Array(items) => items.iter().flat_map(|item| without_value(item, path)).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| without_value(value, &format!("{path}/{name}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_examples_work_and_are_answered_as_described() {
    let all = description();
    for (path, method, operation, parameters) in operations(&all) {
        let controlled = Controlled::start().await;
        // Something to look at: a record, a fault, a request.
        controlled.json("POST", "/faults", Some(&serde_json::json!({"steps": [{"do": "pass", "times": null}]})));
        write_one(&controlled).await;
        // The examples have broker 2 follow.
        let leads = serde_json::json!({"topic": "orders", "partition": 0, "node": 1});
        controlled.json("POST", "/topology/leader", Some(&leads));
        if path == "/topology/follower/advance" {
            let held = serde_json::json!({"topic": "orders", "partition": 0, "node": 2});
            controlled.json("POST", "/topology/follower/hold", Some(&held));
        }
        let mut url = path.clone();
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "path") {
            let example = parameter["example"].to_string();
            url = url.replace(&format!("{{{}}}", parameter["name"].as_str().unwrap()), example.trim_matches('"'));
        }
        let required =
            parameters.iter().filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
        for (at, parameter) in required.enumerate() {
            let joint = if at == 0 { '?' } else { '&' };
            let example = parameter["example"].as_str().expect("what is required has an example");
            url = format!("{url}{joint}{}={example}", parameter["name"].as_str().unwrap());
        }
        let content = &operation["requestBody"]["content"]["application/json"];
        let body = (!content.is_null()).then_some(&content["example"]);
        if let Some(body) = body {
            check(&all, &content["schema"], body, &format!("the example of {method} {path}"));
        }
        let (status, text) = controlled.ask(&method.to_uppercase(), &url, body);
        let answer = resolved(&all, &operation["responses"][status.to_string()]);
        assert!(!answer.is_null(), "{method} {url} is answered with {status}, which is not described: {text}");
        let schema = &answer["content"]["application/json"]["schema"];
        if schema.is_null() {
            assert_eq!(text.is_empty(), status == 204, "{method} {url}: {text}");
        } else {
            let value: Value = serde_json::from_str(&text).expect("JSON");
            assert!(value.as_array().is_none_or(|items| !items.is_empty()), "{method} {url} shows nothing");
            check(&all, schema, &value, &format!("the answer of {method} {url}"));
        }
    }
}
/// What a request is answered with where all that can be wrong is: 400 for a body, 404 for a place.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_described_and_says_what_would_be_right() {
    let all = description();
    let controlled = Controlled::start().await;
    let refused = |path: &str, method: &str, operation: &Value, body: Option<&Value>| -> String {
        let (status, text) = controlled.ask(&method.to_uppercase(), path, body);
        let answer = resolved(&all, &operation["responses"][status.to_string()]);
        let is_described = (400..500).contains(&status) && answer["content"]["application/json"].is_object();
        assert!(is_described, "{method} {path} is answered with {status}, which is not described: {text}");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        check(&all, &answer["content"]["application/json"]["schema"], &value, &format!("the refusal of {path}"));
        value["error"].as_str().expect("a sentence").to_owned()
    };
    for (path, method, operation, _) in operations(&all) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let nowhere = path.replace("{id}", "77").replace("{number}", "77777").replace("{name}", "no-such-topic");
        let nowhere = nowhere.replace("{api}", "NoSuchApi");
        if nowhere != *path {
            let body = (!content.is_null()).then_some(&content["example"]);
            assert_ne!(refused(&nowhere, method, operation, body), "", "{method} {nowhere}");
        }
        if !content.is_null() {
            let there = path.replace("{id}", "1").replace("{name}", "orders").replace("{api}", "Fetch");
            let reason = refused(&there, method, operation, Some(&serde_json::json!({"no_such_field": 1})));
            assert!(reason.contains("`no_such_field`"), "{method} {path}: {reason}");
            let example = reason.split_once("; as in ").expect("an example").1;
            let example: Value = serde_json::from_str(example).expect("JSON");
            assert_eq!(example, content["example"], "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_a_path_does_not_take_is_answered_with_those_that_it_takes() {
    let controlled = Controlled::start().await;
    let (head, text) = super::http::exchange(&controlled.server.url(), "PUT", "/topics", None);
    assert!(head.starts_with("HTTP/1.1 405 ") && head.to_lowercase().contains("\r\nallow: get, post\r\n"), "{head}");
    assert!(text.contains("/topics does not take PUT; it takes GET, POST"), "{text}");
}

async fn write_one(controlled: &Controlled) {
    let producer = millstream_client::Producer::connect(&*controlled.cluster).await.expect("the cluster runs");
    let record = millstream_client::ProducerRecord::to("orders").key("k").value("v");
    producer.send(record).await.expect("the topic is there");
}

/// Whether a value is what a schema says, field by field.
fn check(all: &Value, schema: &Value, value: &Value, what: &str) {
    let schema = resolved(all, schema);
    if value.is_null() {
        assert_eq!(schema["nullable"], true, "{what} is null");
        return;
    }
    match schema["type"].as_str() {
        Some("string") => assert!(value.is_string(), "{what}: {value}"),
        Some("integer") => assert!(value.is_i64() || value.is_u64(), "{what}: {value}"),
        Some("boolean") => assert!(value.is_boolean(), "{what}: {value}"),
        Some("array") => {
            let items = value.as_array().unwrap_or_else(|| panic!("{what} is no list: {value}"));
            items.iter().for_each(|item| check(all, &schema["items"], item, &format!("an item of {what}")));
        }
        Some("object") => {
            let fields = value.as_object().unwrap_or_else(|| panic!("{what} is no object: {value}"));
            let Some(properties) = schema["properties"].as_object() else { return };
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(fields.contains_key(name), "{what} has no {name}: {value}");
            }
            for (name, value) in fields {
                let schema =
                    properties.get(name).unwrap_or_else(|| panic!("{what} has a {name} that is not described"));
                check(all, schema, value, &format!("{name} of {what}"));
            }
        }
        _ => {}
    }
}
