//! Ready bits of one side: one per connection with pending work, and a summary with one per nonzero word.
//!
//! A thread that sets a bit and finds the side awake relies on the summary. So [`set`] returns only after the summary
//! has the bit, even if another thread is about to add it.
//!
//! Loads without taking bits are Relaxed hints: polls repeat them, and a thread that is about to sleep checks after the
//! fence of the mark sleep.

use std::sync::atomic::Ordering;

use crate::word::Word;

#[inline]
pub fn set<W: Word<Value = u64>>(summary: &W, words: &[W], index: u32) {
    let word = index as usize / 64 % words.len();
    // SYNC ready: the taking thread sees all earlier stores. SeqCst operations have one order: if the summary already
    // has the word's bit, `take` swaps the summary, and then the word, after this bit is set.
    let before = words[word].fetch_or(1 << (index % 64), Ordering::SeqCst);
    if before == 0 || summary.load(Ordering::SeqCst) & 1 << word == 0 {
        summary.fetch_or(1 << word, Ordering::SeqCst);
    }
}

/// Takes the bits of all words in the summary and in `used`, which is called after the summary was taken. Calls `each`
/// with their indices. Returns whether there were any.
#[inline]
pub fn take<W: Word<Value = u64>>(
    summary: &W,
    words: &[W],
    used: impl FnOnce() -> u64,
    mut each: impl FnMut(u32),
) -> bool {
    let named = summary.swap(0, Ordering::SeqCst);
    let mut named = named & used();
    let any = named != 0;
    while named != 0 {
        let word = named.trailing_zeros();
        named &= named - 1;
        // SYNC ready: pairs with the bit that `set` sets.
        let mut bits = words[word as usize % words.len()].swap(0, Ordering::SeqCst);
        while bits != 0 {
            each(word * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    any
}
