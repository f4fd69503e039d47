//! The guard's tables are what the generator makes of Kafka's schemas.

#[path = "../examples/generate-guard/render.rs"]
mod render;
#[path = "../examples/generate-guard/schema.rs"]
mod schema;

use std::path::Path;

/// `MILLSTREAM_KAFKA_SCHEMAS` is the directory `common/message` out of the jar of kafka-clients 4.4.0.
#[test]
#[ignore = "needs the kafka-clients jar"]
fn the_tables_are_what_the_generator_makes() {
    let schemas = std::env::var_os("MILLSTREAM_KAFKA_SCHEMAS").expect("MILLSTREAM_KAFKA_SCHEMAS names the schemas");
    let schemas = schema::read_all(Path::new(&schemas)).expect("the schemas are readable");
    let made = render::files(&schemas).expect("the schemas can be rendered");
    let shapes = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guard/shapes");
    let mut checked_in: Vec<_> = std::fs::read_dir(&shapes)
        .expect("the tables are there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    checked_in.sort();
    assert_eq!(checked_in, made.keys().cloned().collect::<Vec<_>>());
    for (name, text) in made {
        let found = std::fs::read_to_string(shapes.join(&name)).expect("readable");
        assert_eq!(found, text, "{name} is stale: run the example generate-guard");
    }
}
