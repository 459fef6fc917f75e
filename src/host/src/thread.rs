//! Threads of the libraries, and the identity of the calling thread.
//!
//! The standard library needs a key of thread-specific data for every thread that it starts and for every thread that
//! asks who it is, and it ends the process if the program has taken all 1,024 of them. Nothing here needs a key: values
//! of `thread_local!` are registered with libc for each thread, and an [`Id`] has no destructor.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cancel::uncancelled;
use crate::signal;

/// The stack of a thread of a library: what the standard library gives to a thread.
const STACK: usize = 2 << 20;

type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" {
    // This is the function of the libc crate, except that the thread may end by unwinding, as pthread_exit ends it.
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int;
}

/// A thread of this process, distinct from all others that ever were. In the child of a fork the thread keeps its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(u64);

/// The address by which the processor finds the thread-local data of the calling thread: a multiple of 8, not 0, and the
/// same for every library. Costs one instruction, which an [`Id`] in a library does not. No two threads have the same at a
/// time, but a thread may get that of one that has ended.
#[inline(always)]
pub fn pointer() -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let pointer;
        // SAFETY: the word at the start of a thread's block is the block's address, by the ABI, and never changes.
        unsafe {
            std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let pointer;
        // SAFETY: the register is the thread's own, and never changes.
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
    /// The identity of this thread, 0 before anybody asked.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

impl Id {
    /// The calling thread.
    pub fn current() -> Id {
        match CURRENT.get() {
            0 => Id::new().take_on(),
            known => Id(known),
        }
    }

    fn new() -> Id {
        Id(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes this the identity of the calling thread.
    fn take_on(self) -> Id {
        CURRENT.set(self.0);
        self
    }
}

/// A thread that [`start`] started. Dropping it lets the thread go on by itself.
#[derive(Debug)]
pub struct Thread {
    native: libc::pthread_t,
    id: Id,
}

// SAFETY: any thread may name another one to the threads library, in whatever form that keeps the name.
unsafe impl Send for Thread {}
// SAFETY: as for Send.
unsafe impl Sync for Thread {}

impl Thread {
    /// The thread's identity.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Waits for the end of the thread, unless it is the calling one, which goes on by itself.
    pub fn join(self) {
        if self.id == Id::current() {
            return;
        }
        let thread = ManuallyDrop::new(self);
        // SAFETY: the thread was started joinable, and neither joined nor detached: both take the value.
        uncancelled(|| unsafe { libc::pthread_join(thread.native, ptr::null_mut()) });
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: as for joining.
        unsafe { libc::pthread_detach(self.native) };
    }
}

/// The things that a new thread begins with.
struct Beginning<F> {
    id: Id,
    name: &'static CStr,
    body: F,
}

/// Starts a thread that takes no signal of the program. A panic in `body` ends the thread; the panic hook has written
/// its line by then.
///
/// # Parameters
/// * `name` - the name that tools show, at most 15 bytes.
///
/// # Errors
/// The error of the system when it has no room for another thread or no memory for its stack.
pub fn start<F: FnOnce() + Send + 'static>(name: &'static CStr, body: F) -> io::Result<Thread> {
    start_on(STACK, name, body)
}

/// Does what [`start`] does, with a stack of `stack` bytes.
///
/// # Errors
/// As for [`start`].
pub fn start_on<F: FnOnce() + Send + 'static>(stack: usize, name: &'static CStr, body: F) -> io::Result<Thread> {
    let id = Id::new();
    let mut place: Vec<Beginning<F>> = Vec::new();
    place.try_reserve_exact(1)?;
    place.push(Beginning { id, name, body });
    let argument = ManuallyDrop::new(place).as_mut_ptr();
    match create(Some(stack), main::<F>, argument.cast()) {
        Ok(native) => Ok(Thread { native, id }),
        Err(error) => {
            // SAFETY: made above, and no thread has it.
            drop(unsafe { Vec::from_raw_parts(argument, 1, 1) });
            Err(error)
        }
    }
}

/// The first function of a thread that [`start`] starts.
extern "C-unwind" fn main<F: FnOnce()>(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `start` gives each thread the one element of a vector that is this thread's from then on.
    let beginning = unsafe { Vec::from_raw_parts(argument.cast::<Beginning<F>>(), 1, 1) }.pop();
    if let Some(Beginning { id, name, body }) = beginning {
        id.take_on();
        // A thread without a name works as well.
        // SAFETY: the name is a C string.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
        let _ = catch_unwind(AssertUnwindSafe(body));
    }
    ptr::null_mut()
}

/// Starts a joinable thread with every signal of the program blocked.
///
/// # Parameters
/// * `stack` - bytes for its stack; `None` for as much as the threads of the program have.
fn create(stack: Option<usize>, start: Start, argument: *mut c_void) -> io::Result<libc::pthread_t> {
    let mut native = MaybeUninit::<libc::pthread_t>::uninit();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mask = signal::block_all();
    // SAFETY: the place is writable. glibc's attributes own nothing before a signal mask or a set of processors is
    // added, and the call does not fail.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    if let Some(bytes) = stack {
        // SAFETY: initialised above. A size that is refused leaves the usual one.
        unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), bytes) };
    }
    // SAFETY: all places are valid; the argument is what `start` expects, as its only callers see to.
    let mut error = unsafe { pthread_create(native.as_mut_ptr(), attributes.as_ptr(), start, argument) };
    if error == libc::EINVAL && stack.is_some() {
        // The program's thread-local data take more than such a stack.
        // SAFETY: as above.
        error = unsafe { pthread_create(native.as_mut_ptr(), ptr::null(), start, argument) };
    }
    // SAFETY: initialised above, and not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    signal::restore(mask);
    match error {
        // SAFETY: success means that the thread was written.
        0 => Ok(unsafe { native.assume_init() }),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// The way in which a function that was called on a thread of its own has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned.
    Returned,
    /// It ended its thread, by pthread_exit or because it was cancelled.
    Exited,
}

