//! One way to lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another holder: no user code runs under this package's locks, and what they guard is whole
/// between any two of its statements that could panic.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
