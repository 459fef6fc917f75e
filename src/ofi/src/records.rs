//! The memory of a connection's records: slots that libfabric sends from and receives into.
//!
//! It comes straight from the system, so that it takes no page before that is used.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Slots of equal size.
pub struct Records {
    base: NonNull<u8>,
    count: usize,
    size: usize,
}

// SAFETY: it is memory of the process, which no thread accesses but through `place`, whose callers see to the rest.
unsafe impl Send for Records {}
// SAFETY: as for Send.
unsafe impl Sync for Records {}

impl Records {
    /// `count` slots of `size` bytes.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(count: usize, size: usize) -> io::Result<Records> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: the system chooses a place where nothing is.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), count * size, access, flags)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Records { base, count, size })
    }

    /// The first byte of a slot; that of the last one if there are not so many.
    #[inline]
    pub fn place(&self, at: usize) -> *mut u8 {
        // SAFETY: inside of the memory.
        unsafe { self.base.as_ptr().add(at.min(self.count - 1) * self.size) }
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: it is dropped behind the endpoint that it belongs to.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.count * self.size) };
    }
}
