//! A processor of closures, for the cases' short ones.

use millstream_processor_core::{Context, Processor, ProcessorContext, ProcessorResult, Punctuation};

type Init<O> = Box<dyn FnMut(&mut ProcessorContext<'_, O>) + Send>;
type Process<I, O> = Box<dyn FnMut(I, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send>;
type Punctuate<O> = Box<dyn FnMut(Punctuation, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send>;

pub(crate) struct Logic<I, O> {
    init: Init<O>,
    process: Process<I, O>,
    punctuate: Punctuate<O>,
    close: Box<dyn FnMut() + Send>,
}
impl<I, O> Logic<I, O> {
    pub(crate) fn new(
        process: impl FnMut(I, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send + 'static,
    ) -> Self {
        Self {
            init: Box::new(|_| ()),
            process: Box::new(process),
            punctuate: Box::new(|_, _| Ok(())),
            close: Box::new(|| ()),
        }
    }
    pub(crate) fn init(mut self, init: impl FnMut(&mut ProcessorContext<'_, O>) + Send + 'static) -> Self {
        self.init = Box::new(init);
        self
    }
    pub(crate) fn punctuate(
        mut self,
        punctuate: impl FnMut(Punctuation, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send + 'static,
    ) -> Self {
        self.punctuate = Box::new(punctuate);
        self
    }
    pub(crate) fn close(mut self, close: impl FnMut() + Send + 'static) -> Self {
        self.close = Box::new(close);
        self
    }
}
impl<I: 'static, O: 'static> Processor for Logic<I, O> {
    type In = I;
    type Out = O;

    fn init(&mut self, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        (self.init)(ctx);
        Ok(())
    }
    fn process(&mut self, record: I, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        (self.process)(record, ctx)
    }
    fn punctuate(&mut self, at: Punctuation, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        (self.punctuate)(at, ctx)
    }
    fn close(&mut self) {
        (self.close)();
    }
}
