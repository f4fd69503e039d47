//! User logic that keeps the key, as a node.

use super::processor::Core;
use crate::processor::Processor;
use crate::store_ref::LiveStores;
use crate::task::{Call, Child, Children, Frame, Parts, Port, Visit};
use crate::topology::Recipe;
use crate::{Data, Record, SameKey};
use std::marker::PhantomData;

pub(crate) struct FixedKeyRecipe<P, F> {
    make: F,
    processor: PhantomData<fn() -> P>,
}
impl<P, F: Fn(&LiveStores<'_>) -> P + Send + Sync> FixedKeyRecipe<P, F> {
    pub(crate) const fn new(make: F) -> Self {
        Self { make, processor: PhantomData }
    }
}
impl<P, F, K, VI, VO> Recipe for FixedKeyRecipe<P, F>
where
    P: Processor<In = Record<K, VI>, Out = SameKey<VO>>,
    F: Fn(&LiveStores<'_>) -> P + Send + Sync,
    K: Data,
    VI: Data,
    VO: Data,
{
    fn build(&self, index: usize, parts: &mut Parts<'_>) {
        let (children, sides) = parts.outputs::<K, VO>(index);
        let processor = (self.make)(&parts.live_stores());
        let port = KeyedPort { key: None, children };
        parts.attach(index, Box::new(FixedKeyNode { core: Core { index, processor, sides }, port }));
    }
}

struct FixedKeyNode<P, K, V> {
    core: Core<P>,
    port: KeyedPort<K, V>,
}
impl<P, K, VI, VO> Child<K, VI> for FixedKeyNode<P, K, VO>
where
    P: Processor<In = Record<K, VI>, Out = SameKey<VO>>,
    K: Data,
    VO: Data,
{
    fn process(&mut self, record: Record<K, VI>, frame: &mut Frame) {
        if frame.is_stopped() {
            return;
        }
        let outer = frame.enter(record.timestamp, &record.headers);
        self.port.key = Some(record.key.clone());
        self.core.run(&mut self.port, frame, |processor, ctx| processor.process(record, ctx));
        self.port.key = None;
        frame.leave(outer);
    }
}
impl<P, K, V> Visit for FixedKeyNode<P, K, V>
where
    P: Processor<Out = SameKey<V>>,
    K: Data,
    V: Data,
{
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool {
        self.core.visit(target, call, &mut self.port, frame) || self.port.children.visit(target, call, frame)
    }
}

/// Puts the input's key before a value.
struct KeyedPort<K, V> {
    /// None outside of records.
    key: Option<K>,
    children: Children<K, V>,
}
impl<K: Data, V: Data> Port<SameKey<V>> for KeyedPort<K, V> {
    fn forward(&mut self, SameKey { value, timestamp }: SameKey<V>, frame: &mut Frame) {
        match self.key.clone() {
            Some(key) => {
                let record = frame.record(key, value);
                let timestamp = timestamp.unwrap_or(record.timestamp);
                self.children.forward(record.with_timestamp(timestamp), frame);
            }
            None => frame.raise("`emit_value` outside of a record: there is no key".into()),
        }
    }
}
