//! Signals of the program.

/// The signals that a thread had blocked.
pub struct Mask(libc::sigset_t);

/// Keeps the program's signal handlers from running on the calling thread, and on those that it starts. Returns the
/// signals that were blocked before.
pub fn block_all() -> Mask {
    // SAFETY: the structure is plain data, and zero is a valid value.
    let [mut all, mut before]: [libc::sigset_t; 2] = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a live variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // This calls libc, which leaves out the signals that it needs itself to change users and to cancel threads.
    // SAFETY: both are live variables.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    Mask(before)
}

/// Undoes [`block_all`] on the calling thread.
pub fn restore(before: Mask) {
    // SAFETY: reads a live variable; the old mask is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before.0, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests;
