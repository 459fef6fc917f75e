//! Memory shared between processes: sealed, anonymous, of a fixed size or one that only grows.
//!
//! Memory that grows is made small, and either side makes it longer when it needs more. It never becomes shorter, so
//! what a process has found to be there stays. The file behind it ([`SharedFile`]) is kept open by those who give it to
//! peers or let it grow; the rest of memory needs no descriptor once it is mapped.
//!
//! The bytes of a [`SharedMemory`] are foreign: a peer can write to them at any moment, whatever the protocol says.
//! Atomic words are read and written as such ([`SharedMemory::at`]). All other bytes are copied by address and never
//! referred to, so that a peer that breaks the protocol can spoil bytes but nothing else.

use std::io;
use std::mem;
use std::ops::{Deref, RangeInclusive};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use dat_memory::user::Target;
use host::cancel::Shielded;
use host::limit;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::word::Word;

/// What a mapping of memory allows, or a peer may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading, writing, and making the memory longer.
    Grow,
    /// Reading and writing.
    ReadWrite,
    /// Reading only.
    ReadOnly,
}

/// A range that is not within the memory, not aligned for its type, or not writable.
const OUTSIDE: io::ErrorKind = io::ErrorKind::InvalidInput;

/// The result of looking for words or bytes in shared memory.
pub type Found<T> = Result<T, io::ErrorKind>;

/// Types that may lie in memory to which others write.
///
/// # Safety
/// The type must consist of atomic integers and of types that are `Shared` themselves (and of padding), so that any bit
/// pattern is a value and any change is an atomic store. Its layout must be fixed (`repr(C)` or `repr(transparent)`),
/// and it must have no destructor.
pub unsafe trait Shared: Sync + 'static {}

/// [`Shared`] types that can be accessed through a mapping without write permission.
///
/// # Safety
/// The conditions of [`Shared`] hold, and the type's methods only load, and only with [`Ordering::Relaxed`], because
/// any other access may need write permission.
pub unsafe trait SharedView: Sync + 'static {}

// SAFETY: these are atomic integers, for which any bit pattern is a value.
unsafe impl Shared for AtomicU8 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU64 {}
// SAFETY: an array has the layout of its elements in a row.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// A word that can be read but not written.
#[derive(Debug)]
#[repr(transparent)]
pub struct View<W>(W);

