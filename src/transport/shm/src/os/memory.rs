//! Memory shared between processes: sealed memfds of fixed size, or that only grow.
//!
//! Either side extends growing memory, which never shrinks, so checked ranges stay valid. Memory that grows or is sent
//! to peers keeps its descriptor ([`SharedFile`]).
//!
//! A peer can write a [`SharedMemory`] at any time. Atomic words are accessed as atomics ([`SharedMemory::at`]), other
//! bytes copied by address, without references. So a malicious peer can only corrupt the bytes, and not cause undefined
//! behaviour.

use std::io;
use std::mem;
use std::ops::{Deref, RangeInclusive};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use dat_software::user::Target;
use host::cancel::Shielded;
use host::limit;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use host::word::Word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Grow,
    ReadWrite,
    ReadOnly,
}

const OUTSIDE: io::ErrorKind = io::ErrorKind::InvalidInput;

pub type Found<T> = Result<T, io::ErrorKind>;

/// Types that can be in memory to which peers write.
///
/// # Safety
/// The type must consist of atomic integers, `Shared` types and padding, so any bit pattern is a value and any change
/// an atomic store. It must have a fixed layout (`repr(C)` or `repr(transparent)`) and no destructor.
pub unsafe trait Shared: Sync + 'static {}

/// [`Shared`] types that a read-only mapping can contain.
///
/// # Safety
/// The conditions of [`Shared`] hold, and the methods only load, with [`Ordering::Relaxed`]: other accesses may need
/// write permission.
pub unsafe trait SharedView: Sync + 'static {}

// SAFETY: an atomic integer, for which any bit pattern is a value.
unsafe impl Shared for AtomicU8 {}
// SAFETY: an atomic integer, for which any bit pattern is a value.
unsafe impl Shared for AtomicU32 {}
// SAFETY: an atomic integer, for which any bit pattern is a value.
unsafe impl Shared for AtomicU64 {}
// SAFETY: an array is a contiguous sequence of its elements.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

#[derive(Debug)]
#[repr(transparent)]
pub struct View<W>(W);

