//! The ready bits of one side of a pair: a bit for each connection that has something to do, and a summary with a bit
//! for each word of them that is not empty.
//!
//! A thread that sets a bit and then finds the side awake relies on the summary to show it. So a bit is in the summary before
//! [`set`] returns, also where another thread has set the word's first bit and is about to add it.
//!
//! A look at the summary alone, without taking anything, is a hint and Relaxed: each poll looks again, and a thread
//! that is about to sleep looks behind the fence of the mark sleep.

use std::sync::atomic::Ordering;

use crate::word::Word;

/// Sets the bit of place `index`.
#[inline]
pub fn set<W: Word<Value = u64>>(summary: &W, words: &[W], index: u32) {
    let word = index as usize / 64 % words.len();
    // SYNC ready: the thread that takes the bit sees all that was written before. These operations are SeqCst and so in
    // one order: if the summary has the word's bit already, that is before `take` swaps the summary, and this bit is
    // set before `take` swaps the word.
    let before = words[word].fetch_or(1 << (index % 64), Ordering::SeqCst);
    if before == 0 || summary.load(Ordering::SeqCst) & 1 << word == 0 {
        summary.fetch_or(1 << word, Ordering::SeqCst);
    }
}

/// Takes the bits of all words among `used` that the summary names, and calls `each` with their places; false if it
/// names none. `used` is called after the summary was taken.
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
        // SYNC ready: pairs with the bit set in `set`.
        let mut bits = words[word as usize % words.len()].swap(0, Ordering::SeqCst);
        while bits != 0 {
            each(word * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    any
}