impl<W: Word> View<W> {
    /// The value at this moment; to order it, use fences.
    #[inline]
    pub fn load(&self) -> W::Value {
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: an atomic integer whose one method is a relaxed load.
unsafe impl<W: Word + Shared> SharedView for View<W> {}

/// The anonymous file behind shared memory.
#[derive(Debug)]
pub struct SharedFile(Shielded<OwnedFd>);

/// A mapped piece of shared memory. The mapping ends with the value; the memory itself is freed with its last mapping
/// and descriptor. A child of `fork` does not inherit the mapping.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<u8>,
    len: usize,
    access: Access,
}

// SAFETY: the mapping belongs to the value and to no thread; it is accessed only by atomics and by raw copies (see the
// module text).
unsafe impl Send for SharedMemory {}
// SAFETY: as for Send.
unsafe impl Sync for SharedMemory {}

/// The seals without which memory is not accepted: with them no peer can take away memory that this process has mapped.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::SEAL);

impl Access {
    /// The seals of memory that peers may use so.
    fn seals(self) -> SealFlags {
        if self == Access::Grow { SEALS } else { SEALS | SealFlags::GROW }
    }
}

impl SharedFile {
    /// Takes the file of a peer if all `seals` are set.
    ///
    /// # Errors
    /// `InvalidData` if it is not sealed anonymous memory in which no access could ever fault; otherwise the error of
    /// the system.
    fn of_peer(fd: OwnedFd, seals: SealFlags) -> io::Result<SharedFile> {
        let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidData, why));
        if !fcntl_get_seals(&fd).is_ok_and(|found| found.contains(seals)) {
            return refuse("the peer's memory is not a sealed memfd");
        }
        // Huge pages of a pool can be sealed too, but accessing them faults when the pool is empty.
        if fstatfs(&fd)?.f_type != libc::TMPFS_MAGIC {
            return refuse("the peer's memory is not of ordinary pages");
        }
        Ok(SharedFile(Shielded::new(fd)))
    }

    /// The descriptor that a peer maps.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn size(&self) -> io::Result<usize> {
        usize::try_from(fstat(&self.0)?.st_size).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Maps `len` bytes from byte `offset`, which is a multiple of the page size, for reading and writing. A file that can
    /// grow does so, as far as it has to.
    ///
    /// # Errors
    /// The error of the system; `FileTooLarge` if the process may not have files of that size.
    pub fn window(&self, offset: usize, len: usize) -> io::Result<SharedMemory> {
        self.extend(offset.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?)?;
        self.map(offset, len, Access::ReadWrite)
    }

    /// Makes the file at least `len` bytes long.
    fn extend(&self, len: usize) -> io::Result<()> {
        if self.size()? >= len {
            return Ok(());
        }
        // The system would end the process for this.
        if limit::file_size().ok().flatten().is_some_and(|most| len as u64 > most) {
            let text = format!("shared memory of {len} bytes is more than the limit for files");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        match ftruncate(&self.0, len as u64) {
            Ok(()) => Ok(()),
            // The peer has made it longer meanwhile, and it must not shrink.
            Err(Errno::PERM) if self.size()? >= len => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Maps `len` bytes from `offset`, all of which are there.
    fn map(&self, offset: usize, len: usize, access: Access) -> io::Result<SharedMemory> {
        if len == 0 || isize::try_from(len).is_err() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let protection = match access {
            Access::ReadOnly => ProtFlags::READ,
            Access::ReadWrite | Access::Grow => ProtFlags::READ | ProtFlags::WRITE,
        };
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: this makes a new mapping where the kernel finds room, and replaces none.
        let base = unsafe { mmap(ptr::null_mut(), len, protection, flags, &self.0, offset as u64) }?;
        let Some(base) = NonNull::new(base.cast::<u8>()) else {
            return Err(io::ErrorKind::OutOfMemory.into()); // page 0 is never given unasked
        };
        let memory = SharedMemory { base, len, access };
        // SAFETY: the range is exactly this mapping, which is only hidden from children.
        unsafe { madvise(base.as_ptr().cast(), len, Advice::LinuxDontFork) }?;
        Ok(memory)
    }
}

impl SharedMemory {
    /// Makes shared memory of `size` bytes, all 0; pages take up memory only once they are touched. `name` appears in
    /// /proc/PID/maps. `peers` is the access of other processes; this process can always write. For memory that can grow
    /// see [`SharedFile::window`].
    ///
    /// # Errors
    /// The error of the system; `FileTooLarge` if the process may not have files of that size; `InvalidInput` for a
    /// size of 0 or above `isize::MAX`.
    pub fn create(name: &str, size: usize, peers: Access) -> io::Result<(SharedFile, SharedMemory)> {
        let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let file = SharedFile(Shielded::new(fd));
        file.extend(size)?;
        let memory = file.map(0, size, Access::ReadWrite)?;
        let seals = peers.seals();
        // This comes after the mapping of this process: the seal forbids only later ones.
        if peers == Access::ReadOnly && fcntl_add_seals(&file.0, seals | SealFlags::FUTURE_WRITE).is_ok() {
            return Ok((file, memory));
        }
        if peers == Access::ReadOnly {
            log::debug!("shm: the kernel knows no F_SEAL_FUTURE_WRITE; peers are trusted not to write {name:?}");
        }
        fcntl_add_seals(&file.0, seals)?;
        Ok((file, memory))
    }

    /// Maps memory that a peer has made, which has one of `sizes`: all of it, or the least of these sizes if it can grow.
    ///
    /// # Errors
    /// `InvalidData` if it is not sealed anonymous memory of such a size, in which no access could ever fault;
    /// otherwise the error of the system.
    pub fn open(fd: OwnedFd, sizes: RangeInclusive<usize>, access: Access) -> io::Result<(SharedFile, SharedMemory)> {
        let file = SharedFile::of_peer(fd, access.seals())?;
        let found = file.size()?;
        if !sizes.contains(&found) {
            let text = format!("the peer's memory has {found} bytes, not {sizes:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let memory = file.map(0, if access == Access::Grow { *sizes.start() } else { found }, access)?;
        Ok((file, memory))
    }

    #[inline]
    fn range(&self, offset: usize, len: usize, align: usize) -> Found<NonNull<u8>> {
        // What is beyond is never touched: an access there would end the process.
        let fits = offset <= self.len && len <= self.len - offset;
        // The mapping begins at a page, so an aligned offset is an aligned address.
        if !fits || offset % align != 0 {
            return Err(OUTSIDE);
        }
        // SAFETY: the offset is not beyond the end of the mapping.
        Ok(unsafe { self.base.add(offset) })
    }

    #[inline]
    fn writable(&self, offset: usize, len: usize, align: usize) -> Found<NonNull<u8>> {
        if self.access == Access::ReadOnly {
            return Err(OUTSIDE);
        }
        self.range(offset, len, align)
    }

    /// The atomic words at `offset`.
    ///
    /// # Errors
    /// `InvalidInput` if they are not inside, not aligned, or the mapping is read-only.
    #[inline]
    pub fn at<T: Shared>(&self, offset: usize) -> Found<&T> {
        const { assert!(align_of::<T>() <= 4096 && !mem::needs_drop::<T>()) };
        let at = self.writable(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: the words are inside the mapping, aligned and writable, and mapped as long as `self` lives. Their
        // type allows any bits and any change by others (Shared).
        Ok(unsafe { at.cast::<T>().as_ref() })
    }

    /// The atomic words at `offset`, for reading only; works with either kind of mapping.
    ///
    /// # Errors
    /// `InvalidInput` if they are not inside or not aligned.
    #[inline]
    pub fn view<T: SharedView>(&self, offset: usize) -> Found<&T> {
        const { assert!(align_of::<T>() <= 4096 && !mem::needs_drop::<T>()) };
        let at = self.range(offset, size_of::<T>(), align_of::<T>())?;
        // SAFETY: the words are inside the mapping, aligned, and mapped as long as `self` lives. Their type only ever
        // loads, and allows any bits and any change (SharedView).
        Ok(unsafe { at.cast::<T>().as_ref() })
    }

    /// The atomic words at `offset`, to be used as long as the result lives.
    pub fn place<T: Shared>(self: &Arc<Self>, offset: usize) -> Found<InShared<T>> {
        Ok(InShared { words: NonNull::from(self.at::<T>(offset)?), _memory: self.clone() })
    }

    /// The bytes at `offset` as the target of a copy.
    ///
    /// # Errors
    /// `InvalidInput` if they are not inside, or the mapping is read-only.
    #[inline]
    pub fn target(&self, offset: usize, len: usize) -> Found<Target<'_>> {
        let at = self.writable(offset, len, 1)?;
        // SAFETY: the bytes are inside the mapping, which can be written as long as `self` lives; only atomic words in
        // it are ever referred to.
        Ok(unsafe { Target::new(at.as_ptr().expose_provenance() as u64, len) })
    }
}

/// Atomic words in shared memory that were checked to be there.
#[derive(Debug)]
pub struct InShared<T: Shared> {
    words: NonNull<T>,
    /// Keeps them mapped.
    _memory: Arc<SharedMemory>,
}

// SAFETY: a reference to words that any thread may use, and to memory that lives as long.
unsafe impl<T: Shared> Send for InShared<T> {}
// SAFETY: as for Send.
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
        // SAFETY: checked by `SharedMemory::at`, and mapped as long as `self._memory` lives.
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
