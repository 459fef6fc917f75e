//! Lack of memory: an allocator with a reserve, and the ways to ask for memory that may be refused.
//!
//! Rust's `Box`, `Arc` and collections end the process when the allocator gives them nothing, and so do other crates.
//! A library in another program may not do that. So each of our libraries has [`Allocator`] as its global allocator,
//! and three rules:
//!
//! * What a call leaves behind, and everything whose size a program or a peer chooses, is asked for with [`arc`],
//!   [`boxed`], [`vec`], [`text`] or [`Room`], which answer [`NoMemory`], drop the value, and never take from the reserve.
//! * Small pieces that are asked for in other ways come from the reserve when the system has no memory. The reserve is
//!   zeroed data of the library, which costs nothing until it is used.
//! * A call that makes something is let in with [`admit`], which refuses it when neither the reserve nor the system
//!   could serve it to its end. Calls that take down are always let in; a part of the reserve is theirs alone.
//!
//! The reserve has 2 MiB and serves pieces of up to 32 KiB, which are given back soon; a quarter is for calls that take
//! down. What may stay there is little: private data that a connection keeps, and what a comment allows beside an `Arc`
//! or a `Box` of its own, which `tests-c/layers.sh` looks for. Taking down needs no memory that a free could lack: the
//! objects of an adapter are linked through their cells, and lists of what was freed get their room when things are
//! made. After a fork the lock on the reserve may be taken over in the child, and a piece that another thread was being
//! given is lost there.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::pause::Pause;
use crate::static_tls;

/// The reserve of a library in bytes.
const RESERVE: usize = 2 << 20;

/// The part of the reserve for one call, in bytes.
const SHARE: usize = 64 << 10;

/// The part of the reserve that only calls that take down, and threads of the library, may use up, in bytes.
const LAST: usize = RESERVE / 4;

/// The largest piece that comes from the reserve, in bytes.
const LARGEST: usize = SHARE / 2;

/// The unit of the reserve in bytes.
const GRAIN: usize = 64;

/// The alignment of the reserve, which is the largest that its pieces can have.
const PAGE: usize = 4096;

/// The system has no memory for what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl From<NoMemory> for io::Error {
    fn from(_: NoMemory) -> Self {
        io::ErrorKind::OutOfMemory.into()
    }
}

/// Memory in the zeroed data of the library, in grains, some of which are taken.
#[repr(C, align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE]>,
    /// One bit a grain: whether it is taken. Changed by the thread that has the lock alone.
    taken: [AtomicU64; RESERVE / GRAIN / 64],
    /// Bytes that are taken.
    used: AtomicUsize,
    /// The process whose thread has the lock, or 0. The child of a fork may find the lock of a thread of its parent,
    /// which will never free it.
    holder: AtomicUsize,
}

// SAFETY: the bytes belong to the owners of the pieces; everything else is atomic.
unsafe impl Sync for Reserve {}

static SPARE: Reserve = Reserve::new();

/// Calls that were let in and have not returned.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

impl Reserve {
    const fn new() -> Self {
        Reserve {
            bytes: UnsafeCell::new([0; RESERVE]),
            taken: [const { AtomicU64::new(0) }; RESERVE / GRAIN / 64],
            used: AtomicUsize::new(0),
            holder: AtomicUsize::new(0),
        }
    }

    /// Whether a piece came from here.
    #[inline]
    fn holds(&self, piece: *const u8) -> bool {
        piece.addr().wrapping_sub(self.bytes.get().addr()) < RESERVE
    }

