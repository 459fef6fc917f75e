//! Owning wrappers around the objects of libibverbs and librdmacm.
//!
//! Each value owns its parents, so parents outlive their children: a queue pair owns its zone and completion queues, a
//! zone its device. Both libraries are thread-safe, so [`Owned`] is `Send` and `Sync`. A call that destroys an object
//! can block, so the progress thread passes the object to a thread of [`freeing`].
//!
//! # Forks
//! Neither library protects its locks across a fork. So [`with_fork_lock`] wraps calls of librdmacm, and calls that
//! list, open or close devices or create descriptors. Other calls take only locks of their own objects, which a child
//! never uses.
//!
//! Since Linux 5.12 a fork copies registered pages for the child. There ibv_fork_init must not be called, because it
//! would exclude the pages from children (MADV_DONTFORK). On older kernels it must be called before a device is opened.
//! Otherwise copy on write would give the parent new pages, while the device accesses the old ones.
//!
//! # Cancellation
//! Both libraries enter the kernel through libc, where a thread can be cancelled. So calls are made with cancellation
//! disabled, except those that only access memory: field accesses, `ibv_poll_cq`, `ibv_post_recv` and
//! `ibv_post_srq_recv`. `ibv_post_send` enters the kernel on devices such as Soft-RoCE.
//!
//! # Errors
//! Unknown statuses and events are kept as numbers. A call is repeated on EINTR and EAGAIN; a call that destroys an
//! object, on any error, up to four times within 61 ms. If it still fails, such as ibv_destroy_qp with EBUSY, a warning
//! is logged, and the object remains until the adapter is closed. Queue pairs are reset first, so the device accesses
//! no buffer. Functions newer than the libraries of Debian 11 are looked up at run time.
//!
//! Soft-RoCE's driver (rdma-core 44 to 56) resizes a completion queue or SRQ by unmapping its memory before it maps the
//! new size. If that mapping fails, the next use crashes. So [`host::memory::must_be_mappable`] first tries to map that
//! many bytes.

pub mod cm;
pub mod cq;
pub mod datagram;
pub mod device;
pub mod freeing;
mod layout;
pub mod memory;
pub mod qp;

use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use host::cancel::uncancelled;
use host::fork::CloseOnFork;
use host::{descriptor, fork, symbol};
use rdma_sys::*;

use freeing::{Ancestor, Freeing};

/// Set once both libraries are initialised, when the first event channel exists.
static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Bytes of memory for initialising both libraries with all drivers; twice what rdma-core 44 takes.
const INITIALISATION_MEMORY: usize = 1 << 20;

/// Checks that the process has the memory and descriptors that both libraries need for their initialisation. The
/// descriptors are for a directory, a file in it, and one spare.
///
/// The libraries initialise themselves only once. A driver that fails to load with the first device list is missing for
/// the lifetime of the process. So is a device for which librdmacm lacks memory with the first channel. If librdmacm
/// lacks memory for all devices, it deadlocks.
pub fn check_room() -> io::Result<()> {
    if !INITIALISED.load(Ordering::Relaxed) {
        host::memory::probe(INITIALISATION_MEMORY)?;
    }
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(File::open("/")?);
    }
    Ok(())
}

/// Runs `f` with forks and cancellation excluded.
fn with_fork_lock<R>(f: impl FnOnce() -> R) -> R {
    uncancelled(|| fork::with_fork_lock(f))
}

/// Repeats a call after each of `pauses`, while it fails with an error that `passes` accepts.
pub fn repeat<R>(
    pauses: impl IntoIterator<Item = Duration>,
    passes: impl Fn(&io::Error) -> bool,
    mut call: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    let mut pauses = pauses.into_iter();
    uncancelled(|| {
        loop {
            let answer = call();
            let Err(error) = &answer else { return answer };
            let Some(pause) = pauses.next().filter(|_| passes(error)) else { return answer };
            sleep(pause);
        }
    })
}

/// Repeats a call after EINTR or EAGAIN, which the libraries pass on, up to 20 times within 19 ms.
fn again<R>(call: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    let pauses = (0..20).map(|n| Duration::from_micros(n * 100));
    repeat(pauses, |error| matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)), call)
}

/// Executes a call that returns an object, or NULL with errno.
fn made<T>(mut call: impl FnMut() -> *mut T) -> io::Result<NonNull<T>> {
    again(|| NonNull::new(call()).ok_or_else(io::Error::last_os_error))
}

/// # Safety
/// Zero must be valid in all fields of the structure.
unsafe trait Zeroable {}

