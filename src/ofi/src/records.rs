//! The memory of a connection: slots for records, which libfabric sends from and receives into, and larger places for the bytes
//! of long parts that have no other.
//!
//! It comes straight from the system, so that it takes no page before that is used.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::record::{BULK, SLOT};

/// Places of [`BULK`] bytes, each of whole pages, and slots of [`SLOT`] bytes behind them.
pub struct Records {
    base: NonNull<u8>,
    slots: usize,
    places: usize,
}

// SAFETY: it is memory of the process, which no thread accesses but through `slot` and `place`, whose callers see to the rest.
unsafe impl Send for Records {}
// SAFETY: as for Send.
unsafe impl Sync for Records {}

impl Records {
    /// So many slots and places.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(slots: usize, places: usize) -> io::Result<Records> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: the system chooses a place where nothing is.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), slots * SLOT + places * BULK, access, flags)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Records { base, slots, places })
    }

    /// The first byte of a slot; that of the last one if there are not so many.
    #[inline]
    pub fn slot(&self, at: usize) -> *mut u8 {
        // SAFETY: inside of the memory.
        unsafe { self.base.as_ptr().add(self.places * BULK + at.min(self.slots - 1) * SLOT) }
    }

    /// The first byte of a place; that of the last one if there are not so many.
    pub fn place(&self, at: usize) -> *mut u8 {
        // SAFETY: inside of the memory.
        unsafe { self.base.as_ptr().add(at.min(self.places - 1) * BULK) }
    }

    /// Gives the memory of a place back to the system until it is used again.
    pub fn give_back(&self, at: usize) {
        // SAFETY: anonymous memory of this value, in which nobody has anything any more.
        let result = unsafe { madvise(self.place(at).cast(), BULK, Advice::LinuxDontNeed) };
        debug_assert_eq!(result, Ok(()));
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: it is dropped behind the endpoint that it belongs to.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.slots * SLOT + self.places * BULK) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_given_back_is_empty_and_its_neighbours_are_not() {
        let records = Records::new(2, 3).unwrap();
        let ends = |place: *mut u8| [place, place.wrapping_add(BULK - 1)];
        let all = [0, 1, 2].map(|at| ends(records.place(at))).concat();
        let slots = [0, 1].map(|at| records.slot(at));
        // SAFETY: inside of the memory, which nobody else has.
        all.iter().chain(&slots).for_each(|byte| unsafe { byte.write(7) });
        records.give_back(1);
        // SAFETY: as above.
        let read = |byte: &*mut u8| unsafe { byte.read() };
        assert_eq!(all.iter().map(read).collect::<Vec<_>>(), [7, 7, 0, 0, 7, 7]);
        assert_eq!(slots.iter().map(read).collect::<Vec<_>>(), [7, 7]);
    }
}
