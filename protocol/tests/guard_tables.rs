//! What is made of Kafka's schemas is what the generator makes of them now: the guard's tables, the table of APIs, messages,
//! the places of `kafka-protocol`'s fields and the types of schemas that are no API's.

#[path = "../examples/generate-guard/embedded.rs"]
mod embedded;
#[path = "../examples/generate-guard/foreign.rs"]
mod foreign;
#[path = "../examples/generate-guard/messages.rs"]
mod messages;
#[path = "../examples/generate-guard/render.rs"]
mod render;
#[path = "../examples/generate-guard/schema.rs"]
mod schema;
#[path = "../examples/generate-guard/table.rs"]
mod table;
#[path = "../examples/generate-guard/types.rs"]
mod types;

use std::collections::BTreeMap;
use std::path::Path;

/// `MILLSTREAM_KAFKA_SCHEMAS` is a directory with what `common/message` holds in the jars of Kafka 4.4.0: kafka-clients
/// and the coordinators'.
#[test]
#[ignore = "needs Kafka's jars"]
fn the_tables_are_what_the_generator_makes() {
    let schemas = std::env::var_os("MILLSTREAM_KAFKA_SCHEMAS").expect("MILLSTREAM_KAFKA_SCHEMAS names the schemas");
    let schemas = schema::read_all(Path::new(&schemas)).expect("the schemas are readable");
    check("src/guard/shapes", &render::files(&schemas).expect("the schemas can be rendered"));
    check("src/messages/generated", &messages::files(&schemas).expect("the schemas can be rendered"));
    check("src/messages/foreign/types", &foreign::files(&schemas).expect("the schemas can be rendered"));
    check("src/embedded/schemas", &embedded::files(&schemas).expect("the schemas can be rendered"));
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/table.rs");
    let found = std::fs::read_to_string(table).expect("readable");
    assert_eq!(found, table::file(&schemas).expect("the schemas can be rendered"), "the table of APIs is stale");
}

fn check(folder: &str, made: &BTreeMap<String, String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut checked_in: Vec<_> = std::fs::read_dir(&folder)
        .expect("the tables are there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    checked_in.sort();
    assert_eq!(checked_in, made.keys().cloned().collect::<Vec<_>>());
    for (name, text) in made {
        let found = std::fs::read_to_string(folder.join(name)).expect("readable");
        assert_eq!(&found, text, "{name} is stale: run the example generate-guard");
    }
}
