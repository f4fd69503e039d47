//! A list of bounded length that is `Copy`, so that a state is one flat value.

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct List<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }
}

impl<T: Copy + Default + Ord, const N: usize> List<T, N> {
    pub(crate) fn push(&mut self, item: T) {
        assert!((self.len as usize) < N, "the bound of a list is too small for this scenario");
        self.items[self.len as usize] = item;
        self.len += 1;
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        let old = *self;
        *self = Self::default();
        old.iter().filter(|item| keep(item)).for_each(|item| self.push(*item));
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.items.copy_within(at + 1..self.len as usize, at);
        self.len -= 1;
        self.items[self.len as usize] = T::default();
    }

    pub(crate) fn sort(&mut self) {
        self.items[..self.len as usize].sort();
    }
}

impl<T, const N: usize> std::ops::Deref for List<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

impl<T, const N: usize> std::ops::DerefMut for List<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len as usize]
    }
}

impl<T: std::fmt::Debug, const N: usize> std::fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
