//! Things that a fork must not break: locks that another thread holds, and descriptors whose end peers wait for.
//!
//! The kernel may take the end of the last copy of a descriptor for the end of the process. Peers would then not
//! learn that a process is gone while a child of it lives.
//!
//! A library that we call may have locks of its own that it does not watch over a fork. If another thread were inside
//! at that moment, the child would find the lock taken for ever. So such calls are made by [`with_fork_lock`], and so is
//! the making of a descriptor together with its note.
//!
//! The handler before a fork waits for such calls, for two seconds at most.

use std::cell::UnsafeCell;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::{Timespec, nanosleep};

/// The number of threads inside [`with_fork_lock`], with [`FORKING`] while a fork is going on.
static INSIDE: AtomicU32 = AtomicU32::new(0);

/// A fork is going on or waits for the threads that are inside.
const FORKING: u32 = 1 << 31;

/// The longest time for which a fork waits for the threads that are inside: a thread may be stuck in a call.
const PATIENCE: Duration = Duration::from_secs(2);

/// The stay of a thread in [`with_fork_lock`].
struct Stay;

impl Stay {
    fn begin() -> Self {
        loop {
            let entered = INSIDE.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |inside| {
                (inside & FORKING == 0).then_some(inside + 1)
            });
            if entered.is_ok() {
                return Stay;
            }
            a_moment();
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // A fork whose patience ended has forgotten the threads that were inside.
        let _ = INSIDE
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |inside| (inside & !FORKING > 0).then(|| inside - 1));
    }
}

fn a_moment() {
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 50_000 });
}

/// Runs `f` so that no fork of the process falls into it: a fork waits until `f` has returned, and `f` begins only
/// when no fork is going on. For short calls that take locks which other libraries keep for the whole process, or that
/// make a descriptor that children must not have. `f` must not call this function again.
pub fn with_fork_lock<R>(f: impl FnOnce() -> R) -> R {
    let _stay = Stay::begin();
    f()
}

/// Keeps threads out of [`with_fork_lock`] and waits until none is inside. For the handler before a fork, where one thread
/// at a time may be.
pub fn keep_out() {
    INSIDE.fetch_or(FORKING, Ordering::AcqRel);
    let until = Instant::now() + PATIENCE;
    while INSIDE.load(Ordering::Acquire) != FORKING && Instant::now() < until {
        a_moment();
    }
}

/// Lets threads in again after [`keep_out`]. For the handler after a fork, in the parent.
pub fn let_in() {
    INSIDE.fetch_and(!FORKING, Ordering::AcqRel);
}

/// Lets threads in again after [`keep_out`], in the child, which has none of the threads that may still be inside.
pub fn let_in_child() {
    INSIDE.store(0, Ordering::Release);
    LIVES.fetch_add(1, Ordering::Relaxed);
}

/// The forks that lie between this process and the one that loaded the library.
static LIVES: AtomicU32 = AtomicU32::new(0);

/// A number that is another one in the child of a fork than in its parent. Costs one load. It counts the calls of
/// [`let_in_child`], so the handlers for forks must have been set up.
#[inline]
pub fn life() -> u32 {
    LIVES.load(Ordering::Relaxed)
}

/// Descriptors that children close: one bit for each number. The size is fixed, because the child of a fork can neither
/// take a lock nor trust a list that another thread was changing. The kernel provides the pages that are used.
static NOTED: [AtomicU64; (MAX_FD / u64::BITS) as usize] = [const { AtomicU64::new(0) }; (MAX_FD / u64::BITS) as usize];
/// Number above those that can be noted: the kernel's default for `fs.nr_open`.
const MAX_FD: u32 = 1 << 20;
/// Number above those that were ever noted.
static END: AtomicU32 = AtomicU32::new(0);

/// Returns the word of [`NOTED`] and the bit in it for a descriptor.
fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = u32::try_from(fd).ok()?;
    Some((NOTED.get((fd / u64::BITS) as usize)?, 1 << (fd % u64::BITS)))
}

/// A note that children close a descriptor. The note must end before the descriptor is closed here, because another
/// file may get the same number at once. So a value that owns both declares the note first, and one that closes in its
/// own `drop` calls [`CloseOnFork::end`] there.
///
/// A descriptor from [`MAX_FD`] on stays open in children.
#[derive(Debug)]
pub struct CloseOnFork(RawFd);

impl CloseOnFork {
    /// Notes `fd`.
    pub fn new(fd: impl AsFd) -> Self {
        let fd = fd.as_fd().as_raw_fd();
        if let Some((word, bit)) = bit(fd) {
            END.fetch_max(fd as u32 + 1, Ordering::AcqRel);
            word.fetch_or(bit, Ordering::AcqRel);
        }
        CloseOnFork(fd)
    }

    /// Lets children keep the descriptor from now on.
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

/// Closes, in the child of a fork, the descriptors that its parent has noted. Takes no lock and allocates nothing.
///
/// # Safety
/// The caller is the child of a fork, in which no value is ever touched again that owns one of these descriptors, because
/// another file may soon get the same number.
pub unsafe fn close_in_child() {
    let end = END.load(Ordering::Acquire).div_ceil(u64::BITS) as usize;
    for (at, word) in NOTED.iter().enumerate().take(end) {
        let mut noted = word.swap(0, Ordering::AcqRel);
        while noted != 0 {
            let fd = at as RawFd * u64::BITS as RawFd + noted.trailing_zeros() as RawFd;
            noted &= noted - 1;
            // SAFETY: this is the child's copy of a descriptor, and its owner is never touched again, as said above.
            unsafe { rustix::io::close(fd) };
        }
    }
}

/// A place for the guard of a lock during a fork: the handler before the fork takes the lock and leaves the guard here,
/// and the handlers after the fork fetch it. So the child never gets the locked data half changed.
pub struct Hold<G>(UnsafeCell<Option<G>>);

// SAFETY: only `keep` and `fetch` touch the cell, and their callers promise to do so one at a time.
unsafe impl<G> Sync for Hold<G> {}

impl<G> Hold<G> {
    /// An empty place.
    pub const fn new() -> Self {
        Hold(UnsafeCell::new(None))
    }

    /// Leaves a guard here.
    ///
    /// # Safety
    /// Only the handler before a fork may call this, and `guard` must belong to the lock that is always held when this
    /// place is used.
    pub unsafe fn keep(&self, guard: G) {
        // SAFETY: the lock, which the caller has, allows one user at a time.
        unsafe { *self.0.get() = Some(guard) };
    }

    /// Fetches the guard.
    ///
    /// # Safety
    /// Only a handler after a fork may call this, and [`Hold::keep`] must have been called before that fork: the lock
    /// is held until the guard is dropped.
    pub unsafe fn fetch(&self) -> Option<G> {
        // SAFETY: the lock, which is still held, allows one user at a time.
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
