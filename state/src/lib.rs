//! Ordered byte stores in memory and journaled to files, and typed views over them.
