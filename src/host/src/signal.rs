//! Signals of the program.

/// Keeps the program's signal handlers from running on the calling thread.
pub fn block_all() {
    block();
}

/// Calls `f` with the program's signals blocked; a thread that it starts has them blocked from its first moment.
pub fn with_all_blocked<R>(f: impl FnOnce() -> R) -> R {
    let before = block();
    let result = f();
    // SAFETY: reads a live variable; the mask in between is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}

/// Blocks the program's signals on the calling thread; gives the mask from before.
fn block() -> libc::sigset_t {
    // SAFETY: the structure is plain data, and zero is a valid value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a live variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // This calls libc, which leaves out the signals that it needs itself to change users and to cancel threads.
    // SAFETY: the structure is plain data, and zero is a valid value.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: reads a live variable and writes another one.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn blocked() -> u64 {
        let text = fs::read_to_string("/proc/thread-self/status").expect("status");
        let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("SigBlk");
        u64::from_str_radix(mask.trim(), 16).expect("a mask")
    }

    #[test]
    fn a_thread_that_is_started_meanwhile_takes_no_signal_and_the_starter_does_again() {
        let before = blocked();
        let thread = with_all_blocked(|| std::thread::spawn(blocked));
        assert_eq!(blocked(), before);
        let terminate = 1 << (libc::SIGTERM - 1);
        assert_ne!(thread.join().expect("no panic") & terminate, 0);
    }

    #[test]
    fn a_thread_takes_no_signal_but_those_of_libc() {
        let mask = std::thread::spawn(move || {
            block_all();
            blocked()
        });
        let mask = mask.join().expect("no panic");
        let has = |signal: i32| mask & 1 << (signal - 1) != 0;
        assert!([libc::SIGTERM, libc::SIGUSR1, libc::SIGALRM, libc::SIGPIPE, 64].into_iter().all(has));
        // 33 is SIGSETXID of glibc: blocked, it would hang the program's setuid().
        assert!(!has(33));
    }
}
