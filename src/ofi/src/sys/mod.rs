//! libfabric, as far as it is used: objects that close what they are, and keep alive what they were made from.
//!
//! All of it may be called from any thread: the domain is opened with `FI_THREAD_SAFE`, and libfabric's queues and fabrics are
//! always safe. A context is a number that libfabric hands back and never looks behind, since no mode bit is granted to it.

mod abi;
mod cm;
mod descriptors;
mod ep;
mod fabric;
mod listener;
mod load;
mod queue;
mod queues;
mod socket;

pub use cm::{CmEvent, EventQueue, Info, Passive};
pub use ep::{Ep, VECS};
pub use fabric::Fabric;
pub use load::{Load, load};
pub use queue::Completion;
pub use queues::Queues;

use std::ffi::{CStr, c_int};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use abi::{FiInfo, Fid};
use dat_core::addr::Address;
use queue::Cq;

/// An error of libfabric: a number of the system, or one of libfabric's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiError(pub i32);

impl FiError {
    /// Whether the call can be made again soon.
    pub fn is_busy(self) -> bool {
        self.0 == libc::EAGAIN
    }

    /// Checks what a call has returned: a negative error, or a result.
    fn check(result: isize) -> Result<usize, FiError> {
        usize::try_from(result).map_err(|_| FiError(result.unsigned_abs() as i32))
    }
}

impl fmt::Display for FiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = load().ok().map(|library| {
            // SAFETY: it takes any number and gives a C string that stays.
            unsafe { CStr::from_ptr((library.strerror)(self.0)) }.to_string_lossy()
        });
        write!(f, "{} ({})", text.unwrap_or_default(), self.0)
    }
}

/// Shares an object, which is closed if there is no memory for that.
fn shared<T>(object: T) -> Result<Arc<T>, FiError> {
    host::memory::arc(object).map_err(|_| FiError(libc::ENOMEM))
}

/// Closes an object.
///
/// # Safety
/// It is open, and nobody uses it any more.
unsafe fn close(fid: *mut Fid) -> Result<(), FiError> {
    // SAFETY: an open object has its operations (contract).
    let result = unsafe { ((*(*fid).ops).close)(fid) };
    FiError::check(result as isize).map(|_| ())
}

/// Binds an object to another one.
///
/// # Safety
/// Both are open.
unsafe fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> Result<(), FiError> {
    // SAFETY: as for `close`.
    let result = unsafe { ((*(*fid).ops).bind)(fid, to, flags) };
    FiError::check(result as isize).map(|_| ())
}

/// The descriptor of a queue.
///
/// # Safety
/// It is an open queue that was made with `FI_WAIT_FD`.
unsafe fn descriptor(fid: *mut Fid) -> Result<c_int, FiError> {
    let mut fd: c_int = -1;
    // SAFETY: as for `close`; the queue stores a descriptor.
    let result = unsafe { ((*(*fid).ops).control)(fid, abi::FI_GETWAIT, (&raw mut fd).cast()) };
    FiError::check(result as isize).map(|_| fd)
}

/// The bytes of an address, and how many they are.
fn native(address: SocketAddr) -> (Address, usize) {
    (Address::new(address), if address.is_ipv4() { 16 } else { 28 })
}

/// Reads the address at `place`.
///
/// # Safety
/// It is NULL, or `len` bytes can be read there.
unsafe fn read_address(place: *const u8, len: usize) -> Option<SocketAddr> {
    if place.is_null() {
        return None;
    }
    // SAFETY: as the contract says.
    let bytes = unsafe { std::slice::from_raw_parts(place, len) };
    let address = Address::from_native(bytes)?;
    Some(SocketAddr::new(address.ip(), address.port()))
}

/// A description of libfabric's, which it has made; freed when it goes.
struct OwnedInfo(*mut FiInfo);

// SAFETY: it is memory that only its owner uses.
unsafe impl Send for OwnedInfo {}
// SAFETY: as for Send; it is only read while it is shared.
unsafe impl Sync for OwnedInfo {}

impl OwnedInfo {
    /// A copy of a description, or an empty one.
    fn copy(of: Option<&OwnedInfo>) -> Result<OwnedInfo, FiError> {
        let library = load().map_err(|_| FiError(libc::ENOSYS))?;
        let of = of.map_or(std::ptr::null(), |of| of.0.cast_const());
        // SAFETY: NULL or a description.
        let copy = unsafe { (library.dupinfo)(of) };
        if copy.is_null() { Err(FiError(libc::ENOMEM)) } else { Ok(OwnedInfo(copy)) }
    }

    fn get(&self) -> &FiInfo {
        // SAFETY: a description that lives as long as this.
        unsafe { &*self.0 }
    }

    fn get_mut(&mut self) -> &mut FiInfo {
        // SAFETY: as above, and nobody else has it.
        unsafe { &mut *self.0 }
    }

    /// Sets the address of this side. It is libfabric's from then on, which frees it with the C library's `free`.
    fn set_source(&mut self, source: SocketAddr) -> Result<(), FiError> {
        let (address, len) = native(source);
        // SAFETY: the memory is written as far as it was taken; what was there before was taken in the same way.
        unsafe {
            let place = libc::malloc(len);
            if place.is_null() {
                return Err(FiError(libc::ENOMEM));
            }
            std::ptr::copy_nonoverlapping(address.native().as_ptr(), place.cast(), len);
            let info = self.get_mut();
            libc::free(info.src_addr);
            info.src_addr = place;
            info.src_addrlen = len;
        }
        Ok(())
    }
}

impl Drop for OwnedInfo {
    fn drop(&mut self) {
        if let Ok(library) = load() {
            // SAFETY: a description that nobody else has.
            unsafe { (library.freeinfo)(self.0) };
        }
    }
}

#[cfg(test)]
mod tests;
