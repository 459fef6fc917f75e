//! Thread-specific values, which are dropped with their thread.
//!
//! Without memory to register a destructor, `thread_local!` ends the process, but [`PerThread::with`] returns `None`.
//! The values are stored under a pthread key, or in a `thread_local!` if no key is left.

use std::cell::RefCell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::pthread_key_t;

use crate::memory;

/// A value per thread, created on first use. Only for statics of libraries that are never unloaded.
pub struct PerThread<T> {
    /// The pthread key plus 1, or `NO_KEY`; 0 before the first use. After that, it is constant, because a thread finds
    /// a value only under its key.
    key: AtomicU64,
    values: PhantomData<fn() -> T>,
}

const NO_KEY: u64 = u64::MAX;

struct KeylessValue {
    /// Address of the [`PerThread`].
    owner: usize,
    value: *mut c_void,
    drop: unsafe extern "C" fn(*mut c_void),
}

impl Drop for KeylessValue {
    fn drop(&mut self) {
        // SAFETY: the value comes from a box of this type, and is dropped once.
        unsafe { (self.drop)(self.value) };
    }
}

thread_local! {
    static KEYLESS_VALUES: RefCell<Vec<KeylessValue>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn drop_value<T>(value: *mut c_void) {
    // SAFETY: `with` created the box, and libc passes it to no other call.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}

impl<T: Default> PerThread<T> {
    /// Creates an instance without values. The first [`PerThread::with`] creates its key.
    pub const fn new() -> Self {
        PerThread { key: AtomicU64::new(0), values: PhantomData }
    }

    /// Calls `f` with the value of the calling thread. Returns `None`, without a call, if there is no memory or,
    /// without a key, the thread is ending.
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let Some(key) = self.key() else {
            let value = self.without_key()?;
            // SAFETY: exists until the thread ends; no other thread has its address.
            return Some(f(unsafe { &*value }));
        };
        // SAFETY: the key exists, and is never deleted.
        let mut value = unsafe { libc::pthread_getspecific(key) }.cast::<T>();
        if value.is_null() {
            value = Box::into_raw(memory::boxed(T::default()).ok()?);
            // SAFETY: the key exists, and is never deleted.
            if unsafe { libc::pthread_setspecific(key, value.cast()) } != 0 {
                // SAFETY: the value comes from a box, and was not stored.
                drop(unsafe { Box::from_raw(value) });
                return None;
            }
        }
        // SAFETY: exists until the thread ends; no other thread has its address.
        Some(f(unsafe { &*value }))
    }

    #[cold]
    fn without_key(&self) -> Option<*const T> {
        // This check is first, because the first access to `KEYLESS_VALUES` ends the process if it lacks memory.
        drop(memory::boxed([0_u64; 16]).ok()?);
        let owner = ptr::from_ref(self).addr();
        let value = KEYLESS_VALUES.try_with(|values| {
            let mut values = values.borrow_mut();
            if let Some(known) = values.iter().find(|value| value.owner == owner) {
                return Some(known.value);
            }
            values.try_reserve(1).ok()?;
            let value = Box::into_raw(memory::boxed(T::default()).ok()?).cast();
            values.push(KeylessValue { owner, value, drop: drop_value::<T> });
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
        // SAFETY: `made` outlives the call; the destructor has the type of the values.
        let is_made = unsafe { libc::pthread_key_create(&mut made, Some(drop_value::<T>)) } == 0;
        let key = if is_made { u64::from(made) + 1 } else { NO_KEY };
        let known = self.key.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire).err();
        if is_made && known.is_some() {
            // SAFETY: no other thread has the key.
            unsafe { libc::pthread_key_delete(made) };
        }
        pthread_key_t::try_from(known.unwrap_or(key) - 1).ok()
    }
}

impl<T: Default> Default for PerThread<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
