//! Topologies, tasks and assignment of stream processing, without I/O.
