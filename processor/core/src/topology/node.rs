//! Nodes by handle.

use super::graph::Parent;
use std::fmt;
use std::marker::PhantomData;

/// A node that forwards this key and value.
pub struct NodeRef<K, V> {
    parent: Parent,
    types: PhantomData<fn() -> (K, V)>,
}
impl<K, V> NodeRef<K, V> {
    pub(super) const fn new(parent: Parent) -> Self {
        Self { parent, types: PhantomData }
    }
    pub(crate) const fn parent(&self) -> Parent {
        self.parent
    }
    /// The node's side output, as a parent of other nodes.
    #[must_use]
    pub const fn side<K2, V2>(&self, output: &SideOutput<K2, V2>) -> NodeRef<K2, V2> {
        NodeRef::new(Parent { side: Some(output.name), ..self.parent })
    }
}
impl<K, V> Copy for NodeRef<K, V> {}
impl<K, V> Clone for NodeRef<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K, V> fmt::Debug for NodeRef<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeRef").field(&self.parent.index).finish()
    }
}

/// One node or several, as parents.
pub struct Parents<K, V> {
    pub(super) list: Vec<Parent>,
    types: PhantomData<fn() -> (K, V)>,
}
impl<K, V> FromIterator<NodeRef<K, V>> for Parents<K, V> {
    fn from_iter<I: IntoIterator<Item = NodeRef<K, V>>>(nodes: I) -> Self {
        Self { list: nodes.into_iter().map(|node| node.parent).collect(), types: PhantomData }
    }
}
impl<K, V> From<&NodeRef<K, V>> for Parents<K, V> {
    fn from(parent: &NodeRef<K, V>) -> Self {
        std::iter::once(*parent).collect()
    }
}
impl<K, V, const N: usize> From<[&NodeRef<K, V>; N]> for Parents<K, V> {
    fn from(parents: [&NodeRef<K, V>; N]) -> Self {
        parents.into_iter().copied().collect()
    }
}
impl<K, V> fmt::Debug for Parents<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|parent| parent.index)).finish()
    }
}

/// A further output of a processor, with types of its own: declared once, given to the processor, which forwards to it, and to the
/// graph, which reads from it.
pub struct SideOutput<K, V> {
    name: &'static str,
    types: PhantomData<fn() -> (K, V)>,
}
impl<K, V> SideOutput<K, V> {
    /// An output of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }
    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}
impl<K, V> Copy for SideOutput<K, V> {}
impl<K, V> Clone for SideOutput<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K, V> fmt::Debug for SideOutput<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SideOutput").field(&self.name).finish()
    }
}