    /// Calls `f` with the lock.
    fn locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let me = usize::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(1);
        let mut pause = Pause::new();
        let mut expected = 0;
        while let Err(holder) = self.holder.compare_exchange(expected, me, Ordering::Acquire, Ordering::Relaxed) {
            // A lock of another process was copied by a fork. What its thread was changing is at worst lost.
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

    /// Marks grains as taken or free.
    fn mark(&self, first: usize, count: usize, taken: bool) {
        for grain in first..first + count {
            let word = &self.taken[grain / 64];
            let bit = 1 << (grain % 64);
            let old = word.load(Ordering::Relaxed);
            word.store(if taken { old | bit } else { old & !bit }, Ordering::Relaxed);
        }
    }

    /// A piece, or NULL.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > PAGE {
            return ptr::null_mut();
        }
        // Memory may lack in the first use of a thread-local value as well; this keeps the remedy in the library.
        black_box(static_tls::offset());
        let count = layout.size().div_ceil(GRAIN).max(1);
        let step = layout.align().div_ceil(GRAIN);
        let first = self.locked(|| {
            let mut first = 0;
            while first + count <= RESERVE / GRAIN {
                match (first..first + count).rev().find(|&grain| self.is_taken(grain)) {
                    Some(taken) => first = (taken + 1).next_multiple_of(step),
                    None => {
                        self.mark(first, count, true);
                        self.used.fetch_add(count * GRAIN, Ordering::Relaxed);
                        return Some(first);
                    }
                }
            }
            None
        });
        match first {
            // SAFETY: the grain lies within the bytes.
            Some(first) => unsafe { self.bytes.get().cast::<u8>().add(first * GRAIN) },
            None => ptr::null_mut(),
        }
    }

    /// Takes back a piece that [`Reserve::take`] gave for this size.
    #[cold]
    fn give_back(&self, piece: *mut u8, size: usize) {
        let first = piece.addr().wrapping_sub(self.bytes.get().addr()) / GRAIN;
        let count = size.div_ceil(GRAIN).max(1);
        self.locked(|| self.mark(first, count, false));
        self.used.fetch_sub(count * GRAIN, Ordering::Relaxed);
    }

    /// Whether there is room for this many calls at once, apart from the last part.
    fn serves(&self, calls: usize) -> bool {
        let wanted = calls.saturating_mul(SHARE);
        self.used.load(Ordering::Relaxed).saturating_add(wanted) <= RESERVE - LAST
    }
}

/// The allocator of our libraries: another one, usually that of the system, and the reserve when it gives nothing.
pub struct Allocator<A = System>(pub A);

