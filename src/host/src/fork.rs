//! Protection of locks and descriptors during a fork.
//!
//! A socket closes only when its last copy closes, so a copy in the child of a fork hides the end of the parent from
//! the peer. Children close the descriptors that [`CloseOnFork`] marks.
//!
//! A lock of another library stays locked in the child if another thread holds it during the fork. So calls that take
//! such locks run in [`with_fork_lock`], as does the creation of a marked descriptor.

use std::cell::UnsafeCell;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::{Timespec, nanosleep};

/// Number of threads inside [`with_fork_lock`], plus [`FORKING`] during a fork.
static INSIDE: AtomicU32 = AtomicU32::new(0);

const FORKING: u32 = 1 << 31;

/// Maximum wait of a fork for threads inside [`with_fork_lock`], which may be stuck.
const FORK_TIMEOUT: Duration = Duration::from_secs(2);

struct Inside;

impl Inside {
    fn enter() -> Self {
        loop {
            let entered = INSIDE.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |inside| {
                (inside & FORKING == 0).then_some(inside + 1)
            });
            if entered.is_ok() {
                return Inside;
            }
            sleep_briefly();
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // In the child of a fork, [`let_in_child`] may already have reset the count to 0.
        let _ = INSIDE
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |inside| (inside & !FORKING > 0).then(|| inside - 1));
    }
}

fn sleep_briefly() {
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 50_000 });
}

/// Runs `f` while no fork runs. The call waits for a fork, and a fork waits up to 2 s for `f`.
///
/// For short calls that take process-wide locks of other libraries, or that create descriptors for [`CloseOnFork`].
/// Must not be nested.
pub fn with_fork_lock<R>(f: impl FnOnce() -> R) -> R {
    let _inside = Inside::enter();
    f()
}

/// Blocks [`with_fork_lock`], and waits for threads inside for up to 2 s. For the handler before a fork. Calls of this
/// function must not run concurrently.
pub fn keep_out() {
    INSIDE.fetch_or(FORKING, Ordering::AcqRel);
    let until = Instant::now() + FORK_TIMEOUT;
    while INSIDE.load(Ordering::Acquire) != FORKING && Instant::now() < until {
        sleep_briefly();
    }
}

/// Unblocks [`with_fork_lock`] after a fork, in the parent.
pub fn let_in() {
    INSIDE.fetch_and(!FORKING, Ordering::AcqRel);
}

/// Unblocks [`with_fork_lock`] after a fork, in the child, which lacks the threads inside.
pub fn let_in_child() {
    INSIDE.store(0, Ordering::Release);
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Number of forks since the library was loaded.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns a number that differs between a parent and its children. Costs one load. [`let_in_child`] increments it.
#[inline]
pub fn life() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// The descriptors that children close. A bitmap, because a child could not lock or read a growing list. Unused pages
/// take no memory.
static NOTED: [AtomicU64; (MAX_FD / u64::BITS) as usize] = [const { AtomicU64::new(0) }; (MAX_FD / u64::BITS) as usize];
/// The kernel's default for `fs.nr_open`.
const MAX_FD: u32 = 1 << 20;
/// One more than the highest descriptor that was ever in [`NOTED`].
static END: AtomicU32 = AtomicU32::new(0);

fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = u32::try_from(fd).ok()?;
    Some((NOTED.get((fd / u64::BITS) as usize)?, 1 << (fd % u64::BITS)))
}

/// Marks a descriptor that children of a fork close. Descriptors from [`MAX_FD`] on stay open in children.
///
/// End the mark before this process closes the descriptor, because another file can then get the number: declare the
/// mark before the descriptor, or call [`CloseOnFork::end`].
#[derive(Debug)]
pub struct CloseOnFork(RawFd);

impl CloseOnFork {
    /// Creates a descriptor and marks it, without a fork in between.
    pub fn create<F: AsFd, E>(create: impl FnOnce() -> Result<F, E>) -> Result<(Self, F), E> {
        with_fork_lock(|| create().map(|fd| (CloseOnFork::new(&fd), fd)))
    }

    /// Marks `fd`.
    pub fn new(fd: impl AsFd) -> Self {
        let fd = fd.as_fd().as_raw_fd();
        if let Some((word, bit)) = bit(fd) {
            END.fetch_max(fd as u32 + 1, Ordering::AcqRel);
            word.fetch_or(bit, Ordering::AcqRel);
        }
        CloseOnFork(fd)
    }

    /// Removes the mark.
    pub fn end(&mut self) {
        if let Some((word, bit)) = bit(std::mem::replace(&mut self.0, -1)) {
            word.fetch_and(!bit, Ordering::AcqRel);
        }
    }
}

impl Drop for CloseOnFork {
    fn drop(&mut self) {
        self.end();
    }
}

/// Closes the marked descriptors. Takes no lock and allocates nothing.
///
/// # Safety
/// The caller is the child of a fork, and never again uses a value that owns one of these descriptors.
pub unsafe fn close_in_child() {
    let end = END.load(Ordering::Acquire).div_ceil(u64::BITS) as usize;
    for (at, word) in NOTED.iter().enumerate().take(end) {
        let mut noted = word.swap(0, Ordering::AcqRel);
        while noted != 0 {
            let fd = at as RawFd * u64::BITS as RawFd + noted.trailing_zeros() as RawFd;
            noted &= noted - 1;
            // SAFETY: the caller never again uses the owner of this descriptor.
            unsafe { rustix::io::close(fd) };
        }
    }
}

/// The guard of a lock during a fork: the handler before the fork stores it, and the handlers after the fork take it.
/// So the child never sees half-changed data.
pub struct Hold<G>(UnsafeCell<Option<G>>);

// SAFETY: callers of `keep` and `fetch` hold the same lock.
unsafe impl<G> Sync for Hold<G> {}

impl<G> Hold<G> {
    /// Creates an empty slot.
    pub const fn new() -> Self {
        Hold(UnsafeCell::new(None))
    }

    /// Stores a guard.
    ///
    /// # Safety
    /// The caller is the handler before a fork. All guards in this slot belong to the same lock.
    pub unsafe fn keep(&self, guard: G) {
        // SAFETY: the caller holds the lock.
        unsafe { *self.0.get() = Some(guard) };
    }

    /// Takes the guard out, if there is one.
    ///
    /// # Safety
    /// The caller is a handler after a fork, before which [`Hold::keep`] was called.
    pub unsafe fn fetch(&self) -> Option<G> {
        // SAFETY: the lock is still held.
        unsafe { (*self.0.get()).take() }
    }
}

impl<G> Default for Hold<G> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
