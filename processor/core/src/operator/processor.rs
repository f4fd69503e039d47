//! User logic as a node.

use crate::processor::{Processor, ProcessorResult};
use crate::store_ref::LiveStores;
use crate::task::{Call, Child, Children, Frame, Parts, Port, Side, Visit};
use crate::topology::Recipe;
use crate::{Data, ProcessorContext, Record};
use std::marker::PhantomData;

pub(crate) struct ProcessorRecipe<P, F> {
    make: F,
    processor: PhantomData<fn() -> P>,
}
impl<P, F: Fn(&LiveStores<'_>) -> P + Send + Sync> ProcessorRecipe<P, F> {
    pub(crate) const fn new(make: F) -> Self {
        Self { make, processor: PhantomData }
    }
}
impl<P, F, KI, VI, KO, VO> Recipe for ProcessorRecipe<P, F>
where
    P: Processor<In = Record<KI, VI>, Out = Record<KO, VO>>,
    F: Fn(&LiveStores<'_>) -> P + Send + Sync,
    KI: Data,
    VI: Data,
    KO: Data,
    VO: Data,
{
    fn build(&self, index: usize, parts: &mut Parts<'_>) {
        let (children, sides) = parts.outputs::<KO, VO>(index);
        let processor = (self.make)(&parts.live_stores());
        parts.attach(index, Box::new(ProcessorNode { core: Core { index, processor, sides }, children }));
    }
}

/// What nodes of user logic have in common.
pub(super) struct Core<P> {
    pub(super) index: usize,
    pub(super) processor: P,
    pub(super) sides: Vec<Side>,
}
impl<P: Processor> Core<P> {
    /// Runs user code, and gives its failure to the handler.
    pub(super) fn run(
        &mut self,
        port: &mut dyn Port<P::Out>,
        frame: &mut Frame,
        code: impl FnOnce(&mut P, &mut ProcessorContext<'_, P::Out>) -> ProcessorResult,
    ) {
        let result = self.call(port, frame, code);
        frame.end_of_node(self.index, result);
    }
    fn call(
        &mut self,
        port: &mut dyn Port<P::Out>,
        frame: &mut Frame,
        code: impl FnOnce(&mut P, &mut ProcessorContext<'_, P::Out>) -> ProcessorResult,
    ) -> ProcessorResult {
        let mut ctx = ProcessorContext::new(self.index, port, &mut self.sides, frame);
        code(&mut self.processor, &mut ctx)
    }
    /// Does `call` here if this is the target, and says whether it was.
    pub(super) fn visit(&mut self, target: usize, call: &Call, port: &mut dyn Port<P::Out>, frame: &mut Frame) -> bool {
        if target != self.index {
            return self.sides.iter_mut().any(|side| side.children.visit(target, call, frame));
        }
        match call {
            Call::Init => {
                let result = self.call(port, frame, |processor, ctx| processor.init(ctx));
                frame.end_of_init(self.index, result);
            }
            Call::Punctuate(at) => self.run(port, frame, |processor, ctx| processor.punctuate(at.clone(), ctx)),
            Call::Close => self.processor.close(),
        }
        true
    }
}

struct ProcessorNode<P, K, V> {
    core: Core<P>,
    children: Children<K, V>,
}
impl<P, KI, VI, KO, VO> Child<KI, VI> for ProcessorNode<P, KO, VO>
where
    P: Processor<In = Record<KI, VI>, Out = Record<KO, VO>>,
    KO: Data,
    VO: Data,
{
    fn process(&mut self, record: Record<KI, VI>, frame: &mut Frame) {
        if frame.is_stopped() {
            return;
        }
        let outer = frame.enter(record.timestamp, &record.headers);
        self.core.run(&mut self.children, frame, |processor, ctx| processor.process(record, ctx));
        frame.leave(outer);
    }
}
impl<P, K, V> Visit for ProcessorNode<P, K, V>
where
    P: Processor<Out = Record<K, V>>,
    K: Data,
    V: Data,
{
    fn visit(&mut self, target: usize, call: &Call, frame: &mut Frame) -> bool {
        self.core.visit(target, call, &mut self.children, frame) || self.children.visit(target, call, frame)
    }
}
