//! Another process, for tests.

use std::ptr;

/// A child with a copy of this process's memory, which sleeps until this is dropped. It shares the table of
/// descriptors, so a descriptor that another test closes is closed in the child too.
pub struct Twin(libc::pid_t);

impl Twin {
    pub fn new() -> Twin {
        // SAFETY: this acts like fork. The child only makes system calls, which is allowed in a copy of a process with
        // several threads.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_FILES | libc::SIGCHLD, 0, 0, 0, 0) };
        if pid == 0 {
            // SAFETY: the arguments are numbers; the child dies with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            loop {
                // SAFETY: the call only sleeps.
                unsafe { libc::pause() };
            }
        }
        assert!(pid > 0);
        Twin(libc::pid_t::try_from(pid).expect("a process's number"))
    }

    pub fn pid(&self) -> libc::pid_t {
        self.0
    }

    /// The number of a process that no longer exists.
    pub fn dead() -> libc::pid_t {
        Twin::new().pid()
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: the process is our child and was not waited for yet.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        // SAFETY: as above; no status is wanted.
        unsafe { libc::waitpid(self.0, ptr::null_mut(), 0) };
    }
}