/// A function that [`apart`] can call.
pub type Apart = unsafe extern "C-unwind" fn(*mut c_void);

/// A call on a thread of its own.
struct Task {
    caller: Id,
    function: Apart,
    argument: *mut c_void,
    returned: bool,
}

/// Calls a foreign function on a thread of its own and waits for its end, so that it may end its thread without
/// harm to the caller. That thread has the caller's [`Id`], since it works in its place; it takes no signal of the
/// program and has a stack like the program's own threads.
///
/// # Errors
/// The error of the system when there is no room for another thread; nothing was called then.
///
/// # Safety
/// `function` may be called with `argument` by any thread, and has no objects with destructors on its stack when it
/// ends its thread.
pub unsafe fn apart(function: Apart, argument: *mut c_void) -> io::Result<Ended> {
    let mut task = Task { caller: Id::current(), function, argument, returned: false };
    let native = create(None, run_task, (&raw mut task).cast())?;
    // SAFETY: the thread is joinable, and no other thread joins it.
    unsafe { libc::pthread_join(native, ptr::null_mut()) };
    Ok(if task.returned { Ended::Returned } else { Ended::Exited })
}

/// The first function of a thread that [`apart`] starts. Owns nothing: it may be unwound.
extern "C-unwind" fn run_task(argument: *mut c_void) -> *mut c_void {
    let task: *mut Task = argument.cast();
    // SAFETY: the task is on the stack of the caller, who waits for the end of this thread and does not touch it
    // meanwhile.
    unsafe { (*task).caller.take_on() };
    // SAFETY: the promise of `apart`'s caller.
    unsafe { ((*task).function)((*task).argument) };
    // SAFETY: as for the first access.
    unsafe { (*task).returned = true };
    ptr::null_mut()
}

#[cfg(test)]
mod tests;
