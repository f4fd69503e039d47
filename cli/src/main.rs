//! The binary `millstream`.

fn main() {}
