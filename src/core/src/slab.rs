//! Handles: addresses of cells that are never freed.
//!
//! The first word of a cell belongs to the API layer. The second word is the kind of the live object, or 0. Cells are
//! never freed, so the check of any address reads valid memory. A dead cell gets a new object only after at least
//! [`QUARANTINE`] other frees, so that a stale handle stays invalid for long.
//!
//! A fast call uses an object under an epoch guard ([`ObjectGuard`]); other calls hold a reference. A free marks the
//! cell as dead and returns a [`RetiredCell`]. The drop of this value waits until no fast call uses the object, then
//! drops the cell's reference.
//!
//! Fast calls only search [`FirstCells`]: the first 1024 cells of the slab of the adapter that was opened first.

#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use host::epoch::{self, EpochGuard, Objects};
use host::lock::Mutex;
use host::memory::{self, Room};

use crate::users::Users;

/// The address of a cell, or any other value that a program passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Handle(pub usize);

impl Handle {
    /// The handle of no object.
    pub const NULL: Handle = Handle(0);
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A kind of object with a handle, in the order of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the objects of the specification
pub enum Kind {
    Cr = 1,
    Ep,
    Evd,
    Ia,
    Lmr,
    Psp,
    Pz,
    Rmr,
    Rsp,
    Cno,
    Srq,
    Csp,
    /// An address handle, which has no type in the C interface.
    Ah,
}

impl Kind {
    /// One above the highest kind.
    pub const COUNT: usize = Kind::Ah as usize + 1;

    const ALL: [Kind; 13] = {
        use Kind::*;
        [Cr, Ep, Evd, Ia, Lmr, Psp, Pz, Rmr, Rsp, Cno, Srq, Csp, Ah]
    };
}

/// An object that a slab can store.
pub trait Object: Send + Sync + 'static {
    /// The kind that the cell stores. No two types in one slab have the same kind.
    const KIND: Kind;

    /// Returns the header.
    fn header(&self) -> &Header;
}

/// The common part of all objects.
#[derive(Debug, Default)]
pub struct Header {
    handle: AtomicUsize,
    pub(crate) users: Users,
}

impl Header {
    pub(crate) fn part_of(handle: Handle) -> Self {
        Header { handle: AtomicUsize::new(handle.0), ..Header::default() }
    }

    /// Returns the handle; NULL before an insertion.
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle(self.handle.load(Ordering::Relaxed))
    }
}

/// Minimum number of freed cells before one is reused.
pub const QUARANTINE: usize = 4096;
/// Maximum time that a free waits for fast calls. They take microseconds, but a signal handler may leave one by
/// longjmp, and then it never ends.
const LIMIT: Duration = Duration::from_secs(1);
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = 16;

/// The memory of a handle.
#[derive(Default)]
#[repr(C, align(64))]
pub struct Cell {
    face: AtomicUsize,
    /// 0 if the cell is dead.
    kind: AtomicUsize,
    object: AtomicPtr<()>,
    release: AtomicPtr<()>,
    /// The object's consumer context; 0 until set.
    context: AtomicU64,
    /// Index in the adapter's list, whose lock protects it.
    pub(crate) listed: AtomicUsize,
    /// The next dead cell with an object: see [`RetiredCell::end`].
    next: AtomicUsize,
}

const _: () = assert!(size_of::<Cell>().is_power_of_two());

#[derive(Default)]
struct Chunk {
    first: AtomicPtr<Cell>,
    /// Size in bytes; 0 before the allocation.
    size: AtomicUsize,
}

impl Chunk {
    fn len(&self) -> usize {
        // SYNC chunk
        self.size.load(Ordering::Acquire) / size_of::<Cell>()
    }

