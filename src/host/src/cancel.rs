//! Control of thread cancellation (`pthread_cancel`).
//!
//! Nearly every system call of libc is a cancellation point. Cancellation would unwind frames that hold locks, and Rust
//! frames that must not be unwound. So providers disable it, except in the sleep of a wait, whose frames have no
//! destructors, and in fast calls without cancellation points. Rare operations in fast calls, such as closing a
//! descriptor ([`Shielded`]), disable cancellation themselves.
//!
//! The program must not call the library on a thread with asynchronous cancellation enabled.
//!
//! A wait sleeps in futex(2), which is no cancellation point of libc, so [`allow_anywhere`] enables asynchronous
//! cancellation for this system call. The sleep always has a timeout: then every handled signal ends it, as with
//! ppoll(2), while a sleep without timeout restarts after a handler with SA_RESTART.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;

/// Cancellation state before [`forbid`]. Plain data.
#[derive(Clone, Copy, Debug)]
pub struct Before(c_int);

/// Cancellation type before [`allow_anywhere`]. Plain data.
#[derive(Clone, Copy, Debug)]
pub struct Where(c_int);

const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

unsafe extern "C-unwind" {
    // The libc crate lacks these functions. They unwind if they enable an asynchronous cancellation that is pending.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
    // The functions that the macros of these names call in glibc and musl.
    fn _pthread_cleanup_push(place: *mut Note, routine: extern "C" fn(*mut c_void), argument: *mut c_void);
    fn _pthread_cleanup_pop(place: *mut Note, execute: c_int);
}

/// Disables cancellation of the calling thread; cancellations stay pending until [`restore`].
#[inline(always)]
pub fn forbid() -> Before {
    let mut before = 0;
    // SAFETY: the state is valid; `before` outlives the call.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
    Before(before)
}

/// Undoes [`forbid`]. Not a cancellation point.
///
/// # Parameters
/// * `before` - the value that the outermost `forbid` returned.
#[inline(always)]
pub fn restore(before: Before) {
    let mut ignored = 0;
    // SAFETY: valid before `forbid`; the pointer outlives the call.
    unsafe { pthread_setcancelstate(before.0, &mut ignored) };
}

/// Enables asynchronous cancellation: if cancellation is enabled, any later instruction can unwind.
///
/// # Safety
/// Until [`allow_as`], the caller only makes one system call. It has no destructors, and is not inlined into a function
/// that catches panics.
#[inline(always)]
pub unsafe fn allow_anywhere() -> Where {
    let mut before = 0;
    // SAFETY: the type is valid; `before` outlives the call.
    unsafe { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &mut before) };
    Where(before)
}

/// Undoes [`allow_anywhere`].
#[inline(always)]
pub fn allow_as(before: Where) {
    let mut ignored = 0;
    // SAFETY: valid before `allow_anywhere`; the pointer outlives the call.
    unsafe { pthread_setcanceltype(before.0, &mut ignored) };
}

/// A registered cleanup handler in the format of libc: see [`note`]. Plain data.
#[repr(C)]
#[derive(Debug)]
pub struct Note([*mut c_void; 4]);

impl Note {
    /// A value that is not registered.
    pub const EMPTY: Note = Note([ptr::null_mut(); 4]);
}

/// Registers `routine` as a cleanup handler of the calling frame. libc calls it with NULL if cancellation, or
/// `pthread_exit` in a signal handler, unwinds this frame; glibc also if a signal handler leaves by `longjmp`. It runs
/// before the program's own handlers.
///
/// # Safety
/// Until [`forget`], `place` must not move, and the frame may only be left in these ways.
#[inline(always)]
pub unsafe fn note(place: &mut Note, routine: extern "C" fn(*mut c_void)) {
    // SAFETY: `Note` is as large as libc's buffer, and does not move.
    unsafe { _pthread_cleanup_push(place, routine, ptr::null_mut()) };
}

/// Undoes [`note`]. Not a cancellation point.
///
/// # Safety
/// `place` belongs to the last `note` of the calling thread.
#[inline(always)]
pub unsafe fn forget(place: &mut Note) {
    // SAFETY: the caller passes the place of the thread's last `note`.
    unsafe { _pthread_cleanup_pop(place, 0) };
}

/// Runs `f` with cancellation disabled, by two uncontended exchanges. After a panic, cancellation stays disabled.
#[inline(always)]
pub fn uncancelled<R>(f: impl FnOnce() -> R) -> R {
    let before = forbid();
    let result = f();
    restore(before);
    result
}

/// A value, such as a descriptor, whose drop is a cancellation point. Drops it with cancellation disabled.
#[derive(Debug)]
pub struct Shielded<T>(ManuallyDrop<T>);

impl<T> Shielded<T> {
    /// Wraps `value`.
    pub fn new(value: T) -> Self {
        Shielded(ManuallyDrop::new(value))
    }
}

impl<T> Drop for Shielded<T> {
    fn drop(&mut self) {
        // SAFETY: the only drop; nothing uses the value afterwards.
        uncancelled(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}

impl<T> Deref for Shielded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: AsFd> AsFd for Shielded<T> {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests;
