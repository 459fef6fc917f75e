//! Threads of the libraries, and the identity of the calling thread.
//!
//! The standard library needs a pthread key for both, and ends the process if the program has used up all 1,024. This
//! module needs none.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cancel::uncancelled;
use crate::signal;

/// Default stack size in bytes, as in the standard library.
const STACK: usize = 2 << 20;

type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" {
    // Unlike in the libc crate, `start` may unwind, because pthread_exit does.
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int;
}

/// A unique identity of a thread of this process, also in the child of a fork. Only a thread of [`apart`] shares its
/// caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(u64);

/// Returns the thread pointer, the address of the calling thread's data: a multiple of 8, not 0, and the same in every
/// library. Faster than an [`Id`], but a later thread may have the same pointer.
#[inline(always)]
pub fn pointer() -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let pointer;
        // SAFETY: by the ABI, this word is the thread pointer, and never changes.
        unsafe {
            std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let pointer;
        // SAFETY: the register is the thread pointer, and never changes.
        unsafe {
            std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    CURRENT.with(|current| ptr::from_ref(current).addr())
}

static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// 0 before the first use.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

impl Id {
    /// Returns the identity of the calling thread.
    pub fn current() -> Id {
        match CURRENT.get() {
            0 => Id::new().take_on(),
            known => Id(known),
        }
    }

    fn new() -> Id {
        Id(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn take_on(self) -> Id {
        CURRENT.set(self.0);
        self
    }
}

/// A thread of [`start`]. It continues after this value is dropped.
#[derive(Debug)]
pub struct Thread {
    native: libc::pthread_t,
    id: Id,
}

// SAFETY: pthread_t may be used by any thread.
unsafe impl Send for Thread {}
// SAFETY: pthread_t may be used by any thread.
unsafe impl Sync for Thread {}

impl Thread {
    /// Returns the identity of the thread.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Waits for the end of the thread. If it is the calling thread, only detaches it.
    pub fn join(self) {
        if self.id == Id::current() {
            return;
        }
        let thread = ManuallyDrop::new(self);
        // SAFETY: the thread is joinable; `self` is consumed and not detached.
        uncancelled(|| unsafe { libc::pthread_join(thread.native, ptr::null_mut()) });
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: the thread is joinable, and was not joined.
        unsafe { libc::pthread_detach(self.native) };
    }
}

struct Beginning<F> {
    id: Id,
    name: &'static CStr,
    body: F,
}

/// Returns the result of `body`, or `None` after a panic, which the panic hook has logged.
pub fn isolate<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Starts a thread that handles no signal of the program. A panic in `body` ends only the thread.
///
/// # Parameters
/// * `name` - at most 15 bytes.
///
/// # Errors
/// The error of the system, for too many threads or lack of memory.
pub fn start<F: FnOnce() + Send + 'static>(name: &'static CStr, body: F) -> io::Result<Thread> {
    start_on(STACK, name, body)
}

/// Starts a thread like [`start`], with `stack` bytes of stack.
pub fn start_on<F: FnOnce() + Send + 'static>(stack: usize, name: &'static CStr, body: F) -> io::Result<Thread> {
    let id = Id::new();
    let mut place: Vec<Beginning<F>> = Vec::new();
    place.try_reserve_exact(1)?;
    place.push(Beginning { id, name, body });
    let argument = ManuallyDrop::new(place).as_mut_ptr();
    match create(Some(stack), main::<F>, argument.cast()) {
        Ok(native) => Ok(Thread { native, id }),
        Err(error) => {
            // SAFETY: leaked above, and no thread has it.
            drop(unsafe { Vec::from_raw_parts(argument, 1, 1) });
            Err(error)
        }
    }
}

extern "C-unwind" fn main<F: FnOnce()>(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `start_on` passes a leaked vector with one element.
    let beginning = unsafe { Vec::from_raw_parts(argument.cast::<Beginning<F>>(), 1, 1) }.pop();
    if let Some(Beginning { id, name, body }) = beginning {
        id.take_on();
        // The thread works even if this fails.
        let _ = rustix::thread::set_name(name);
        isolate(body);
    }
    ptr::null_mut()
}

/// Starts a joinable thread that blocks every signal of the program, with `stack` bytes of stack or the default.
fn create(stack: Option<usize>, start: Start, argument: *mut c_void) -> io::Result<libc::pthread_t> {
    let mut native = MaybeUninit::<libc::pthread_t>::uninit();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mask = signal::block_all();
    // SAFETY: `attributes` is writable. In glibc, the call cannot fail, and these attributes own no memory.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    if let Some(bytes) = stack {
        // SAFETY: initialised above. A failure leaves the default.
        unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), bytes) };
    }
    // SAFETY: the pointers are valid, and `argument` is what `start` expects.
    let mut error = unsafe { pthread_create(native.as_mut_ptr(), attributes.as_ptr(), start, argument) };
    if error == libc::EINVAL && stack.is_some() {
        // The stack is too small for the program's thread-local data, so the thread gets the default size.
        // SAFETY: the pointers are valid, and `argument` is what `start` expects.
        error = unsafe { pthread_create(native.as_mut_ptr(), ptr::null(), start, argument) };
    }
    // SAFETY: initialised above, and not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    signal::restore(mask);
    match error {
        // SAFETY: pthread_create has set `native`.
        0 => Ok(unsafe { native.assume_init() }),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// How the function that [`apart`] called has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The function returned.
    Returned,
    /// The function ended its thread, by pthread_exit or cancellation.
    Exited,
}

/// A function for [`apart`].
pub type Apart = unsafe extern "C-unwind" fn(*mut c_void);

struct Task {
    caller: Id,
    function: Apart,
    argument: *mut c_void,
    returned: bool,
}

/// Calls a foreign function that may end its thread, on a new thread, and waits for the end. The new thread has the
/// caller's [`Id`], handles no signal of the program, and has the default stack size.
///
/// # Errors
/// The error of the system if it cannot create a thread. Then nothing was called.
///
/// # Safety
/// Any thread may call `function` with `argument`. If the function ends its thread, its stack contains no destructors.
pub unsafe fn apart(function: Apart, argument: *mut c_void) -> io::Result<Ended> {
    let mut task = Task { caller: Id::current(), function, argument, returned: false };
    let native = create(None, run_task, (&raw mut task).cast())?;
    // SAFETY: the thread is joinable, and no other thread joins it.
    unsafe { libc::pthread_join(native, ptr::null_mut()) };
    Ok(if task.returned { Ended::Returned } else { Ended::Exited })
}

/// Runs a [`Task`]. Has no destructors, because it may be unwound.
extern "C-unwind" fn run_task(argument: *mut c_void) -> *mut c_void {
    // SAFETY: a `Task` on the stack of `apart`, which waits for this thread.
    let task = unsafe { &mut *argument.cast::<Task>() };
    task.caller.take_on();
    // SAFETY: the caller of `apart` permits this call.
    unsafe { (task.function)(task.argument) };
    task.returned = true;
    ptr::null_mut()
}

#[cfg(test)]
mod tests;
