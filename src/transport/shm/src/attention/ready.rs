//! Ready bits of one side: a bit per connection, set while it has work, and a summary word with a bit per nonzero word.
//!
//! A thread that sets a bit and finds the side awake wakes no thread, so polls must find the bit through the summary.
//! Therefore [`set`] returns only after the summary has the word's bit, even if another thread is about to set that
//! bit.
//!
//! Polls first load the summary Relaxed. A stale value only delays the data: the next poll repeats the load, and a
//! thread that is about to sleep checks the summary after the fence of SYNC sleep.

use std::sync::atomic::Ordering;

use host::word::Word;

#[inline]
pub fn set<W: Word<Value = u64>>(summary: &W, words: &[W], index: u32) {
    let word = index as usize / 64 % words.len();
    // SYNC ready: the thread that takes this bit sees all earlier stores of this thread. SeqCst operations have one
    // order: if the summary already has the word's bit, `take` swaps the summary, and then the word, after this bit is
    // set.
    let before = words[word].fetch_or(1 << (index % 64), Ordering::SeqCst);
    if before == 0 || summary.load(Ordering::SeqCst) & 1 << word == 0 {
        summary.fetch_or(1 << word, Ordering::SeqCst);
    }
}

/// Clears the summary, and each word that is both in the summary and in the mask from `used`; calls `each` with the
/// indices of the bits that were set. Calls `used` after it has cleared the summary.
#[inline]
pub fn take<W: Word<Value = u64>>(summary: &W, words: &[W], used: impl FnOnce() -> u64, mut each: impl FnMut(u32)) {
    let named = summary.swap(0, Ordering::SeqCst);
    let mut named = named & used();
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
}
