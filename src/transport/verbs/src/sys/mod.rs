//! Owning wrappers around the objects of libibverbs and librdmacm.
//!
//! Every value owns the objects it was made from (a queue pair its zone and completion queues, a zone its device), so
//! that nothing is closed while something still needs it. Both libraries promise that any thread may call them at any
//! time, and this makes [`Owned`] `Send` and `Sync`.
//!
//! Neither library watches its own locks over a fork. Calls of librdmacm, those that list, open and close devices, and
//! those that make descriptors are therefore made by [`with_fork_lock`]; the others take only locks of the objects that they
//! are called for, which a child never touches.
//!
//! Both libraries enter the kernel through libc, where a thread may be cancelled. So cancellation is forbidden around
//! every call here that may do so: all but those that only read a field, `ibv_poll_cq`, which looks into memory, and
//! `ibv_post_recv` and `ibv_post_srq_recv`, which write into memory. `ibv_post_send` enters the kernel for devices
//! whose queues it reads, as those of Soft-RoCE.
//!
//! A status or an event that the libraries may return but the bindings do not know is a number, which is logged and
//! mapped. A call that a signal ended, or that the system asks to repeat, is made again. A call that gives an object
//! back is made up to five times within a tenth of a second, whatever its error; if it still fails, such as
//! ibv_destroy_qp with EBUSY, the object stays until the adapter is closed, when the kernel takes all, and the log has
//! a line. The queue pair was reset by then, so the device touches no buffer. Functions newer than the librdmacm and
//! libibverbs of Debian 11 are looked up at run time.
//!
//! Since Linux 5.12 a fork copies registered pages for the child. ibv_is_fork_initialized says whether it does, or the
//! release of the kernel where rdma-core is older than 35. Then ibv_fork_init must not be called, because it would take the
//! pages away from children (MADV_DONTFORK). On older kernels it is called before a device is opened: copying on the
//! next write would give the parent pages that the device does not know.
//!
//! The library of Soft-RoCE (rdma-core 44) takes the memory of a completion queue or a shared receive queue away before
//! it maps that of the longer one; if the map fails, the next use ends the process. The provider first tries to map
//! as much itself.

pub mod cm;
pub mod cq;
pub mod datagram;
pub mod device;
mod layout;
pub mod memory;
pub mod qp;

use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io;
use std::mem;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use host::cancel::uncancelled;
use host::fork::CloseOnFork;
use host::{descriptor, fork, symbol};
use rdma_sys::*;

/// Whether both libraries have set themselves up in this process, as they have once there was a channel of librdmacm.
static SET_UP: AtomicBool = AtomicBool::new(false);

/// Memory in bytes for setting up both libraries with all drivers; those of rdma-core 44 take half as much.
const SETTING_UP: usize = 1 << 20;

/// Fails if the process lacks what the libraries take to set themselves up: descriptors for a directory, for a file in
/// it, and one to spare, and memory. They try that once: a driver that libibverbs cannot load with the first list is
/// missing for as long as the process lives, and so is a device for which librdmacm has no memory with the first
/// channel; it waits for itself for ever if it has none for any device.
///
/// # Errors
/// What the system says of the lack.
pub fn check_room() -> io::Result<()> {
    if !SET_UP.load(Ordering::Relaxed) {
        host::memory::probe(SETTING_UP)?;
    }
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(File::open("/")?);
    }
    Ok(())
}

/// Runs `f` so that no fork falls into it, with cancellation forbidden.
fn with_fork_lock<R>(f: impl FnOnce() -> R) -> R {
    uncancelled(|| fork::with_fork_lock(f))
}

/// Makes a call again, after pauses, as long as it fails in a way that `passes`.
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

/// Makes a call again that a signal ended or that the system asks to repeat: the libraries pass such errors on.
fn again<R>(call: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    let pauses = (0..20).map(|n| Duration::from_micros(n * 100));
    repeat(pauses, |error| matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)), call)
}

/// The result of a call that returns an object, or NULL and sets errno.
fn made<T>(mut call: impl FnMut() -> *mut T) -> io::Result<NonNull<T>> {
    again(|| NonNull::new(call()).ok_or_else(io::Error::last_os_error))
}

/// A kind of object of the libraries.
pub trait Object {
    /// The line of the log if an object cannot be given back.
    const STAYS: &str;

    /// Gives an object back; 0 or an errno.
    ///
    /// # Safety
    /// Nothing uses the object from now on.
    unsafe fn end(raw: *mut Self) -> c_int;
}

