//! Waking a thread that sleeps in poll(2): one event descriptor a thread, made when the
//! thread sleeps for the first time and closed when it ends.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes the thread that it belongs to.
#[derive(Debug)]
pub struct Waker {
    fd: Option<OwnedFd>,
    rung: AtomicBool,
    process: u32,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Waker>>> = const { RefCell::new(None) };
}

impl Waker {
    /// The waker of the calling thread.
    pub fn current() -> Arc<Waker> {
        CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            // A child of fork must not drain the descriptor that its parent sleeps on.
            match &*current {
                Some(waker) if waker.process == process::id() => waker.clone(),
                _ => current.insert(Arc::new(Waker::new())).clone(),
            }
        })
    }

    fn new() -> Self {
        // SAFETY: no pointers are passed.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        // SAFETY: a descriptor that eventfd has just made belongs to nobody else.
        let fd = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
        Waker { fd, rung: AtomicBool::new(false), process: process::id() }
    }

    /// What the thread polls; `None` if no descriptor was to be had, so that the
    /// thread has to look again after a while by itself.
    pub fn fd(&self) -> Option<RawFd> {
        self.fd.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Makes the thread's sleep end, now or when it starts. One system call at most
    /// between two sleeps.
    pub fn wake(&self) {
        if self.rung.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(fd) = self.fd() {
            let one = 1_u64;
            // SAFETY: writes 8 bytes from a live variable.
            let _ = unsafe { libc::write(fd, (&raw const one).cast(), 8) };
        }
    }

    /// Forgets earlier wake-ups; called by the thread itself before it looks for the
    /// condition that it is going to sleep for.
    pub fn clear(&self) {
        // Read even where the bell does not seem rung: a wake-up of the last time may write
        // only now, and would keep every sleep to come from being one.
        if let Some(fd) = self.fd() {
            let mut count = 0_u64;
            // SAFETY: reads 8 bytes into a live variable; the descriptor does not block.
            let _ = unsafe { libc::read(fd, (&raw mut count).cast(), 8) };
        }
        // Only now: a wake-up before this line found the bell rung and wrote nothing, but
        // its condition is visible to the look that follows.
        self.rung.swap(false, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(waker: &Waker) -> bool {
        let fd = waker.fd().expect("a descriptor");
        let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one live entry is passed, and its number.
        unsafe { libc::poll(&mut polled, 1, 0) == 1 }
    }

    #[test]
    fn a_wake_up_rings_until_it_is_cleared() {
        let waker = Waker::new();
        assert!(!rings(&waker));
        for _ in 0..2 {
            waker.wake();
            waker.wake();
            assert!(rings(&waker));
            waker.clear();
            assert!(!rings(&waker));
            waker.clear();
            assert!(!rings(&waker));
        }
    }

    #[test]
    fn a_wake_up_that_writes_late_is_cleared_as_well() {
        let waker = Waker::new();
        // A thread that wakes has said so, and is held up before it writes;
        assert!(!waker.rung.swap(true, Ordering::AcqRel));
        // the sleeper clears meanwhile.
        waker.clear();
        let one = 1_u64;
        // SAFETY: writes 8 bytes from a live variable.
        let wrote = unsafe { libc::write(waker.fd().expect("a descriptor"), (&raw const one).cast(), 8) };
        assert_eq!(wrote, 8);
        assert!(rings(&waker), "for once it has no reason to");
        waker.clear();
        assert!(!rings(&waker), "every sleep to come ends at once");
        waker.wake();
        assert!(rings(&waker));
    }

    #[test]
    fn each_thread_has_its_own() {
        let mine = Waker::current();
        assert!(Arc::ptr_eq(&mine, &Waker::current()));
        let other = std::thread::spawn(Waker::current).join().expect("no panic");
        assert!(!Arc::ptr_eq(&mine, &other));
        other.wake();
        assert!(!rings(&mine) && rings(&other));
    }
}