    fn cell(&self, address: usize) -> Option<&'static Cell> {
        // SYNC chunk: pairs with the store in `grow`. The size comes with the address and initialised cells.
        let size = self.size.load(Ordering::Acquire);
        let first = self.first.load(Ordering::Relaxed);
        let offset = address.wrapping_sub(first.addr());
        if offset >= size || offset % size_of::<Cell>() != 0 {
            return None;
        }
        // SAFETY: the address is inside the chunk, on a cell's boundary, and chunks are never freed.
        Some(unsafe { &*first.wrapping_byte_add(offset) })
    }
}

/// The first cells of a slab, for fast lookups of nearly all objects.
#[derive(Debug, Default)]
pub struct FirstCells {
    first: AtomicUsize,
    /// 0 until set.
    len: AtomicUsize,
}

impl FirstCells {
    /// Creates an empty set.
    pub const fn new() -> Self {
        FirstCells { first: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    /// Sets the cells to the first chunk of `slab`. Does nothing if the cells are set, or if the slab has no chunk.
    pub fn set<D>(&self, slab: &Slab<D>) {
        let chunk = &slab.chunks[0];
        let (len, first) = (chunk.len(), chunk.first.load(Ordering::Relaxed).addr());
        if self.first.load(Ordering::Relaxed) == 0
            && self.first.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            // SYNC chunk: pairs with the load in `enter`. The exchange succeeds once, so address and length match.
            self.len.store(len, Ordering::Release);
        }
    }

    /// Clears the cells. Only a forked child may call this, before it creates a thread.
    pub fn forget(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.first.store(0, Ordering::Relaxed);
    }

    #[inline(always)]
    fn has(&self, handle: Handle) -> bool {
        // SYNC chunk
        let len = self.len.load(Ordering::Acquire);
        let offset = handle.0.wrapping_sub(self.first.load(Ordering::Relaxed));
        // The rotation makes a misaligned offset larger than `len`, so that one comparison checks both.
        offset.rotate_right(size_of::<Cell>().trailing_zeros()) < len
    }

    /// Returns access to the live object of `handle`. Returns `None` if the handle is not one of these cells, is dead
    /// or of another type, or if the thread cannot enter an epoch.
    #[inline(always)]
    pub fn enter<O: Object>(&self, handle: Handle) -> Option<ObjectGuard<O>> {
        if !self.has(handle) {
            return None;
        }
        let section = EpochGuard::enter()?;
        // SAFETY: `has` found a cell at this address.
        let object = unsafe { Cell::at(handle.0) }.object()?;
        Some(ObjectGuard { object, _section: section })
    }

    /// Returns the kind of a live object in one of the cells.
    #[inline(always)]
    pub fn kind(&self, handle: Handle) -> Option<Kind> {
        if !self.has(handle) {
            return None;
        }
        // SAFETY: `has` found a cell at this address.
        unsafe { Cell::at(handle.0) }.kind()
    }
}

#[derive(Default)]
struct Free {
    cells: VecDeque<usize>,
    /// The first dead cell with an object: see [`RetiredCell::end`].
    left: usize,
    used: usize,
    chunks: usize,
}

/// The handles of one adapter name. `D` distinguishes slabs of different transports.
pub struct Slab<D> {
    face: usize,
    chunks: [Chunk; CHUNKS],
    free: Mutex<Free>,
    domain: PhantomData<fn() -> D>,
}

type Release = unsafe fn(*mut ());

/// # Safety
/// `object` must come from `Arc::<O>::into_raw`, and the caller must own the reference.
unsafe fn release<O: Object>(object: *mut ()) {
    // SAFETY: the caller owns the reference, which `Arc::<O>::into_raw` returned.
    drop(unsafe { Arc::from_raw(object.cast::<O>().cast_const()) });
}

impl<D> Slab<D> {
    /// Returns an empty slab whose cells start with the word `face`.
    pub fn new(face: usize) -> Self {
        Slab { face, chunks: Default::default(), free: Mutex::default(), domain: PhantomData }
    }

