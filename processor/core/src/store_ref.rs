//! Stores of a topology, and how processors come by them.

use millstream_state::{LayeredStore, StateStore, StoreBuilder, StoreSpec};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

/// A store of a topology. Give it to `…_with`, and the supplier is given the task's live store.
pub struct StoreRef<S> {
    key: StoreKey,
    types: PhantomData<fn() -> S>,
}
impl<S> StoreRef<S> {
    pub(crate) const fn new(builder: u32, index: usize) -> Self {
        Self { key: StoreKey { builder, index }, types: PhantomData }
    }
    pub(crate) const fn index(&self) -> usize {
        self.key.index
    }
}
impl<S> Copy for StoreRef<S> {}
impl<S> Clone for StoreRef<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> fmt::Debug for StoreRef<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreRef").field(&self.key.index).finish()
    }
}

/// A store's place: whose builder, and where in its graph.
#[derive(Debug, Clone, Copy)]
pub struct StoreKey {
    pub(crate) builder: u32,
    pub(crate) index: usize,
}
/// Opens the stores of a task for one of its processors.
pub(crate) type Open<L> = Box<dyn Fn(&LiveStores<'_>) -> L + Send + Sync>;

/// Stores to connect with a processor: one, or a tuple of up to four.
///
/// There is no other way to a live store, so none can be used that is not connected.
pub trait Stores {
    /// What the supplier is given.
    type Live: 'static;
    /// Names the stores.
    fn keys(&self, keys: &mut Vec<StoreKey>);
    /// How a task opens them.
    fn open(&self) -> Open<Self::Live>;
}
impl Stores for () {
    type Live = ();
    fn keys(&self, _keys: &mut Vec<StoreKey>) {}
    fn open(&self) -> Open<()> {
        Box::new(|_| ())
    }
}
impl<S: StateStore> Stores for &StoreRef<S> {
    type Live = S;
    fn keys(&self, keys: &mut Vec<StoreKey>) {
        keys.push(self.key);
    }
    fn open(&self) -> Open<S> {
        let index = self.key.index;
        Box::new(move |live| live.open(index))
    }
}
macro_rules! tuples {
    ($(($($each:ident $place:tt),+);)*) => {$(
        impl<$($each: Stores),+> Stores for ($($each,)+) {
            type Live = ($($each::Live,)+);
            fn keys(&self, keys: &mut Vec<StoreKey>) {
                $(self.$place.keys(keys);)+
            }
            fn open(&self) -> Open<Self::Live> {
                let opens = ($(self.$place.open(),)+);
                Box::new(move |live| ($((opens.$place)(live),)+))
            }
        }
    )*};
}
tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

/// A store's builder, without its types.
pub(crate) trait StoreRecipe: Send + Sync {
    fn spec(&self) -> &StoreSpec;
    fn as_any(&self) -> &dyn Any;
}
pub(crate) struct BuilderRecipe<S: StateStore>(StoreBuilder<S>);
impl<S: StateStore> BuilderRecipe<S> {
    pub(crate) const fn new(builder: StoreBuilder<S>) -> Self {
        Self(builder)
    }
}
impl<S: StateStore> StoreRecipe for BuilderRecipe<S> {
    fn spec(&self) -> &StoreSpec {
        self.0.spec()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The stores of a task that is being built.
#[derive(Clone, Copy)]
pub struct LiveStores<'t> {
    pub(crate) recipes: &'t [crate::topology::Store],
    /// By the store's place in the graph.
    pub(crate) layers: &'t [Option<LayeredStore>],
}
impl LiveStores<'_> {
    pub(crate) fn open<S: StateStore>(&self, index: usize) -> S {
        let recipe = self.recipes[index].recipe.as_any().downcast_ref::<BuilderRecipe<S>>();
        let layers = self.layers[index].as_ref().expect("a task has the stores of its nodes");
        recipe.expect("a handle bears the type of the builder that it came of").0.open(layers)
    }
}
impl fmt::Debug for LiveStores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.recipes.iter().map(|store| &store.name)).finish()
    }
}