impl<W: Word> View<W> {
    #[inline]
    pub fn load(&self) -> W::Value {
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: an atomic integer whose only method is a relaxed load.
unsafe impl<W: Word + Shared> SharedView for View<W> {}

#[derive(Debug)]
pub struct SharedFile(Shielded<OwnedFd>);

/// A mapping of shared memory that children of `fork` do not inherit. The kernel frees the memory with its last mapping
/// and descriptor.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<u8>,
    len: usize,
    access: Access,
}

// SAFETY: the mapping belongs to no thread, and is accessed only by atomics and raw copies.
unsafe impl Send for SharedMemory {}
// SAFETY: all accesses through a shared reference are atomics and raw copies.
unsafe impl Sync for SharedMemory {}

/// Required seals: no peer can truncate memory that this process has mapped.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::SEAL);

impl Access {
    fn seals(self) -> SealFlags {
        if self == Access::Grow { SEALS } else { SEALS | SealFlags::GROW }
    }
}

impl SharedFile {
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn size(&self) -> io::Result<usize> {
        usize::try_from(fstat(&self.0)?.st_size).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Maps `len` bytes at `offset`, a multiple of the page size, read-write, and extends the file if necessary.
    pub fn window(&self, offset: usize, len: usize) -> io::Result<SharedMemory> {
        self.extend(offset.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?)?;
        self.map(offset, len, Access::ReadWrite)
    }

    fn extend(&self, len: usize) -> io::Result<()> {
        if self.size()? >= len {
            return Ok(());
        }
        // Above the limit, ftruncate would raise SIGXFSZ.
        if limit::file_size().ok().flatten().is_some_and(|most| len as u64 > most) {
            let text = format!("shared memory of {len} bytes is more than the limit for files (ulimit -f)");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        match ftruncate(&self.0, len as u64) {
            Ok(()) => Ok(()),
            // The peer has concurrently extended the file beyond `len`, so this call would have shrunk it, which the
            // seal forbids.
            Err(Errno::PERM) if self.size()? >= len => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn map(&self, offset: usize, len: usize, access: Access) -> io::Result<SharedMemory> {
        if len == 0 || isize::try_from(len).is_err() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let protection = match access {
            Access::ReadOnly => ProtFlags::READ,
            Access::ReadWrite | Access::Grow => ProtFlags::READ | ProtFlags::WRITE,
        };
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses the address, so no mapping is replaced.
        let base = unsafe { mmap(ptr::null_mut(), len, protection, flags, &self.0, offset as u64) }?;
        let Some(base) = NonNull::new(base.cast::<u8>()) else {
            return Err(io::ErrorKind::OutOfMemory.into()); // the kernel never chooses page 0
        };
        let memory = SharedMemory { base, len, access };
        // SAFETY: the range is exactly the new mapping, and the advice only hides it from children.
        unsafe { madvise(base.as_ptr().cast(), len, Advice::LinuxDontFork) }?;
        Ok(memory)
    }
}

impl SharedMemory {
    /// Creates zeroed shared memory of `size` bytes, to which peers get the access `peers`. `name` appears in
    /// /proc/PID/maps. [`SharedFile::window`] extends growing memory.
    ///
    /// # Errors
    /// A system error; `FileTooLarge` above the process's file size limit; `InvalidInput` for a size of 0 or above
    /// `isize::MAX`.
    pub fn create(name: &str, size: usize, peers: Access) -> io::Result<(SharedFile, SharedMemory)> {
        let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let file = SharedFile(Shielded::new(fd));
        file.extend(size)?;
        let memory = file.map(0, size, Access::ReadWrite)?;
        let seals = peers.seals();
        // The seal forbids only later writable mappings, so this process has mapped first.
        if peers == Access::ReadOnly && fcntl_add_seals(&file.0, seals | SealFlags::FUTURE_WRITE).is_ok() {
            return Ok((file, memory));
        }
        if peers == Access::ReadOnly {
            log::debug!("shm: the kernel knows no F_SEAL_FUTURE_WRITE; peers are trusted not to write {name:?}");
        }
        fcntl_add_seals(&file.0, seals)?;
        Ok((file, memory))
    }

    /// Maps a peer's memory, whose size must be in `sizes`: completely, or, with [`Access::Grow`], only the minimum of
    /// `sizes`.
    ///
    /// # Errors
    /// `InvalidData` for another size, or if the file is not a sealed memfd of ordinary pages; or a system error.
    pub fn open(fd: OwnedFd, sizes: RangeInclusive<usize>, access: Access) -> io::Result<(SharedFile, SharedMemory)> {
        let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, format!("the peer's memory {why}")));
        if !fcntl_get_seals(&fd).is_ok_and(|found| found.contains(access.seals())) {
            return refuse("is not a sealed memfd");
        }
        // hugetlbfs files can be sealed too, but an access faults if the pool is empty.
        if fstatfs(&fd)?.f_type != libc::TMPFS_MAGIC {
            return refuse("is not of ordinary pages");
        }
        let file = SharedFile(Shielded::new(fd));
        let found = file.size()?;
        if !sizes.contains(&found) {
            return refuse(&format!("has {found} bytes, not {sizes:?}"));
        }
        let memory = file.map(0, if access == Access::Grow { *sizes.start() } else { found }, access)?;
        Ok((file, memory))
    }

    #[inline]
    fn range(&self, offset: usize, len: usize, align: usize) -> Found<NonNull<u8>> {
        // An access beyond the end would raise SIGBUS.
        let fits = offset <= self.len && len <= self.len - offset;
        // The mapping starts at a page, so offset and address have the same alignment.
        if !fits || offset % align != 0 {
            return Err(OUTSIDE);
        }
        // SAFETY: the offset is at most the length of the mapping.
        Ok(unsafe { self.base.add(offset) })
    }

    #[inline]
    fn writable(&self, offset: usize, len: usize, align: usize) -> Found<NonNull<u8>> {
        if self.access == Access::ReadOnly {
            return Err(OUTSIDE);
        }
        self.range(offset, len, align)
    }

    /// Returns the atomic words at `offset`; `InvalidInput` if they are outside, misaligned or read-only.
    #[inline]
    pub fn at<T: Shared>(&self, offset: usize) -> Found<&T> {
        const { assert!(align_of::<T>() <= 4096 && !mem::needs_drop::<T>()) };
        let at = self.writable(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: the words are in the mapping, aligned, writable, and mapped as long as `self` lives. Their type
        // allows any bits and concurrent changes (Shared).
        Ok(unsafe { at.cast::<T>().as_ref() })
    }

    /// Returns the atomic words at `offset` for reading; `InvalidInput` if they are outside or misaligned.
    #[inline]
    pub fn view<T: SharedView>(&self, offset: usize) -> Found<&T> {
        const { assert!(align_of::<T>() <= 4096 && !mem::needs_drop::<T>()) };
        let at = self.range(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: the words are in the mapping, aligned, and mapped as long as `self` lives. Their type only loads, and
        // allows any bits and concurrent changes (SharedView).
        Ok(unsafe { at.cast::<T>().as_ref() })
    }

    pub fn place<T: Shared>(self: &Arc<Self>, offset: usize) -> Found<InShared<T>> {
        Ok(InShared { words: NonNull::from(self.at::<T>(offset)?), _memory: self.clone() })
    }

    /// Returns the bytes at `offset` as a copy target; `InvalidInput` if they are outside or read-only.
    #[inline]
    pub fn target(&self, offset: usize, len: usize) -> Found<Target<'_>> {
        let at = self.writable(offset, len, 1)?;
        // SAFETY: the bytes are inside the mapping, which is writable as long as `self` lives; references exist only to
        // atomic words.
        Ok(unsafe { Target::new(at.as_ptr().expose_provenance() as u64, len) })
    }
}

#[derive(Debug)]
pub struct InShared<T: Shared> {
    words: NonNull<T>,
    _memory: Arc<SharedMemory>,
}

// SAFETY: the words can be used from any thread, and the value keeps their memory mapped.
unsafe impl<T: Shared> Send for InShared<T> {}
// SAFETY: the words are atomic, so threads can share them.
unsafe impl<T: Shared> Sync for InShared<T> {}

impl<T: Shared> Clone for InShared<T> {
    fn clone(&self) -> Self {
        InShared { words: self.words, _memory: self._memory.clone() }
    }
}

impl<T: Shared> Deref for InShared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `SharedMemory::at` has validated the words, which are mapped as long as `self._memory` lives.
        unsafe { self.words.as_ref() }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the range is exactly this mapping; every reference into it borrows `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests;