    /// Stores `object` in a new cell. Returns `None` if the slab is full or memory is exhausted.
    pub fn insert<O: Object>(&self, object: Arc<O>) -> Option<Handle> {
        let address = self.take_cell()?;
        let cell = self.cell(Handle(address))?;
        object.header().handle.store(address, Ordering::Relaxed);
        cell.object.store(Arc::into_raw(object).cast_mut().cast(), Ordering::Relaxed);
        cell.release.store(release::<O> as Release as *mut (), Ordering::Relaxed);
        cell.context.store(0, Ordering::Relaxed);
        // SYNC born: the object is stored before the cell becomes alive.
        cell.kind.store(O::KIND as usize, Ordering::Release);
        Some(Handle(address))
    }

    /// Returns the object of `handle` if it is alive and of type `O`.
    pub fn get<O: Object>(&self, handle: Handle) -> Option<Arc<O>> {
        self.cell(handle)?.get()
    }

    /// Invalidates the handle of an object. Returns `Some` to exactly one caller.
    pub fn remove<O: Object>(&self, object: &O) -> Option<RetiredCell<'_, D>> {
        let cell = self.cell(object.header().handle())?;
        // During this epoch, the cell gets no other object. So if it stores this address, it stores this object.
        let killed = epoch::briefly(|| {
            cell.object::<O>().is_some_and(|known| ptr::eq(known, object))
                && cell.kind.compare_exchange(O::KIND as usize, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        killed.then(|| RetiredCell { slab: self, cell })
    }

    /// Drops a dead cell's object and frees the cell. No fast call may use the object.
    fn reclaim(&self, cell: &'static Cell) {
        let (object, release) = (cell.object.load(Ordering::Relaxed), cell.release.load(Ordering::Relaxed));
        self.free.lock().cells.push_back(ptr::from_ref(cell).addr());
        // SAFETY: `insert` stored a `Release` as this pointer.
        let release = unsafe { mem::transmute::<*mut (), Release>(release) };
        // SAFETY: `insert` stored both, and only one thread reclaims the cell.
        unsafe { release(object) };
    }

    /// Invalidates all handles in a forked child. Drops no object, because the parent uses their resources too.
    pub fn abandon(&self) {
        epoch::in_child();
        for chunk in &self.chunks {
            for index in 0..chunk.len() {
                // SAFETY: `index` is below the chunk's length, and chunks are never freed.
                let cell = unsafe { &*chunk.first.load(Ordering::Relaxed).wrapping_add(index) };
                cell.kind.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Returns the cell of `handle` in this slab.
    #[inline]
    pub fn cell(&self, handle: Handle) -> Option<&'static Cell> {
        self.chunks.iter().find_map(|chunk| chunk.cell(handle.0))
    }

    fn take_cell(&self) -> Option<usize> {
        let mut free = self.free.lock();
        if free.cells.len() > QUARANTINE {
            return free.cells.pop_front();
        }
        let last = free.chunks.checked_sub(1);
        let full = last.is_none_or(|i| free.used == self.chunks[i].len());
        if full && self.grow(&mut free).is_none() {
            // A cell that was freed recently is better than none.
            return free.cells.pop_front();
        }
        let chunk = &self.chunks[free.chunks - 1];
        let address = chunk.first.load(Ordering::Relaxed) as usize + free.used * size_of::<Cell>();
        free.used += 1;
        Some(address)
    }

    /// Allocates the next chunk, and room for its cells in the list of free cells, so that a free needs no memory.
    fn grow(&self, free: &mut Free) -> Option<()> {
        let chunk = self.chunks.get(free.chunks)?;
        let len = FIRST_CHUNK << free.chunks;
        let total = FIRST_CHUNK * ((2 << free.chunks) - 1);
        let more = total - free.cells.len();
        free.cells.room(more).ok()?;
        let mut cells = memory::vec(len).ok()?;
        cells.extend((0..len).map(|_| Cell { face: AtomicUsize::new(self.face), ..Cell::default() }));
        let first = Vec::leak(cells).as_mut_ptr();
        // `Cell::at` turns an address into a reference.
        let _ = first.expose_provenance();
        chunk.first.store(first, Ordering::Relaxed);
        // SYNC chunk: the address and the initialised cells precede the size.
        chunk.size.store(len * size_of::<Cell>(), Ordering::Release);
        free.chunks += 1;
        free.used = 0;
        Some(())
    }
}

impl Cell {
    /// # Safety
    /// There must be a cell at `address`.
    #[inline(always)]
    unsafe fn at(address: usize) -> &'static Cell {
        // SAFETY: the caller guarantees a cell, cells are never freed, and their addresses are exposed.
        unsafe { &*ptr::with_exposed_provenance::<Cell>(address) }
    }

    /// Returns the object if it is alive and of type `O`.
    #[inline]
    pub fn get<O: Object>(&self) -> Option<Arc<O>> {
        epoch::briefly(|| {
            let object = self.object::<O>()?;
            // SAFETY: until the epoch guard ends, the cell owns a reference from `Arc::into_raw`.
            unsafe { Arc::increment_strong_count(object) };
            // SAFETY: this takes over the reference counted above.
            Some(unsafe { Arc::from_raw(object) })
        })
    }

    /// Returns the kind of the object, if it is alive.
    #[inline]
    pub fn kind(&self) -> Option<Kind> {
        let kind = self.kind.load(Ordering::Acquire);
        Kind::ALL.get(kind.wrapping_sub(1)).copied()
    }

    /// Calls `f` with the consumer context of the object, if it is alive and not an address handle.
    pub fn with_context<R>(&self, f: impl FnOnce(&AtomicU64) -> R) -> Option<R> {
        // During this epoch, the cell gets no other object.
        epoch::briefly(|| self.kind().filter(|&kind| kind != Kind::Ah).map(|_| f(&self.context)))
    }

    /// The pointer is valid until the caller's epoch guard ends.
    #[inline(always)]
    fn object<O: Object>(&self) -> Option<*const O> {
        // SYNC born
        (self.kind.load(Ordering::Acquire) == O::KIND as usize)
            .then(|| self.object.load(Ordering::Relaxed).cast_const().cast())
    }
}

/// A dead cell with its object. The drop waits for fast calls, drops the object and frees the cell. The caller of the
/// drop must hold no lock that a fast call takes.
pub struct RetiredCell<'a, D> {
    slab: &'a Slab<D>,
    cell: &'static Cell,
}

impl<D> RetiredCell<'_, D> {
    /// Waits until all fast calls end, at most for `limit`. Then drops this object, and the objects that earlier frees
    /// could not drop. If the time is not enough, or if the caller is inside a fast call, leaves these objects to the
    /// next free.
    fn end(&self, limit: Duration) {
        let left = mem::take(&mut self.slab.free.lock().left);
        self.cell.next.store(left, Ordering::Relaxed);
        let next = |cell: &&'static Cell| self.slab.cell(Handle(cell.next.load(Ordering::Relaxed)));
        let dead = || std::iter::successors(Some(self.cell), next);
        if !epoch::is_inside::<Objects>() && epoch::synchronize::<Objects>(Some(limit)) {
            return dead().for_each(|cell| self.slab.reclaim(cell));
        }
        let last = dead().last().unwrap_or(self.cell);
        let mut free = self.slab.free.lock();
        last.next.store(free.left, Ordering::Relaxed);
        free.left = ptr::from_ref(self.cell).addr();
    }
}

impl<D> Drop for RetiredCell<'_, D> {
    fn drop(&mut self) {
        self.end(LIMIT);
    }
}

/// A fast call's access to an object, which stays valid even if its handle is freed.
pub struct ObjectGuard<O: Object> {
    object: *const O,
    _section: EpochGuard<Objects>,
}

impl<O: Object> Deref for ObjectGuard<O> {
    type Target = O;

    #[inline]
    fn deref(&self) -> &O {
        // SAFETY: the epoch guard keeps the cell's reference to the object.
        unsafe { &*self.object }
    }
}