macro_rules! zeroable {
    ($($structure:ty)*) => {
        // SAFETY: all fields are numbers, pointers, or structures and unions of these.
        $(unsafe impl Zeroable for $structure {})*
    };
}

zeroable! {
    cq::Batch ibv_device_attr ibv_mw_bind ibv_port_attr ibv_qp_attr ibv_qp_init_attr ibv_send_wr rdma_conn_param
    libc::sockaddr_storage libc::stat
}

fn zeroed<T: Zeroable>() -> T {
    // SAFETY: zero is valid in all fields (contract).
    unsafe { mem::zeroed() }
}

pub trait Object: 'static {
    /// Log message if an object cannot be destroyed.
    const STAYS: &str;
    /// `true` if values are dropped under locks. Then a thread of [`freeing`] destroys the object, which can block.
    const UNDER_LOCKS: bool;

    /// Destroys an object. Returns 0 or an errno.
    ///
    /// # Safety
    /// The object must not be used again.
    unsafe fn end(raw: *mut Self) -> c_int;
}

macro_rules! objects {
    ($($object:ident: $end:expr, $stays:literal $(, $under_locks:literal)?;)*) => {
        $(impl Object for $object {
            const STAYS: &str = $stays;
            const UNDER_LOCKS: bool = false $(|| $under_locks)?;

            unsafe fn end(raw: *mut Self) -> c_int {
                // SAFETY: the object is not used again (contract).
                unsafe { $end(raw) }
            }
        })*
    };
}

objects! {
    ibv_context: ibv_close_device, "a device stays open";
    ibv_pd: ibv_dealloc_pd, "a protection zone stays";
    ibv_mr: ibv_dereg_mr, "memory stays registered";
    ibv_mw: ibv_dealloc_mw, "a memory window stays";
    ibv_comp_channel: ibv_destroy_comp_channel, "a completion channel stays";
    ibv_cq: ibv_destroy_cq, "a completion queue stays";
    ibv_srq: ibv_destroy_srq, "a shared receive queue stays";
    ibv_ah: ibv_destroy_ah, "an address handle stays", true;
    ibv_qp: ibv_destroy_qp, "a queue pair stays";
    rdma_event_channel: |raw| { rdma_destroy_event_channel(raw); 0 }, "an event channel stays";
    // This waits until the fetched events are acknowledged, which [`cm::EventChannel`] does immediately.
    rdma_cm_id: |raw| with_fork_lock(|| rdma_destroy_id(raw)), "an identifier stays";
}

/// An object of the libraries, with its parent and `N` descriptors that forked children must close.
pub struct Owned<T: Object, P: Ancestor, const N: usize = 0> {
    live: ManuallyDrop<Live<T, P, N>>,
}

/// An object that a drop destroys, in any thread.
struct Live<T: Object, P, const N: usize> {
    raw: NonNull<T>,
    notes: Option<[CloseOnFork; N]>,
    descriptors: [RawFd; N],
    parent: P,
}

// SAFETY: the libraries allow calls for an object from any thread.
unsafe impl<T: Object, P: Send, const N: usize> Send for Live<T, P, N> {}
// SAFETY: the libraries allow concurrent calls for an object.
unsafe impl<T: Object, P: Sync, const N: usize> Sync for Live<T, P, N> {}

impl<T: Object, P: Ancestor> Owned<T, P> {
    /// Wraps an object that `call` creates from its parent.
    fn made(parent: P, mut call: impl FnMut(&P) -> *mut T) -> io::Result<Self> {
        Ok(Self::of(made(|| call(&parent))?, parent))
    }
}

impl<T: Object, P: Ancestor, const N: usize> Owned<T, P, N> {
    fn of(raw: NonNull<T>, parent: P) -> Self {
        Owned { live: ManuallyDrop::new(Live { raw, notes: None, descriptors: [-1; N], parent }) }
    }

    /// Wraps an object that `make` creates from its parent. `fds` returns the object's descriptors, which forked
    /// children close; no fork happens between the two calls. Makes the last descriptor non-blocking.
    fn with_descriptors(
        parent: P,
        make: impl FnOnce(&P) -> io::Result<NonNull<T>>,
        fds: impl FnOnce(&T) -> [RawFd; N],
    ) -> io::Result<Self> {
        let owned = with_fork_lock(|| {
            let mut owned = Self::of(make(&parent)?, parent);
            let descriptors = fds(&owned);
            owned.live.descriptors = descriptors;
            // SAFETY: the object keeps its descriptors open.
            owned.live.notes = Some(descriptors.map(|fd| CloseOnFork::new(unsafe { BorrowedFd::borrow_raw(fd) })));
            io::Result::Ok(owned)
        })?;
        descriptor::never_block(owned.as_fd())?;
        // If this fails, the descriptor merely stays open after an exec.
        let _ = descriptor::close_on_exec(owned.as_fd());
        Ok(owned)
    }

