//! User logic at one node.

use crate::{ProcessorContext, Punctuation};

/// Why user logic failed.
pub type ProcessorError = Box<dyn std::error::Error + Send + Sync>;
/// The context of a processor: `ctx: &mut Context<'_, Self>`.
pub type Context<'t, P> = ProcessorContext<'t, <P as Processor>::Out>;
/// What user logic answers. An error goes to the processing handler: by default it stops the task.
pub type ProcessorResult = Result<(), ProcessorError>;

/// User logic at one node. Never async: what a task does is a function of its input.
///
/// Each task makes its own from the supplier, also when it comes back to this process; so fields start fresh. A record that fails
/// is undone in stores, outputs and schedules, but not in a processor's own fields: keep what must be undone in a store.
pub trait Processor: Sized + Send + 'static {
    /// What it is given: a `Record<K, V>`.
    type In;
    /// What it forwards: a `Record<K, V>`, [`SameKey<V>`](crate::SameKey), or [`NoOutput`](crate::NoOutput).
    type Out;
    /// Called once, before the first record: the place to schedule.
    ///
    /// # Errors
    /// What the processor says; the task does not start.
    fn init(&mut self, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        Ok(())
    }
    /// Called for each record.
    ///
    /// # Errors
    /// What the processor says; the processing handler decides what then.
    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult;
    /// Called when a schedule is due.
    ///
    /// # Errors
    /// What the processor says; the processing handler decides what then.
    fn punctuate(&mut self, _at: Punctuation, _ctx: &mut Context<'_, Self>) -> ProcessorResult {
        Ok(())
    }
    /// Called when the task goes away, also after an error. Stores are closed by their owner, the task.
    fn close(&mut self) {}
}

/// A closure as a processor.
///
/// ```
/// use millstream_processor_core::{Record, Topology, processor_fn};
///
/// let mut topology = Topology::builder();
/// let words = topology.add_source::<String, String>("words", "words");
/// let lengths = topology.add_processor("length", &words, || {
///     processor_fn(|record: Record<String, String>, ctx| {
///         let length = i64::try_from(record.value.len())?;
///         ctx.forward(record.with_value(length));
///         Ok(())
///     })
/// });
/// topology.add_sink("lengths", &lengths, "lengths");
/// assert!(topology.build().is_ok());
/// ```
pub fn processor_fn<I, O, F>(process: F) -> impl Processor<In = I, Out = O>
where
    I: 'static,
    O: 'static,
    F: FnMut(I, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send + 'static,
{
    FnProcessor(process, std::marker::PhantomData)
}
struct FnProcessor<F, I, O>(F, std::marker::PhantomData<fn(I) -> O>);
impl<I, O, F> Processor for FnProcessor<F, I, O>
where
    I: 'static,
    O: 'static,
    F: FnMut(I, &mut ProcessorContext<'_, O>) -> ProcessorResult + Send + 'static,
{
    type In = I;
    type Out = O;

    fn process(&mut self, record: I, ctx: &mut ProcessorContext<'_, O>) -> ProcessorResult {
        (self.0)(record, ctx)
    }
}
