//! Checks of memory before registration, and pages that can be unmapped.

use std::ptr::{self, NonNull};
use std::slice;

use host::memory::NoMemory;
use once_cell::sync::OnceCell;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// Zeroed pages, which take memory after their first use. Unlike a free by an allocator, a drop returns the memory to
/// the system.
pub struct Pages(NonNull<[u8]>);

// SAFETY: no other value refers to the memory.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps `len` bytes, at least one.
    pub fn new(len: usize) -> Result<Pages, NoMemory> {
        // SAFETY: the kernel chooses a range that is not in use.
        let base =
            unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        let base = base.ok().and_then(|base| NonNull::new(base.cast())).ok_or(NoMemory)?;
        Ok(Pages(NonNull::slice_from_raw_parts(base, len)))
    }

    /// Returns the address.
    pub fn addr(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// Returns a part of the memory; `None` if it is outside. Other threads may read other parts by address.
    pub fn part(&mut self, start: usize, len: usize) -> Option<&mut [u8]> {
        let whole = start.checked_add(len).is_some_and(|end| end <= self.0.len());
        // SAFETY: the part is within the mapped and initialised range, and only this value refers to it.
        whole.then(|| unsafe { slice::from_raw_parts_mut(self.0.as_ptr().cast::<u8>().wrapping_add(start), len) })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the range was mapped as a whole, and no reference to it is left.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), self.0.len()) };
    }
}

/// Returns whether the whole range is mapped.
pub fn is_mapped(addr: u64, len: u64) -> bool {
    const PAGES: usize = 4096;
    let page = page_size();
    let mut at = addr as usize / page * page;
    let Some(end) = (addr as usize).checked_add(len as usize) else { return false };
    let mut resident = [0_u8; PAGES];
    while at < end {
        let part = (end - at).min(PAGES * page);
        // The call fails if a page is unmapped.
        // SAFETY: mincore reads no memory of the range, and writes one byte per page to a buffer with room for them.
        if unsafe { libc::mincore(ptr::without_provenance_mut(at), part, resident.as_mut_ptr()) } != 0 {
            return false;
        }
        at += part;
    }
    true
}

/// Returns whether the first and last page of a mapped range are readable and, with `write`, writable. Faults them in.
/// Before Linux 5.14, always returns `true`.
pub fn is_accessible(addr: u64, len: u64, write: bool) -> bool {
    static KNOWN: OnceCell<bool> = OnceCell::new();
    let populate = |addr: usize, write: bool| {
        let advice = if write { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
        let page = page_size();
        let first = ptr::without_provenance_mut(addr / page * page);
        // SAFETY: this faults in one page and changes no byte.
        unsafe { madvise(first, page, advice) }.is_ok()
    };
    let own = 0_u8;
    let known = *KNOWN.get_or_init(|| populate((&raw const own).addr(), true));
    let last = addr + (len - 1);
    !known || (populate(addr as usize, write) && populate(last as usize, write))
}
