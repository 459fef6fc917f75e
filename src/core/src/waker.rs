//! Waking a thread that sleeps in poll(2). Each thread has one bell, made when the thread sleeps for the first time and
//! gone when it ends.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, RawFd};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::doorbell::Doorbell;
use host::memory;
use host::per_thread::PerThread;

/// Wakes the thread that it belongs to.
#[derive(Debug)]
pub struct Waker {
    bell: Option<Doorbell>,
    rung: AtomicBool,
    process: u32,
}

/// More memory in bytes than the first use of thread-local data takes.
pub(crate) const MARGIN: usize = 1024;

thread_local! {
    /// The waker of a thread where the program has taken all keys.
    static KEYLESS: RefCell<Option<Arc<Waker>>> = const { RefCell::new(None) };
}

static CURRENT: PerThread<RefCell<Option<Arc<Waker>>>> = PerThread::new();

impl Waker {
    /// The waker of the calling thread; `None` if it has none and there is no memory for one.
    pub fn current() -> Option<Arc<Waker>> {
        let find = |current: &RefCell<Option<Arc<Waker>>>| {
            let mut current = current.borrow_mut();
            // A child of fork must not clear the bell that its parent sleeps on.
            match &*current {
                Some(waker) if waker.process == process::id() => Some(waker.clone()),
                _ => Some(current.insert(memory::arc(Waker::new()).ok()?).clone()),
            }
        };
        if CURRENT.has_key() {
            return CURRENT.with(find).flatten();
        }
        memory::probe(MARGIN).ok()?;
        KEYLESS.try_with(find).ok().flatten()
    }

    fn new() -> Self {
        Waker { bell: Doorbell::new().ok(), rung: AtomicBool::new(false), process: process::id() }
    }

    /// The descriptor that the thread polls. `None` if none could be made; the thread must then look again by itself
    /// after a while.
    pub fn fd(&self) -> Option<RawFd> {
        self.bell.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Ends the thread's sleep, now or when it starts. Makes at most one system call between two sleeps.
    pub fn wake(&self) {
        if self.rung.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }

    /// Forgets earlier wake-ups. The thread itself calls this before it checks the condition that it is going to sleep
    /// for.
    pub fn clear(&self) {
        // The bell is cleared even if it does not seem rung: an earlier wake-up may ring only now, and would end every
        // later sleep at once.
        if let Some(bell) = &self.bell {
            bell.clear();
        }
        // This comes last: a wake-up before this line found the bell rung and did not ring it, but its condition is
        // visible to the check that follows.
        self.rung.swap(false, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use host::poll;

    use super::*;

    fn bell(waker: &Waker) -> &Doorbell {
        waker.bell.as_ref().expect("a bell")
    }

    fn rings(waker: &Waker) -> bool {
        let [found] = poll::wait([Some(bell(waker).as_fd())], Some(Duration::ZERO)).expect("poll");
        found.readable
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
    fn a_wake_up_that_rings_late_is_cleared_as_well() {
        let waker = Waker::new();
        // A thread that wakes the sleeper has set the flag, and is held up before it rings;
        assert!(!waker.rung.swap(true, Ordering::AcqRel));
        // the sleeper clears meanwhile.
        waker.clear();
        bell(&waker).ring();
        assert!(rings(&waker), "for once it has no reason to");
        waker.clear();
        assert!(!rings(&waker), "every sleep to come ends at once");
        waker.wake();
        assert!(rings(&waker));
    }

    #[test]
    fn each_thread_has_its_own() {
        let current = || Waker::current().expect("a waker");
        let mine = current();
        assert!(Arc::ptr_eq(&mine, &current()));
        let other = std::thread::spawn(current).join().expect("no panic");
        assert!(!Arc::ptr_eq(&mine, &other));
        other.wake();
        assert!(!rings(&mine) && rings(&other));
    }
}
