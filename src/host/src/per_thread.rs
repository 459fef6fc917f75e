//! A value for each thread, dropped when the thread ends.
//!
//! The standard library's thread-local values with destructors end the process when there is no memory for noting the
//! destructor. These answer instead. They are kept under a key of the threads library; if the program has taken all
//! keys, they are kept in a thread-local value of the standard library after all.
//!
//! A wait keeps its state in such a value. If there is no memory for it, the thread looks every millisecond instead of
//! sleeping on a bell, and cannot be cancelled meanwhile.

use std::cell::RefCell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::pthread_key_t;

use crate::memory;

/// A value of type `T` for each thread that asks for one. To be used in statics of libraries that are never unloaded.
pub struct PerThread<T> {
    /// The key of the threads library, plus 1; 0 before it is made, [`NO_KEY`] if it could not be made. What is found
    /// first stays, because values kept in the other way would not be found again.
    key: AtomicU64,
    values: PhantomData<fn() -> T>,
}

/// There is no key.
const NO_KEY: u64 = u64::MAX;

/// A value that is kept without a key.
struct Kept {
    /// Address of the [`PerThread`] that it belongs to.
    owner: usize,
    value: *mut c_void,
    drop: unsafe extern "C" fn(*mut c_void),
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the value came from a box of the type that the function drops, and it is dropped once.
        unsafe { (self.drop)(self.value) };
    }
}

thread_local! {
    /// The values of this thread that are kept without a key.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

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
    /// cannot be made: there is no memory, or the thread is ending.
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let Some(key) = self.key() else {
            let value = self.without_key()?;
            // SAFETY: the value lives until the thread ends, and no other thread has its address.
            return Some(f(unsafe { &*value }));
        };
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

    /// The value of this thread, kept without a key.
    #[cold]
    fn without_key(&self) -> Option<*const T> {
        // The first access of a thread ends the process if there is no memory for noting the destructor.
        drop(memory::boxed([0_u64; 16]).ok()?);
        let owner = ptr::from_ref(self).addr();
        let value = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if let Some(known) = kept.iter().find(|kept| kept.owner == owner) {
                return Some(known.value);
            }
            kept.try_reserve(1).ok()?;
            let value = Box::into_raw(memory::boxed(T::default()).ok()?).cast();
            kept.push(Kept { owner, value, drop: drop_value::<T> });
            Some(value)
        });
        value.ok().flatten().map(|value| value.cast::<T>().cast_const())
    }

    fn key(&self) -> Option<pthread_key_t> {
        match self.key.load(Ordering::Acquire) {
            0 => self.make(),
            known => pthread_key_t::try_from(known - 1).ok(),
        }
    }

    #[cold]
    fn make(&self) -> Option<pthread_key_t> {
        let mut made: pthread_key_t = 0;
        // SAFETY: the place outlives the call; the destructor takes what `with` stores.
        if unsafe { libc::pthread_key_create(&mut made, Some(drop_value::<T>)) } != 0 {
            let known = self.key.compare_exchange(0, NO_KEY, Ordering::AcqRel, Ordering::Acquire).err()?;
            return pthread_key_t::try_from(known - 1).ok();
        }
        match self.key.compare_exchange(0, u64::from(made) + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(made),
            Err(known) => {
                // SAFETY: no other thread knows the key.
                unsafe { libc::pthread_key_delete(made) };
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
mod tests;
