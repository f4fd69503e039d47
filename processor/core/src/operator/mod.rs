//! Instances of nodes, and the recipes that build them.

mod fixed_key;
mod processor;
mod sink;
mod source;

pub(crate) use fixed_key::FixedKeyRecipe;
pub(crate) use processor::ProcessorRecipe;
pub(crate) use sink::SinkRecipe;
pub(crate) use source::{Loaded, SourceInstance, SourceRecipe};
