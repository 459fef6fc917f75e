//! An allocator with a reserve, and allocation functions that can fail.
//!
//! `Box`, `Arc` and the collections of Rust end the process if an allocation fails, which a library must not do. So
//! each library has [`Allocator`] as its global allocator, and three rules:
//!
//! * Memory that outlives a call, or whose size a program or peer determines, comes from [`arc`], [`boxed`], [`vec()`],
//!   [`text`] or [`Room`]. These return [`NoMemory`] and never use the reserve.
//! * All other allocations are small, and use the reserve if the system has no memory.
//! * A call that creates something starts with [`admit`], which fails if the whole call may lack memory. Calls that
//!   free always start: a quarter of the reserve is for them. Lists of freed items get their capacity when the items
//!   are created.
//!
//! The reserve is 2 MiB of zeroed data, which takes no memory until it is used. It serves pieces of up to 32 KiB. Few
//! pieces outlive a call: private data of connections, and what comments at an `Arc` or `Box` explain.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::pause::Pause;
use crate::static_tls;

/// Size of the reserve in bytes.
const RESERVE_SIZE: usize = 2 << 20;

/// Bytes of the reserve for each admitted call ([`admit`]).
const CALL_SHARE: usize = 64 << 10;

/// Bytes of the reserve that [`admit`] leaves to calls that free and to threads of the library.
const CLEANUP_SHARE: usize = RESERVE_SIZE / 4;

/// Bytes of the largest piece that the reserve serves.
const MAX_PIECE: usize = CALL_SHARE / 2;

/// Allocation unit of the reserve in bytes, a grain.
const GRAIN_SIZE: usize = 64;

/// Maximum alignment of a piece in bytes.
const MAX_ALIGN: usize = 4096;

/// The error of an allocation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl From<NoMemory> for io::Error {
    fn from(_: NoMemory) -> Self {
        io::ErrorKind::OutOfMemory.into()
    }
}

#[repr(C, align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE_SIZE]>,
    /// A set bit is a grain in use. Only changed under the lock `holder`.
    taken: [AtomicU64; RESERVE_SIZE / GRAIN_SIZE / 64],
    used: AtomicUsize,
    /// A lock: ID of the process whose thread holds it, or 0.
    holder: AtomicUsize,
}

// SAFETY: the bytes belong to the owners of the pieces; the rest is atomic.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve::new();

static ADMITTED_CALLS: AtomicUsize = AtomicUsize::new(0);

impl Reserve {
    const fn new() -> Self {
        Reserve {
            bytes: UnsafeCell::new([0; RESERVE_SIZE]),
            taken: [const { AtomicU64::new(0) }; RESERVE_SIZE / GRAIN_SIZE / 64],
            used: AtomicUsize::new(0),
            holder: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn holds(&self, piece: *const u8) -> bool {
        piece.addr().wrapping_sub(self.bytes.get().addr()) < RESERVE_SIZE
    }

    fn locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let me = usize::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(1);
        let mut pause = Pause::new();
        let mut expected = 0;
        while let Err(holder) = self.holder.compare_exchange(expected, me, Ordering::Acquire, Ordering::Relaxed) {
            // A thread of the parent never releases its lock in the child of a fork. Take it over; at worst, the piece
            // that the parent's thread was allocating is lost.
            expected = if holder == me { 0 } else { holder };
            pause.pass();
        }
        let result = f();
        self.holder.store(0, Ordering::Release);
        result
    }

    fn is_taken(&self, grain: usize) -> bool {
        self.taken[grain / 64].load(Ordering::Relaxed) >> (grain % 64) & 1 != 0
    }

    fn mark(&self, first: usize, count: usize, taken: bool) {
        for grain in first..first + count {
            let word = &self.taken[grain / 64];
            let bit = 1 << (grain % 64);
            let old = word.load(Ordering::Relaxed);
            word.store(if taken { old | bit } else { old & !bit }, Ordering::Relaxed);
        }
    }

    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_PIECE || layout.align() > MAX_ALIGN {
            return ptr::null_mut();
        }
        // Links [`static_tls`] into the library: each library has this allocator.
        black_box(static_tls::offset());
        let count = layout.size().div_ceil(GRAIN_SIZE).max(1);
        let step = layout.align().div_ceil(GRAIN_SIZE);
        let first = self.locked(|| {
            let mut first = 0;
            while first + count <= RESERVE_SIZE / GRAIN_SIZE {
                match (first..first + count).rev().find(|&grain| self.is_taken(grain)) {
                    Some(taken) => first = (taken + 1).next_multiple_of(step),
                    None => {
                        self.mark(first, count, true);
                        self.used.fetch_add(count * GRAIN_SIZE, Ordering::Relaxed);
                        return Some(first);
                    }
                }
            }
            None
        });
        match first {
            // SAFETY: the grain is inside the bytes.
            Some(first) => unsafe { self.bytes.get().cast::<u8>().add(first * GRAIN_SIZE) },
            None => ptr::null_mut(),
        }
    }

