//! Signal masks of threads.

/// A saved signal mask.
pub struct Mask(libc::sigset_t);

/// Blocks all signals on the calling thread and on threads that it creates, so the program's handlers do not run there.
/// Returns the previous mask.
pub fn block_all() -> Mask {
    // SAFETY: the type is plain data, for which zero is valid.
    let [mut all, mut before]: [libc::sigset_t; 2] = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a live variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // libc leaves out the signals that it uses itself to change users and to cancel threads.
    // SAFETY: both are live variables.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    Mask(before)
}

/// Undoes [`block_all`] on the calling thread.
pub fn restore(before: Mask) {
    // SAFETY: reads a live variable; the old mask may be NULL.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before.0, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests;