    fn as_ptr(&self) -> *mut T {
        self.live.raw.as_ptr()
    }

    fn parent(&self) -> &P {
        &self.live.parent
    }

    /// Returns the address that asynchronous events contain.
    pub fn address(&self) -> usize {
        self.live.raw.addr().get()
    }
}

impl<T: Object, P: Ancestor + Sync, const N: usize> Ancestor for Arc<Owned<T, P, N>> {
    fn freeing(&self) -> &Arc<Freeing> {
        self.parent().freeing()
    }
}

impl<T: Object, P: Ancestor, const N: usize> AsFd for Owned<T, P, N> {
    /// Returns the last descriptor, readable when there is an event.
    fn as_fd(&self) -> BorrowedFd<'_> {
        const { assert!(N > 0, "the object has no descriptor") };
        // SAFETY: the descriptor belongs to the object, which lives as long as this value.
        unsafe { BorrowedFd::borrow_raw(self.live.descriptors[N - 1]) }
    }
}

impl<T: Object, P: Ancestor, const N: usize> Deref for Owned<T, P, N> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object lives as long as this value. Fields that change are documented where they are read.
        unsafe { self.live.raw.as_ref() }
    }
}

impl<T: Object, P: Ancestor, const N: usize> Drop for Owned<T, P, N> {
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        let live = unsafe { ManuallyDrop::take(&mut self.live) };
        let freeing = live.parent.freeing().clone();
        if T::UNDER_LOCKS || freeing.is_progress_thread() {
            // Without memory for the task, its drop destroys the object in this thread.
            let _ = freeing.run(move || drop(live));
        }
    }
}

impl<T: Object, P, const N: usize> Drop for Live<T, P, N> {
    fn drop(&mut self) {
        // SAFETY: the values of its children own this value, so no child exists.
        let end = || destroy(T::STAYS, || unsafe { T::end(self.raw.as_ptr()) });
        if N == 0 {
            return end();
        }
        with_fork_lock(|| {
            self.notes.iter_mut().flatten().for_each(CloseOnFork::end);
            end();
        });
    }
}

/// Executes a call that returns 0 or an errno. Repeats it after EINTR or EAGAIN.
fn code(mut call: impl FnMut() -> c_int) -> io::Result<()> {
    again(|| meaning(call()))
}

/// Executes a call that destroys an object, and repeats it on any error. If all attempts fail, logs `warning`.
fn destroy(warning: &str, mut call: impl FnMut() -> c_int) {
    let pauses = [0, 1, 10, 50].map(Duration::from_millis);
    if let Err(error) = repeat(pauses, |_| true, || meaning(call())) {
        log::warn!("{warning}: {error}");
    }
}

/// Converts the return value of a call: 0, an errno, or -1 with errno.
fn meaning(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers return a negative errno; others return -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Returns the first two numbers of a version; 0 for a number that is missing or too large.
pub fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Returns whether this kernel release copies registered pages for forked children.
fn kernel_copies(release: &str) -> bool {
    version(release) >= (5, 12)
}

/// Ensures that the parent keeps its registered pages after a fork. Called before memory is registered, and under the
/// fork lock, because the library stores its state without a lock.
fn keep_memory_over_forks() {
    // rdma-core has this function since version 35.
    let done = match symbol::named(c"ibv_is_fork_initialized") {
        Some(found) => {
            // SAFETY: this is the function's type, and libibverbs stays loaded, because this library depends on it.
            let call: unsafe extern "C" fn() -> ibv_fork_status = unsafe { mem::transmute(found) };
            // SAFETY: the call takes no arguments.
            unsafe { call() != IBV_FORK_DISABLED }
        }
        None => kernel_copies(&rustix::system::uname().release().to_string_lossy()),
    };
    if done {
        return;
    }
    // SAFETY: the call takes no arguments, and the caller holds the fork lock.
    let failed = unsafe { ibv_fork_init() };
    if failed != 0 {
        log::warn!("fork: cannot protect registered memory, so a fork may hide data that arrives: error {failed}");
    }
}

/// Copies a C string; returns "" for NULL.
///
/// # Safety
/// `raw` must be NULL or point to a C string.
pub unsafe fn text(raw: *const c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: `raw` is not NULL, so it points to a C string (contract).
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
