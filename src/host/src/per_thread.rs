//! A value for each thread, dropped when the thread ends.
//!
//! The standard library's thread-local values with destructors end the process when there is no memory for noting the
//! destructor. These answer instead.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::pthread_key_t;

use crate::memory;

/// A value of type `T` for each thread that asks for one. To be used in statics of libraries that are never unloaded.
pub struct PerThread<T> {
    /// The key of the threads library, plus 1; 0 before it is made, [`NONE`] if the process had none left.
    key: AtomicU64,
    values: PhantomData<fn() -> T>,
}

/// Stands for a key that could not be had. It stays so, so that a value is always looked for in the same place.
const NONE: u64 = u64::MAX;

/// Drops the value of a thread that ends.
unsafe extern "C" fn drop_value<T>(value: *mut c_void) {
    // SAFETY: `with` made the value from a box, and the threads library gives it up.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}

impl<T: Default> PerThread<T> {
    /// No values.
    pub const fn new() -> Self {
        PerThread { key: AtomicU64::new(0), values: PhantomData }
    }

    /// Calls `f` with the value of this thread, which is made if there is none. Returns `None`, without a call, if it
    /// cannot be made: there is no memory, or the process has used up its keys.
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let key = self.key()?;
        // SAFETY: the key exists and is never deleted.
        let mut value = unsafe { libc::pthread_getspecific(key) }.cast::<T>();
        if value.is_null() {
            value = Box::into_raw(memory::boxed(T::default()).ok()?);
            // SAFETY: as above.
            if unsafe { libc::pthread_setspecific(key, value.cast()) } != 0 {
                // SAFETY: the value came from a box and was not noted.
                drop(unsafe { Box::from_raw(value) });
                return None;
            }
        }
        // SAFETY: the value lives until the thread ends, and no other thread has its address.
        Some(f(unsafe { &*value }))
    }

    /// Whether there is a key. Without one, [`PerThread::with`] gives nothing for as long as the process lives.
    pub fn has_key(&self) -> bool {
        self.key().is_some()
    }

    fn key(&self) -> Option<pthread_key_t> {
        match self.key.load(Ordering::Acquire) {
            0 => self.make(),
            NONE => None,
            known => pthread_key_t::try_from(known - 1).ok(),
        }
    }

    #[cold]
    fn make(&self) -> Option<pthread_key_t> {
        let mut made: pthread_key_t = 0;
        // SAFETY: the place outlives the call; the destructor takes what `with` stores.
        if unsafe { libc::pthread_key_create(&mut made, Some(drop_value::<T>)) } != 0 {
            return match self.key.compare_exchange(0, NONE, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) | Err(NONE) => None,
                Err(known) => pthread_key_t::try_from(known - 1).ok(),
            };
        }
        match self.key.compare_exchange(0, u64::from(made) + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(made),
            Err(known) => {
                // SAFETY: nobody else knows the key.
                unsafe { libc::pthread_key_delete(made) };
                if known == NONE {
                    return None;
                }
                pthread_key_t::try_from(known - 1).ok()
            }
        }
    }
}

impl<T: Default> Default for PerThread<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    #[derive(Default)]
    struct Number(Cell<usize>);

    impl Drop for Number {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_thread_has_a_value_that_ends_with_it() {
        static NUMBERS: PerThread<Number> = PerThread::new();
        let set = |number| NUMBERS.with(|value| value.0.replace(number));
        let before = DROPPED.load(Ordering::Relaxed);
        assert_eq!(set(1), Some(0));
        std::thread::spawn(move || assert_eq!((set(2), set(3)), (Some(0), Some(2)))).join().expect("no panic");
        assert_eq!(DROPPED.load(Ordering::Relaxed), before + 1);
        assert_eq!(set(4), Some(1));
    }
}
