//! Writes the guard's tables out of Kafka's message schemas.
//!
//! ```text
//! unzip -d /tmp/kafka kafka-clients-4.4.0.jar 'common/message/*.json'
//! cargo run -p millstream-protocol --example generate-guard -- /tmp/kafka/common/message protocol/src/guard/shapes
//! ```

mod render;
mod schema;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(schemas), Some(target)) = (arguments.next(), arguments.next()) else {
        return Err("give the directory of the schemas (*.json of kafka-clients) and the directory to write to".into());
    };
    let files = render::files(&schema::read_all(&schemas)?)?;
    for old in std::fs::read_dir(&target)? {
        std::fs::remove_file(old?.path())?;
    }
    for (name, text) in &files {
        std::fs::write(target.join(name), text)?;
    }
    println!("{} files written to {}", files.len(), target.display());
    Ok(())
}
