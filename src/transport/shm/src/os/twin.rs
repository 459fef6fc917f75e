//! A second process for tests.

use std::ptr;

/// A sleeping child with a copy of this process's memory, killed on drop. It shares this process's descriptor table, so
/// it keeps no descriptor open that a test closes.
pub struct Twin(libc::pid_t);

impl Twin {
    pub fn new() -> Twin {
        // SAFETY: like fork, and the child only makes system calls, as a copy of a multithreaded process may.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_FILES | libc::SIGCHLD, 0, 0, 0, 0) };
        if pid == 0 {
            // SAFETY: all arguments are numbers.
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

    pub fn dead() -> libc::pid_t {
        Twin::new().pid()
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: the process is an unreaped child, so the id is its own.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        // SAFETY: the process is an unreaped child; NULL is valid for the status.
        unsafe { libc::waitpid(self.0, ptr::null_mut(), 0) };
    }
}