/// Gives kinds of objects the function of the library that ends them.
macro_rules! objects {
    ($($object:ident: $end:expr, $stays:literal;)*) => {
        $(impl Object for $object {
            const STAYS: &str = $stays;

            unsafe fn end(raw: *mut Self) -> c_int {
                // SAFETY: the caller's promise.
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
    ibv_ah: ibv_destroy_ah, "an address handle stays";
    ibv_qp: ibv_destroy_qp, "a queue pair stays";
    rdma_event_channel: |raw| { rdma_destroy_event_channel(raw); 0 }, "an event channel stays";
    // The call waits until the events that were fetched are acknowledged, which happens at once.
    rdma_cm_id: |raw| with_fork_lock(|| rdma_destroy_id(raw)), "an identifier stays";
}

/// An object of the libraries, which ends with this value; with what it was made from, which ends later, and with `N`
/// descriptors that children of a fork must not have.
pub struct Owned<T: Object, P, const N: usize = 0> {
    raw: NonNull<T>,
    notes: [CloseOnFork; N],
    descriptors: [RawFd; N],
    parent: P,
}

// SAFETY: see above: the calls for an object may come from any thread.
unsafe impl<T: Object, P: Send, const N: usize> Send for Owned<T, P, N> {}
// SAFETY: as above.
unsafe impl<T: Object, P: Sync, const N: usize> Sync for Owned<T, P, N> {}

impl<T: Object, P> Owned<T, P> {
    /// An object without descriptors.
    fn of(raw: NonNull<T>, parent: P) -> Self {
        Owned { raw, notes: [], descriptors: [], parent }
    }

    /// An object without descriptors that `call` makes of its parent.
    fn made(parent: P, mut call: impl FnMut(&P) -> *mut T) -> io::Result<Self> {
        Ok(Self::of(made(|| call(&parent))?, parent))
    }
}

impl<T: Object, P, const N: usize> Owned<T, P, N> {
    /// An object that `make` makes of its parent, and whose descriptors `fds` reads. No fork falls between the two. The
    /// last of the descriptors does not block.
    fn with_descriptors(
        parent: P,
        make: impl FnOnce(&P) -> io::Result<NonNull<T>>,
        fds: impl FnOnce(&T) -> [RawFd; N],
    ) -> io::Result<Self> {
        let owned = with_fork_lock(|| {
            let raw = make(&parent)?;
            // SAFETY: the object is live.
            let descriptors = fds(unsafe { raw.as_ref() });
            // SAFETY: they belong to the object.
            let notes = descriptors.map(|fd| CloseOnFork::new(unsafe { BorrowedFd::borrow_raw(fd) }));
            io::Result::Ok(Owned { raw, notes, descriptors, parent })
        })?;
        descriptor::never_block(owned.as_fd())?;
        // If this fails, the descriptor only lives longer than it should.
        let _ = descriptor::close_on_exec(owned.as_fd());
        Ok(owned)
    }

    fn as_ptr(&self) -> *mut T {
        self.raw.as_ptr()
    }

    /// The address by which asynchronous events name it.
    pub fn address(&self) -> usize {
        self.raw.addr().get()
    }
}

impl<T: Object, P, const N: usize> AsFd for Owned<T, P, N> {
    /// The last of its descriptors, which becomes readable when there is an event.
    fn as_fd(&self) -> BorrowedFd<'_> {
        const { assert!(N > 0, "the object has no descriptor") };
        // SAFETY: the descriptor belongs to the object, which lives as long as this value.
        unsafe { BorrowedFd::borrow_raw(self.descriptors[N - 1]) }
    }
}

impl<T: Object, P, const N: usize> Deref for Owned<T, P, N> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object lives as long as this value. The few fields that change say so where they are read.
        unsafe { self.raw.as_ref() }
    }
}

impl<T: Object, P, const N: usize> Drop for Owned<T, P, N> {
    fn drop(&mut self) {
        // SAFETY: the values whose objects need this one own it, so they are gone.
        let end = || give_back(T::STAYS, || unsafe { T::end(self.raw.as_ptr()) });
        if N == 0 {
            return end();
        }
        with_fork_lock(|| {
            self.notes.iter_mut().for_each(CloseOnFork::end);
            end();
        });
    }
}

/// The result of a call that returns 0 or an errno.
fn code(mut call: impl FnMut() -> c_int) -> io::Result<()> {
    again(|| meaning(call()))
}

/// Makes a call that gives an object back, more than once if it fails: the refusal may pass. If it does not, the object
/// stays until the device is closed, and the log says `lament`.
fn give_back(lament: &str, mut call: impl FnMut() -> c_int) {
    let pauses = [0, 1, 10, 50].map(Duration::from_millis);
    if let Err(error) = repeat(pauses, |_| true, || meaning(call())) {
        log::warn!("{lament}: {error}");
    }
}

/// Fails if the process cannot map this many bytes, and some pages more; see above.
fn must_be_mappable(bytes: usize) -> io::Result<()> {
    let bytes = bytes.saturating_add(64 << 10);
    let (access, kind) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: this makes a new mapping where the kernel finds room, and replaces none.
    let map = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: exactly the mapping that was made above, to which nothing refers.
    unsafe { libc::munmap(map, bytes) };
    Ok(())
}

/// What a number stands for that a call returned: 0 or an errno.
fn meaning(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers return a negative errno; others return -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// The first two numbers of a version.
pub fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Whether a kernel of this release copies registered pages for the child of a fork. All since 5.12 do.
fn kernel_copies(release: &str) -> bool {
    version(release) >= (5, 12)
}

/// Makes sure that memory which is registered stays the parent's when the process forks. Kernels since 5.12 copy such
/// pages for the child at once. Under older ones the library keeps the pages from the child; it must not be asked to
/// where the kernel copies, since it would do so all the same. Must be called before anything is registered.
fn keep_memory_over_forks() {
    // Before rdma-core 35 there is no such function.
    let done = match symbol::named(c"ibv_is_fork_initialized") {
        Some(found) => {
            // SAFETY: this is the function's type, and the library, which this one needs, stays as long as this one.
            let call: unsafe extern "C" fn() -> ibv_fork_status = unsafe { mem::transmute(found) };
            // SAFETY: the call takes no arguments.
            unsafe { call() != IBV_FORK_DISABLED }
        }
        None => kernel_copies(&rustix::system::uname().release().to_string_lossy()),
    };
    if done {
        return;
    }
    // SAFETY: as above; the caller makes both calls undivided, since the library notes its state without a lock.
    let failed = unsafe { ibv_fork_init() };
    if failed != 0 {
        log::warn!("after a fork, registered memory may not show what arrives: error {failed}");
    }
}

/// A string of the libraries; empty if there is none.
///
/// # Safety
/// The pointer is NULL, or that of a C string.
pub unsafe fn text(raw: *const c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
