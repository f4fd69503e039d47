//! Typed edges between the nodes of a task. Going along one is one virtual call; a record is moved to the last child and cloned for
//! the others.

use super::frame::Frame;
use crate::{Data, Punctuation, Record};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// What a node takes from its parents.
pub(crate) trait Child<K, V>: Visit {
    fn process(&mut self, record: Record<K, V>, frame: &mut Frame);
}

/// Reaches a node, or all below it, outside of records.
pub(crate) trait Visit: Send {
    /// Does `call` at node `target` if that is here or below, and says whether it was.
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool;
}
/// What to do at a node.
pub(crate) enum Call {
    Init,
    Punctuate(Punctuation),
    Close,
}

/// Where a processor's output goes. `O` is the processor's `Out`.
pub(crate) trait Port<O>: Send {
    fn forward(&mut self, output: O, frame: &mut Frame);
}

/// The children of one output, in the order in which they were added.
pub(crate) struct Children<K, V>(Vec<Box<dyn Child<K, V>>>);
impl<K: Data, V: Data> Children<K, V> {
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }
    /// Adds one in front of the others: a graph is built from its end.
    fn add(&mut self, child: Box<dyn Child<K, V>>) {
        self.0.insert(0, child);
    }
    pub(crate) fn forward(&mut self, record: Record<K, V>, frame: &mut Frame) {
        let Some((last, others)) = self.0.split_last_mut() else { return };
        for child in others {
            child.process(record.clone(), frame);
        }
        last.process(record, frame);
    }
}
impl<K: Data, V: Data> Visit for Children<K, V> {
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool {
        self.0.iter_mut().any(|child| child.visit(target, call, frame))
    }
}
impl<K: Data, V: Data> Port<Record<K, V>> for Children<K, V> {
    fn forward(&mut self, output: Record<K, V>, frame: &mut Frame) {
        Self::forward(self, output, frame);
    }
}

/// Children whose types are not known here.
pub(crate) trait AnyChildren: Visit {
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}
impl<K: Data, V: Data> AnyChildren for Children<K, V> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
/// The children of a side output.
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) children: Box<dyn AnyChildren>,
}

/// Output that has no children yet, or the children that have come so far, of a node that is being built.
#[derive(Default)]
pub(crate) struct Outputs(Vec<(Option<&'static str>, Box<dyn AnyChildren>)>);
impl Outputs {
    pub(crate) fn add<K: Data, V: Data>(&mut self, side: Option<&'static str>, child: Box<dyn Child<K, V>>) {
        let place = self.0.iter().position(|(name, _)| *name == side).unwrap_or_else(|| {
            self.0.push((side, Box::new(Children::<K, V>::none())));
            self.0.len() - 1
        });
        let children = self.0[place].1.as_any().downcast_mut::<Children<K, V>>();
        children.expect("types of edges are checked when the topology is built").add(child);
    }
    /// The main output's children, and the side outputs.
    pub(crate) fn take<K: Data, V: Data>(self) -> (Children<K, V>, Vec<Side>) {
        let (mut main, mut sides) = (Children::none(), Vec::new());
        for (name, children) in self.0 {
            match name {
                Some(name) => sides.push(Side { name, children }),
                None => {
                    let children = children.into_any().downcast::<Children<K, V>>();
                    main = *children
                        .unwrap_or_else(|_| unreachable!("types of edges are checked when the topology is built"));
                }
            }
        }
        (main, sides)
    }
}

/// A node with several parents: each has this edge to it. The lock is never waited for, since a graph has no cycles and a task does
/// one thing at a time.
pub(crate) struct Shared<K, V>(Arc<Mutex<Box<dyn Child<K, V>>>>);
impl<K, V> Shared<K, V> {
    pub(crate) fn new(child: Box<dyn Child<K, V>>) -> Self {
        Self(Arc::new(Mutex::new(child)))
    }
}
impl<K, V> Clone for Shared<K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
impl<K: Data, V: Data> Visit for Shared<K, V> {
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).visit(target, call, frame)
    }
}
impl<K: Data, V: Data> Child<K, V> for Shared<K, V> {
    fn process(&mut self, record: Record<K, V>, frame: &mut Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).process(record, frame);
    }
}
