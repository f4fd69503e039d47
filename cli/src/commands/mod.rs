//! One command a file.

pub(crate) mod broker;
pub(crate) mod consume;
pub(crate) mod decode;
pub(crate) mod demo;
pub(crate) mod demo_app;
pub(crate) mod groups;
pub(crate) mod produce;
pub(crate) mod topics;
