//! Sections: short stretches of a call in which the memory that it found registered stays so.
//!
//! A thread counts in a word of its own: the count is odd while the thread is in a section. Entering and leaving are plain
//! stores. A thread that takes memory away first says so where those who enter look, then has all threads pass a fence
//! ([`host::asymmetric::heavy`]), and then waits until every thread that is in a section has left it, or has been in
//! another one since. So of a thread that enters and then looks, and one that says so and then looks, one sees the other.
//!
//! Unlike a [`super::Note`], a section does not name what it keeps; it costs less for that, and is to be short, because
//! every thread that takes memory away waits for it.

use std::sync::atomic::Ordering;

use host::asymmetric::light_if_available;

use super::entry::Word;

/// The word of one thread.
#[derive(Debug)]
pub(super) struct Count<W>(W);

impl<W: Word> Count<W> {
    /// A thread that is in no section has an even count.
    pub const fn new(word: W) -> Self {
        Count(word)
    }

    /// Enters; false if the calling thread, whose word this is, is in a section already.
    #[inline(always)]
    pub fn enter(&self) -> bool {
        let count = self.0.load(Ordering::Relaxed);
        if count & 1 != 0 {
            return false;
        }
        // SYNC section-leave: a Release here too, because this store may hide that of the even count before it.
        self.0.store(count + 1, Ordering::Release);
        // SYNC section-enter: the thread makes the count odd, passes the light half and looks the memory up; a thread
        // that takes memory away says so, passes the heavy half and loads the count in `section`. Either the memory is
        // not found, or the section is waited for.
        light_if_available();
        true
    }

    /// Leaves the section that the calling thread is in.
    #[inline(always)]
    pub fn leave(&self) {
        // SYNC section-leave: what the thread did in the section comes before this store, and is visible to a thread
        // that finds the section left.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// The section in which its thread is, for [`Count::has_left`].
    pub fn section(&self) -> Option<u64> {
        // SYNC section-enter, section-leave
        let count = self.0.load(Ordering::Acquire);
        (count & 1 != 0).then_some(count)
    }

    /// Whether its thread has left that section.
    pub fn has_left(&self, section: u64) -> bool {
        // SYNC section-leave
        self.0.load(Ordering::Acquire) != section
    }

    /// Leaves for a thread that exists no more.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
