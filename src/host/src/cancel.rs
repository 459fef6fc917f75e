//! Cancellation of threads: the places where `pthread_cancel` may end a thread.
//!
//! Cancellation unwinds the stack from a system call of libc, and nearly every one is a cancellation point: closing a
//! descriptor with the last reference to it, loading a library, writing a line to the log. It would unwind frames that
//! hold locks and that Rust does not allow to be unwound. So a face forbids cancellation everywhere except in the sleep
//! of a wait, whose frames own nothing, and in fast calls of transports that say that they reach no cancellation point.
//! What such calls can reach, and is one after all, forbids cancellation itself: closing a descriptor ([`Shielded`]),
//! waiting for the end of a thread, reading a file.
//!
//! A program that lets a thread be cancelled asynchronously, at any instruction, may call nothing meanwhile.
//!
//! The sleep on a word is futex(2), which is no cancellation point of libc. For that one system call the thread can be
//! cancelled at any instruction, in a function of its own without anything to be dropped. The call always has a time
//! limit: only then every handled signal ends it, as with ppoll(2), instead of restarting it after handlers with
//! SA_RESTART.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;

/// Whether a thread could be cancelled before [`forbid`]. Plain data.
#[derive(Clone, Copy, Debug)]
pub struct Before(c_int);

/// Where a thread could be cancelled before [`allow_anywhere`]. Plain data.
#[derive(Clone, Copy, Debug)]
pub struct Where(c_int);

const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

unsafe extern "C-unwind" {
    // Not in the libc crate. They may unwind when they let an asynchronous cancellation in.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
    // What pthread_cleanup_push and _pop were before they were macros; both libcs keep them.
    fn _pthread_cleanup_push(place: *mut Note, routine: extern "C" fn(*mut c_void), argument: *mut c_void);
    fn _pthread_cleanup_pop(place: *mut Note, execute: c_int);
}

/// Makes cancellations of the calling thread wait from now on.
#[inline(always)]
pub fn forbid() -> Before {
    let mut before = 0;
    // SAFETY: the state is one of the two that exist; `before` outlives the call.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
    Before(before)
}

/// Undoes [`forbid`]. It is no cancellation point itself.
///
/// # Parameters
/// * `before` - the value that the outermost `forbid` returned.
#[inline(always)]
pub fn restore(before: Before) {
    let mut ignored = 0;
    // SAFETY: the state is the one that was in force; the pointer outlives the call.
    unsafe { pthread_setcancelstate(before.0, &mut ignored) };
}

/// From now on the calling thread may be cancelled at any instruction, if it may be cancelled at all; a cancellation that
/// waits already unwinds from here.
///
/// # Safety
/// Until [`allow_as`] the caller makes one system call and nothing else, in a function that owns nothing and whose calls
/// all lie outside of what catches panics: the unwinding may begin at any of its instructions.
#[inline(always)]
pub unsafe fn allow_anywhere() -> Where {
    let mut before = 0;
    // SAFETY: the kind is one of the two that exist; `before` outlives the call.
    unsafe { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &mut before) };
    Where(before)
}

/// Undoes [`allow_anywhere`].
#[inline(always)]
pub fn allow_as(before: Where) {
    let mut ignored = 0;
    // SAFETY: the kind is the one that was in force; the pointer outlives the call.
    unsafe { pthread_setcanceltype(before.0, &mut ignored) };
}

/// The place of a note on the stack of a thread: see [`note`]. Plain data, which libc knows.
#[repr(C)]
#[derive(Debug)]
pub struct Note([*mut c_void; 4]);

impl Note {
    /// Nothing is noted.
    pub const EMPTY: Note = Note([ptr::null_mut(); 4]);
}

/// Has `routine` called with NULL when the calling thread is unwound to the frame that has `place`, because it is cancelled or
/// leaves by `pthread_exit` in a signal handler; that is before any handler that the program has noted for that itself. Glibc
/// calls it as well when a signal handler leaves by `longjmp`.
///
/// # Safety
/// `place` stays where it is until [`forget`], and the frame is left in no other way before that.
#[inline(always)]
pub unsafe fn note(place: &mut Note, routine: extern "C" fn(*mut c_void)) {
    // SAFETY: the place is as large as the buffer of any libc, and stays.
    unsafe { _pthread_cleanup_push(place, routine, ptr::null_mut()) };
}

/// Undoes [`note`]. It is no cancellation point itself.
///
/// # Safety
/// `place` is that of the last note of the calling thread.
#[inline(always)]
pub unsafe fn forget(place: &mut Note) {
    // SAFETY: the caller's promise.
    unsafe { _pthread_cleanup_pop(place, 0) };
}

/// Runs `f` with cancellation of the thread forbidden: two uncontended exchanges, no system call. After a panic of `f`
/// it stays forbidden.
#[inline(always)]
pub fn uncancelled<R>(f: impl FnOnce() -> R) -> R {
    let before = forbid();
    let result = f();
    restore(before);
    result
}

/// A value that is dropped with cancellation of the thread forbidden, because that is a cancellation point: a
/// descriptor. Calls that do not forbid cancellation may drop the last reference to it.
#[derive(Debug)]
pub struct Shielded<T>(ManuallyDrop<T>);

impl<T> Shielded<T> {
    /// Shields a value.
    pub fn new(value: T) -> Self {
        Shielded(ManuallyDrop::new(value))
    }
}

impl<T> Drop for Shielded<T> {
    fn drop(&mut self) {
        // SAFETY: the value is dropped once, and not used again.
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
