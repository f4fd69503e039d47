//! The guard's tables and the types of schemas that are no API's are what the generator makes of Kafka's schemas.

#[path = "../examples/generate-guard/render.rs"]
mod render;
#[path = "../examples/generate-guard/schema.rs"]
mod schema;
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
    check("src/embedded/schemas", &types::files(&schemas).expect("the schemas can be rendered"));
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
