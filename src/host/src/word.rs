//! Atomic words as a trait, so that loom can model the same code.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// An atomic word with the operations of the standard atomics.
pub trait Word {
    /// The value of the word.
    type Value;
    /// Loads the value.
    fn load(&self, order: Ordering) -> Self::Value;
    /// Stores a value.
    fn store(&self, value: Self::Value, order: Ordering);
    /// Stores a value, and returns the previous one.
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Replaces `from` by `to`. Returns `false`, without ordering, if the value is not `from`.
    fn change(&self, from: Self::Value, to: Self::Value, order: Ordering) -> bool;
    /// Sets bits, and returns the previous value.
    fn fetch_or(&self, bits: Self::Value, order: Ordering) -> Self::Value;
    /// Orders the accesses of the calling thread.
    fn fence(order: Ordering);
}

macro_rules! word {
    ($word:ty, $value:ty, $fence:path, $load:expr) => {
        impl Word for $word {
            type Value = $value;

            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                $load(self, order)
            }

            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <$word>::store(self, value, order);
            }

            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$word>::swap(self, value, order)
            }

            #[inline(always)]
            fn change(&self, from: $value, to: $value, order: Ordering) -> bool {
                self.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
            }

            #[inline(always)]
            fn fetch_or(&self, bits: $value, order: Ordering) -> $value {
                <$word>::fetch_or(self, bits, order)
            }

            #[inline(always)]
            fn fence(order: Ordering) {
                $fence(order);
            }
        }
    };
}

word!(AtomicU32, u32, fence, AtomicU32::load);
word!(AtomicU64, u64, fence, AtomicU64::load);

#[cfg(loom)]
mod model {
    use loom::sync::atomic::{AtomicU32, AtomicU64, fence};

    use super::{Ordering, Word};

    // In the model, a plain SeqCst load can return an old value, `fetch_or` cannot.
    macro_rules! load {
        () => {
            |word: &Self, order| if order == Ordering::SeqCst { word.fetch_or(0, order) } else { word.load(order) }
        };
    }

    word!(AtomicU32, u32, fence, load!());
    word!(AtomicU64, u64, fence, load!());
}
