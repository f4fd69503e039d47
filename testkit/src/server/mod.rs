//! A cluster as a process: its flags, its readiness line, and a control port for tests in any language.
//!
//! The control port speaks HTTP and JSON on loopback. `testkit/openapi.yaml` describes it, and a running server answers it at
//! `/openapi.yaml`.

mod answer;
mod arguments;
mod bodies;
mod body;
mod cluster;
mod control;
mod doorkeeper;
mod faults;
mod files;
mod incoming;
mod looking;
mod moving;
mod route;
mod stderr_log;
mod stop;
mod topics;
mod topology;
mod visitors;
mod words;

pub use arguments::{BrokerArguments, NotStarted, ServeError};
pub use control::{ControlServer, routes};
pub use stderr_log::{LogLines, StderrLog};
pub use stop::{signalled, signalled_or_parent_gone};
