//! A range of addresses that is reserved in one operation, and gets memory from its start as it grows.
//!
//! The range takes no memory and does not count towards overcommit until it is used. It never moves, and is never
//! unmapped.

use std::ptr;

use crate::limit;
use crate::memory::NoMemory;

/// Divisor: if the address space is limited, one range takes at most a 64th of it, but at least its minimum size.
const SHARE: u64 = 64;

/// A reserved range, whose first bytes are zeroed memory.
#[derive(Debug)]
pub struct AddressSpace {
    /// The address is exposed: integers can become pointers to the memory.
    start: usize,
    reserved: usize,
    committed: usize,
}

impl AddressSpace {
    /// Reserves `size` bytes; less, but at least `min`, if RLIMIT_AS is low. Both are powers of two, and multiples of
    /// the page size.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn reserve(size: usize, min: usize) -> Result<Self, NoMemory> {
        let share = limit::address_space().ok().flatten().map_or(size, |limit| (limit / SHARE) as usize);
        let mut size = size;
        while size > min && (size > share || cfg!(miri)) {
            size /= 2;
        }
        loop {
            match map(size) {
                Some(start) => return Ok(AddressSpace { start, reserved: size, committed: 0 }),
                None if size / 2 >= min => size /= 2,
                None => return Err(NoMemory),
            }
        }
    }

    /// Returns the address of the range, which is exposed.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the number of bytes that have memory.
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// Commits memory to the next `size` bytes, a multiple of the page size.
    ///
    /// # Errors
    /// [`NoMemory`] at the end of the range, or if the system has none.
    pub fn commit(&mut self, size: usize) -> Result<(), NoMemory> {
        let end = self.committed.checked_add(size).filter(|&end| end <= self.reserved).ok_or(NoMemory)?;
        let at = ptr::with_exposed_provenance_mut(self.start + self.committed);
        // SAFETY: these pages belong to the range, and nothing uses them yet.
        if !cfg!(miri) && unsafe { libc::mprotect(at, size, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(NoMemory);
        }
        self.committed = end;
        Ok(())
    }
}

fn map(size: usize) -> Option<usize> {
    // Miri has no mprotect(2).
    let protection = if cfg!(miri) { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses the address, so it replaces no mapping.
    let start = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then(|| start.expose_provenance())
}

#[cfg(test)]
mod tests;