// SAFETY: a piece comes either from the inner allocator or from the reserve, which gives out no grain twice; its address
// shows which of them takes it back. Nothing here unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let piece = unsafe { self.0.alloc(layout) };
        if piece.is_null() { SPARE.take(layout) } else { piece }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let piece = unsafe { self.0.alloc_zeroed(layout) };
        if !piece.is_null() {
            return piece;
        }
        let piece = SPARE.take(layout);
        if !piece.is_null() {
            // SAFETY: the piece has this size and no other owner.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if SPARE.holds(piece) {
            SPARE.give_back(piece, layout.size());
        } else {
            // SAFETY: the caller's promise, and the inner allocator gave the piece.
            unsafe { self.0.dealloc(piece, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let own = SPARE.holds(piece);
        if !own {
            // SAFETY: the caller's promise, and the inner allocator gave the piece.
            let moved = unsafe { self.0.realloc(piece, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the alignment is that of a valid layout, and the caller promises a size that does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not 0, as the caller promises.
        let moved = if own { unsafe { self.alloc(wanted) } } else { SPARE.take(wanted) };
        if !moved.is_null() {
            // SAFETY: both pieces have at least this many bytes and are different ones.
            unsafe { ptr::copy_nonoverlapping(piece, moved, layout.size().min(size)) };
            // SAFETY: the caller gives the old piece up.
            unsafe { self.dealloc(piece, layout) };
        }
        moved
    }
}

/// A call that was let in. Its share of the reserve is kept for it while this value lives.
#[derive(Debug)]
pub struct Admitted(());

impl Drop for Admitted {
    #[inline]
    fn drop(&mut self) {
        // The child of a fork may have forgotten this call.
        let _ = UNDER_WAY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| calls.checked_sub(1));
    }
}

/// Lets in a call that makes something, if there is memory for its small pieces: a share of the reserve or, where that
/// is lent out, as much from the system.
///
/// # Errors
/// [`NoMemory`]; the call must change nothing then.
#[inline]
pub fn admit() -> Result<Admitted, NoMemory> {
    let calls = UNDER_WAY.fetch_add(1, Ordering::Relaxed) + 1;
    let admitted = Admitted(());
    if !SPARE.serves(calls) {
        probe(SHARE)?;
    }
    Ok(admitted)
}

/// Asks whether the system has memory of this size, in bytes, at this moment: before something is put into a collection
/// that cannot be asked itself.
#[cold]
pub fn probe(size: usize) -> Result<(), NoMemory> {
    let layout = Layout::from_size_align(size.max(1), align_of::<u64>()).map_err(|_| NoMemory)?;
    // SAFETY: the size is not 0.
    let piece = black_box(unsafe { std::alloc::alloc(layout) });
    if piece.is_null() {
        return Err(NoMemory);
    }
    let spare = SPARE.holds(piece);
    // SAFETY: the allocator gave the piece for this layout.
    unsafe { std::alloc::dealloc(piece, layout) };
    if spare { Err(NoMemory) } else { Ok(()) }
}

/// Whether so much of the reserve is in use that a long task should rather give up.
pub fn is_short() -> bool {
    reserve_in_use() > SHARE
}

/// Bytes of the reserve that are in use.
pub fn reserve_in_use() -> usize {
    SPARE.used.load(Ordering::Relaxed)
}

/// Forgets calls of threads that exist in the parent alone. Only the child of a fork may call this.
pub fn after_fork_in_child() {
    UNDER_WAY.store(0, Ordering::Relaxed);
}

/// Whether a value lies in the reserve. It may be used for a while, but a call must not leave it behind.
pub fn is_lent<T: ?Sized>(value: &T) -> bool {
    SPARE.holds(ptr::from_ref(value).cast())
}

/// Puts a value into an `Arc`.
pub fn arc<T>(value: T) -> Result<Arc<T>, NoMemory> {
    #[expect(clippy::disallowed_methods, reason = "this is the other way")]
    let shared = Arc::new(value);
    if is_lent(&*shared) { Err(NoMemory) } else { Ok(shared) }
}

/// Puts a value into a box.
pub fn boxed<T>(value: T) -> Result<Box<T>, NoMemory> {
    #[expect(clippy::disallowed_methods, reason = "this is the other way")]
    let boxed = Box::new(value);
    if is_lent(&*boxed) { Err(NoMemory) } else { Ok(boxed) }
}

/// An empty list with room for `capacity` elements.
pub fn vec<T>(capacity: usize) -> Result<Vec<T>, NoMemory> {
    let mut list: Vec<T> = Vec::new();
    list.try_reserve_exact(capacity).map_err(|_| NoMemory)?;
    if SPARE.holds(list.as_ptr().cast()) { Err(NoMemory) } else { Ok(list) }
}

/// A copy of a list.
pub fn copied<T: Copy>(list: &[T]) -> Result<Box<[T]>, NoMemory> {
    let mut copy = vec(list.len())?;
    copy.extend_from_slice(list);
    Ok(copy.into_boxed_slice())
}

/// A copy of a text.
pub fn text(text: &str) -> Result<String, NoMemory> {
    let mut copy = String::from_utf8(vec(text.len())?).unwrap_or_default();
    copy.push_str(text);
    Ok(copy)
}

/// Makes room in a collection before something is put into it.
pub trait Room {
    /// Makes room for `more` elements.
    ///
    /// # Errors
    /// [`NoMemory`]; the collection is as it was.
    fn room(&mut self, more: usize) -> Result<(), NoMemory>;
}

/// Whether the system has the memory for a collection that grows from `capacity` to twice that, or `wanted` elements.
#[cold]
fn grows(capacity: usize, wanted: usize, size: usize) -> Result<(), NoMemory> {
    let bytes = wanted.max(capacity.saturating_mul(2)).max(4).saturating_mul(size);
    // Larger pieces never come from the reserve.
    if bytes > LARGEST { Ok(()) } else { probe(bytes) }
}

/// Implements [`Room`] for a collection whose elements take `$size` bytes each.
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
// A table has up to twice as many places as elements, and a byte more for each.
room!([K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, 2 * (size_of::<(K, V)>() + 1));
room!([K: Eq + Hash, S: BuildHasher] HashSet<K, S>, 2 * (size_of::<K>() + 1));

#[cfg(test)]
mod tests;
