//! Writes what this crate has of Kafka's message schemas: the guard's tables, the table of APIs, the messages that
//! `kafka-protocol` lacks, where the fields of its types are, and the types of schemas that are no API's. The schemas are
//! those of the jars kafka-clients, kafka-group-coordinator, kafka-share-coordinator and kafka-transaction-coordinator.
//!
//! ```text
//! for jar in kafka-{clients,{group,share,transaction}-coordinator}-4.4.0.jar; do
//!     unzip -d /tmp/kafka "$jar" 'common/message/*.json'
//! done
//! cargo run -p millstream-protocol --example generate-guard -- /tmp/kafka/common/message protocol/src
//! ```

mod embedded;
mod foreign;
mod messages;
mod render;
mod schema;
mod table;
mod types;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(schemas), Some(source)) = (arguments.next(), arguments.next()) else {
        return Err("give the directory of the schemas (*.json) and the source directory of the crate".into());
    };
    let schemas = schema::read_all(&schemas)?;
    write(&source.join("guard/shapes"), &render::files(&schemas)?)?;
    write(&source.join("messages/generated"), &messages::files(&schemas)?)?;
    write(&source.join("messages/foreign/types"), &foreign::files(&schemas)?)?;
    write(&source.join("embedded/schemas"), &embedded::files(&schemas)?)?;
    std::fs::write(source.join("api/table.rs"), table::file(&schemas)?)?;
    Ok(())
}

/// Puts the files in place of all that are there.
fn write(target: &Path, files: &BTreeMap<String, String>) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(target)?;
    for old in std::fs::read_dir(target)? {
        std::fs::remove_file(old?.path())?;
    }
    for (name, text) in files {
        std::fs::write(target.join(name), text)?;
    }
    println!("{} files written to {}", files.len(), target.display());
    Ok(())
}
