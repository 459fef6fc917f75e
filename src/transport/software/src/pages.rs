//! Checks whether pages of the program's memory can be registered.

use std::ptr;

use once_cell::sync::OnceCell;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Whether the whole range is mapped.
pub fn is_mapped(addr: u64, len: u64) -> bool {
    const PAGES: usize = 4096;
    let page = page_size();
    let mut at = addr as usize / page * page;
    let Some(end) = (addr as usize).checked_add(len as usize) else { return false };
    let mut resident = [0_u8; PAGES];
    while at < end {
        let part = (end - at).min(PAGES * page);
        // Only gaps matter, not which pages are resident.
        // SAFETY: this reads no memory of the range, and writes one byte for each page to a buffer that has room.
        if unsafe { libc::mincore(ptr::without_provenance_mut(at), part, resident.as_mut_ptr()) } != 0 {
            return false;
        }
        at += part;
    }
    true
}

/// Whether the first and the last page of a mapped range can be read, and also written if `write` is set. The pages are
/// touched as if they were used. Returns true if the kernel cannot tell.
pub fn is_accessible(addr: u64, len: u64, write: bool) -> bool {
    static KNOWN: OnceCell<bool> = OnceCell::new();
    let populate = |addr: usize, write: bool| {
        let advice = if write { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
        let page = page_size();
        let first = ptr::without_provenance_mut(addr / page * page);
        // SAFETY: this faults one page in and changes no byte of it.
        unsafe { madvise(first, page, advice) }.is_ok()
    };
    let own = 0_u8;
    let known = *KNOWN.get_or_init(|| populate((&raw const own).addr(), true));
    let last = addr + (len - 1);
    !known || (populate(addr as usize, write) && populate(last as usize, write))
}