    #[cold]
    fn free(&self, piece: *mut u8, size: usize) {
        let first = piece.addr().wrapping_sub(self.bytes.get().addr()) / GRAIN_SIZE;
        let count = size.div_ceil(GRAIN_SIZE).max(1);
        self.locked(|| self.mark(first, count, false));
        self.used.fetch_sub(count * GRAIN_SIZE, Ordering::Relaxed);
    }

    /// Returns whether the reserve has a free share for each of this many admitted calls.
    fn serves(&self, calls: usize) -> bool {
        let wanted = calls.saturating_mul(CALL_SHARE);
        self.used.load(Ordering::Relaxed).saturating_add(wanted) <= RESERVE_SIZE - CLEANUP_SHARE
    }
}

/// An inner allocator, and the reserve if that fails.
pub struct Allocator<A = System>(pub A);

// SAFETY: the address of a piece shows whether the inner allocator or the reserve must free it. The reserve allocates
// no grain twice. Nothing unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller passes a layout of non-zero size.
        let piece = unsafe { self.0.alloc(layout) };
        if piece.is_null() { RESERVE.take(layout) } else { piece }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller passes a layout of non-zero size.
        let piece = unsafe { self.0.alloc_zeroed(layout) };
        if !piece.is_null() {
            return piece;
        }
        let piece = RESERVE.take(layout);
        if !piece.is_null() {
            // SAFETY: the piece has this size and no other owner.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if RESERVE.holds(piece) {
            RESERVE.free(piece, layout.size());
        } else {
            // SAFETY: the inner allocator returned the piece for this layout.
            unsafe { self.0.dealloc(piece, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let own = RESERVE.holds(piece);
        if !own {
            // SAFETY: the inner allocator returned the piece for this layout.
            let moved = unsafe { self.0.realloc(piece, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: valid alignment; the caller promises that `size` does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises that the size is not 0.
        let moved = if own { unsafe { self.alloc(wanted) } } else { RESERVE.take(wanted) };
        if !moved.is_null() {
            // SAFETY: distinct pieces, both with at least this many bytes.
            unsafe { ptr::copy_nonoverlapping(piece, moved, layout.size().min(size)) };
            // SAFETY: `piece` has this layout, and the caller no longer uses it.
            unsafe { self.dealloc(piece, layout) };
        }
        moved
    }
}

/// A call that [`admit`] has admitted. Until the drop, [`admit`] counts a share of the reserve for it.
#[derive(Debug)]
pub struct Admitted(());

impl Drop for Admitted {
    #[inline]
    fn drop(&mut self) {
        let _ = ADMITTED_CALLS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| calls.checked_sub(1));
    }
}

/// Admits a call that creates something, if the reserve or the system has a share for its small allocations.
///
/// # Errors
/// [`NoMemory`]: the call must not change anything.
#[inline]
pub fn admit() -> Result<Admitted, NoMemory> {
    let calls = ADMITTED_CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let admitted = Admitted(());
    if !RESERVE.serves(calls) {
        probe(CALL_SHARE)?;
    }
    Ok(admitted)
}

/// Verifies that the system can allocate `size` bytes now, before an insertion that cannot report a lack of memory.
///
/// # Errors
/// [`NoMemory`].
#[cold]
pub fn probe(size: usize) -> Result<(), NoMemory> {
    let layout = Layout::from_size_align(size.max(1), align_of::<u64>()).map_err(|_| NoMemory)?;
    // SAFETY: the size is not 0.
    let piece = black_box(unsafe { std::alloc::alloc(layout) });
    if piece.is_null() {
        return Err(NoMemory);
    }
    let is_reserve = RESERVE.holds(piece);
    // SAFETY: the allocator returned the piece for this layout.
    unsafe { std::alloc::dealloc(piece, layout) };
    if is_reserve { Err(NoMemory) } else { Ok(()) }
}

/// Checks that the process can map `bytes` and 64 KiB more, without using the memory.
///
/// # Errors
/// The error of mmap(2).
pub fn must_be_mappable(bytes: usize) -> io::Result<()> {
    let (bytes, flags) = (bytes.saturating_add(64 << 10), MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: the kernel chooses the address, so it replaces no mapping.
    let map = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), flags) }?;
    // SAFETY: the mapping created above, which has no references.
    let _ = unsafe { munmap(map, bytes) };
    Ok(())
}

/// Returns whether a long task should stop, because more of the reserve than the share of one call is in use.
pub fn is_short() -> bool {
    reserve_in_use() > CALL_SHARE
}

/// Returns the number of bytes of the reserve in use.
pub fn reserve_in_use() -> usize {
    RESERVE.used.load(Ordering::Relaxed)
}

/// Resets the number of admitted calls in the child of a fork, which lacks their threads.
pub fn after_fork_in_child() {
    ADMITTED_CALLS.store(0, Ordering::Relaxed);
}

/// Returns whether a value is in the reserve, so that it must not outlive the call.
pub fn is_lent<T: ?Sized>(value: &T) -> bool {
    RESERVE.holds(ptr::from_ref(value).cast())
}

/// Allocates an `Arc` outside the reserve, or fails.
pub fn arc<T>(value: T) -> Result<Arc<T>, NoMemory> {
    ArcRoom::new().map(|room| room.fill(value))
}

/// Memory for an `Arc`, allocated before its value, so that a failure does not lose the value.
pub struct ArcRoom<T>(Arc<MaybeUninit<T>>);

impl<T> ArcRoom<T> {
    /// Allocates the memory outside the reserve, or fails.
    pub fn new() -> Result<Self, NoMemory> {
        let room = Arc::new_uninit();
        if is_lent(&*room) { Err(NoMemory) } else { Ok(ArcRoom(room)) }
    }

    /// Stores the value, and returns the `Arc`.
    pub fn fill(mut self, value: T) -> Arc<T> {
        let Some(place) = Arc::get_mut(&mut self.0) else { unreachable!("it was never shared") };
        place.write(value);
        // SAFETY: the value was written.
        unsafe { self.0.assume_init() }
    }
}

/// Allocates a box outside the reserve, or fails.
pub fn boxed<T>(value: T) -> Result<Box<T>, NoMemory> {
    #[expect(clippy::disallowed_methods, reason = "this is the fallible replacement")]
    let boxed = Box::new(value);
    if is_lent(&*boxed) { Err(NoMemory) } else { Ok(boxed) }
}

/// Allocates an empty vector with room for `capacity` elements outside the reserve, or fails.
pub fn vec<T>(capacity: usize) -> Result<Vec<T>, NoMemory> {
    let mut list: Vec<T> = Vec::new();
    list.try_reserve_exact(capacity).map_err(|_| NoMemory)?;
    if RESERVE.holds(list.as_ptr().cast()) { Err(NoMemory) } else { Ok(list) }
}

/// Copies a slice to memory outside the reserve, or fails.
pub fn copied<T: Copy>(list: &[T]) -> Result<Box<[T]>, NoMemory> {
    let mut copy = vec(list.len())?;
    copy.extend_from_slice(list);
    Ok(copy.into_boxed_slice())
}

/// Copies a string to memory outside the reserve, or fails.
pub fn text(text: &str) -> Result<String, NoMemory> {
    let mut copy = String::from_utf8(vec(text.len())?).unwrap_or_default();
    copy.push_str(text);
    Ok(copy)
}

/// Fallible reservation of capacity.
pub trait Room {
    /// Reserves capacity for `more` elements.
    ///
    /// # Errors
    /// [`NoMemory`]: the collection is unchanged.
    fn room(&mut self, more: usize) -> Result<(), NoMemory>;
}

/// Verifies that a collection can grow to `wanted` elements, or to twice `capacity` if that is more. Succeeds for large
/// allocations, which never use the reserve.
#[cold]
fn grows(capacity: usize, wanted: usize, size: usize) -> Result<(), NoMemory> {
    let bytes = wanted.max(capacity.saturating_mul(2)).max(4).saturating_mul(size);
    if bytes > MAX_PIECE { Ok(()) } else { probe(bytes) }
}

macro_rules! room {
    ([$($generics:tt)*] $collection:ty, $size:expr) => {
        impl<$($generics)*> Room for $collection {
            #[inline]
            fn room(&mut self, more: usize) -> Result<(), NoMemory> {
                if self.capacity() - self.len() >= more {
                    return Ok(());
                }
                grows(self.capacity(), self.len().saturating_add(more), $size)?;
                self.try_reserve(more).map_err(|_| NoMemory)
            }
        }
    };
}

room!([T] Vec<T>, size_of::<T>());
room!([T] VecDeque<T>, size_of::<T>());
// A hash table has up to twice as many slots as elements, and one more byte per slot.
room!([K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, 2 * (size_of::<(K, V)>() + 1));

#[cfg(test)]
mod tests;
