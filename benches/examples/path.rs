//! Runs one hot path by name, so many times: for a profiler, and for `benches/instructions`.

use millstream_benches::{PATHS, path};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (name, times) = (arguments.next().unwrap_or_default(), arguments.next().and_then(|times| times.parse().ok()));
    let (Some(mut run), Some(times)) = (path(&name), times) else {
        eprintln!("path NAME TIMES, a name being one of: {}", PATHS.join(", "));
        std::process::exit(2);
    };
    (0..times).for_each(|_: u32| run());
}
