//! Atomic words. A trait, so that the interleavings of the very same code can be explored with a model of the memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// An atomic word. Its operations are those of the standard atomics.
pub trait Word {
    /// What it holds.
    type Value;
    /// Loads it.
    fn load(&self, order: Ordering) -> Self::Value;
    /// Stores to it.
    fn store(&self, value: Self::Value, order: Ordering);
    /// Stores to it, and returns what was there.
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Changes it; false if it was not `from`, with no order then.
    fn change(&self, from: Self::Value, to: Self::Value, order: Ordering) -> bool;
    /// Adds bits, and returns what was there.
    fn fetch_or(&self, bits: Self::Value, order: Ordering) -> Self::Value;
    /// A fence among such words.
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

#[cfg(all(test, loom))]
mod model {
    use loom::sync::atomic::{AtomicU32, AtomicU64, fence};

    use super::{Ordering, Word};

    // The model takes a plain load for one that may be late, which no load of one order with all others is.
    macro_rules! load {
        () => {
            |word: &Self, order| if order == Ordering::SeqCst { word.fetch_or(0, order) } else { word.load(order) }
        };
    }

    word!(AtomicU32, u32, fence, load!());
    word!(AtomicU64, u64, fence, load!());
}
