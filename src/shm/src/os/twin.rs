//! Another process, for tests.

use std::ptr;

/// A child with a copy of our memory, asleep until this is dropped. It shares our table
/// of descriptors, so that what other tests close meanwhile is closed.
pub struct Twin(libc::pid_t);

impl Twin {
    pub fn new() -> Twin {
        // SAFETY: as fork. The child does nothing but call the system, which is allowed in a
        // copy of a process with several threads.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_FILES | libc::SIGCHLD, 0, 0, 0, 0) };
        if pid == 0 {
            // SAFETY: numbers alone; the child dies with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            loop {
                // SAFETY: sleeps.
                unsafe { libc::pause() };
            }
        }
        assert!(pid > 0);
        Twin(libc::pid_t::try_from(pid).expect("a process's number"))
    }

    pub fn pid(&self) -> libc::pid_t {
        self.0
    }

    /// The number of a process that does not exist any more.
    pub fn dead() -> libc::pid_t {
        Twin::new().pid()
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: our child, not yet waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        // SAFETY: as above; no status is wanted.
        unsafe { libc::waitpid(self.0, ptr::null_mut(), 0) };
    }
}
