//! Handles: cells of memory that stay where they are for the life of the process.
//!
//! A handle is the address of a cell. The first word of a cell belongs to the face, which may keep a table of functions
//! there. The second word says whether the cell is alive, and the kind of the object behind it. A check therefore never
//! reads memory that could have been given back, whatever address a program passes.
//!
//! A freed cell is used again only after [`QUARANTINE`] others were freed, so that a stale handle is refused for a long
//! time.
//!
//! A fast call stays in a section of [`host::epoch`] while it works on an object ([`ObjectGuard`]), and all others count a
//! reference. A free makes the cell dead, and what it gets then ([`RetiredCell`]) waits for the fast calls under way and drops the
//! reference of the cell.
//!
//! Fast calls look among [`FirstCells`] first: those of the slab in which the library first looked up a handle,
//! which are those of a program with up to a thousand objects. A fast call on such a cell has a function with the usual
//! case alone (`quickly` in the face); everything else goes through another one, which does the same with any cell.

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

/// Address of a live or dead cell, as a program holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Handle(pub usize);

impl Handle {
    /// No object.
    pub const NULL: Handle = Handle(0);
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The kinds of object that have handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the objects of the specification
pub enum Kind {
    Ia = 1,
    Pz,
    Lmr,
    Rmr,
    Evd,
    Cno,
    Ep,
    Srq,
    Psp,
    Rsp,
    Cr,
    Csp,
}

impl Kind {
    /// One more than the largest number of a kind.
    pub const COUNT: usize = Kind::Csp as usize + 1;

    const ALL: [Kind; 12] = {
        use Kind::*;
        [Ia, Pz, Lmr, Rmr, Evd, Cno, Ep, Srq, Psp, Rsp, Cr, Csp]
    };
}

/// An object that can stand behind a handle of one slab.
pub trait Object: Send + Sync + 'static {
    /// The kind written into the cell; unique among the types put into one slab.
    const KIND: Kind;

    /// The header that every object has.
    fn header(&self) -> &Header;
}

/// The part that every object has: its handle, a word for the program, and its users.
#[derive(Debug, Default)]
pub struct Header {
    handle: AtomicUsize,
    context: AtomicU64,
    pub(crate) users: Users,
}

impl Header {
    /// That of a part of the object that has this handle.
    pub(crate) fn part_of(handle: Handle) -> Self {
        Header { handle: AtomicUsize::new(handle.0), ..Header::default() }
    }

    /// The handle; NULL until the object is put into a slab.
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle(self.handle.load(Ordering::Relaxed))
    }

    /// The consumer context; 0 until set.
    pub fn context(&self) -> u64 {
        self.context.load(Ordering::Acquire)
    }

    /// Replaces the consumer context.
    pub fn set_context(&self, context: u64) {
        self.context.store(context, Ordering::Release);
    }
}

/// The number of freed cells that rest before the first of them is used again.
pub const QUARANTINE: usize = 4096;
/// How long a free waits for fast calls. They take microseconds, but one that a signal handler has left by longjmp never ends.
const LIMIT: Duration = Duration::from_secs(1);
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = 16;

/// The memory that a handle names, where there may be a live object.
#[repr(C, align(64))]
pub struct Cell {
    face: AtomicUsize,
    /// The number of the kind of the object behind it; 0 if it is dead.
    kind: AtomicUsize,
    object: AtomicPtr<()>,
    release: AtomicPtr<()>,
    /// Where the list of the adapter's objects has the handle; changed under the lock on that list.
    pub(crate) listed: AtomicUsize,
    /// The next one of the dead cells that are left. See [`RetiredCell::end`].
    next: AtomicUsize,
}

const _: () = assert!(size_of::<Cell>().is_power_of_two());

/// A row of cells.
struct Chunk {
    first: AtomicPtr<Cell>,
    /// The size of the row in bytes; 0 before it is made.
    size: AtomicUsize,
}

impl Chunk {
    /// The number of cells.
    fn len(&self) -> usize {
        // SYNC chunk
        self.size.load(Ordering::Acquire) / size_of::<Cell>()
    }

    /// The cell at an address, if there is one.
    fn cell(&self, address: usize) -> Option<&'static Cell> {
        // SYNC chunk: pairs with the store in `grow`: a thread that finds the size has the address, and cells that are
        // initialised.
        let size = self.size.load(Ordering::Acquire);
        let first = self.first.load(Ordering::Relaxed);
        let offset = address.wrapping_sub(first.addr());
        if offset >= size || offset % size_of::<Cell>() != 0 {
            return None;
        }
        // SAFETY: inside the chunk, on a cell's boundary; chunks are never freed.
        Some(unsafe { &*first.byte_add(offset) })
    }
}

/// The first cells of a slab, which are set once, for the quickest way to nearly every object.
#[derive(Debug)]
pub struct FirstCells {
    first: AtomicUsize,
    /// The number of cells; 0 before they are set.
    len: AtomicUsize,
}

impl FirstCells {
    /// No cells.
    pub const fn new() -> Self {
        FirstCells { first: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    /// Sets the cells to those of a slab that has some, if none are set yet.
    pub fn set<D>(&self, slab: &Slab<D>) {
        let chunk = &slab.chunks[0];
        let (len, first) = (chunk.len(), chunk.first.load(Ordering::Relaxed).addr());
        if self.first.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SYNC chunk: pairs with the load in `enter`, as the store in `grow` does. They are set once, so their
            // address is that of their size.
            self.len.store(len, Ordering::Release);
        }
    }

    /// Forgets the cells. Only the child of a fork may call this, which has no other thread.
    pub fn forget(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.first.store(0, Ordering::Relaxed);
    }

    /// Whether `handle` names one of the cells.
    #[inline(always)]
    fn has(&self, handle: Handle) -> bool {
        // SYNC chunk
        let len = self.len.load(Ordering::Acquire);
        let offset = handle.0.wrapping_sub(self.first.load(Ordering::Relaxed));
        // One comparison for both: the bits that are 0 on a cell's boundary become the highest ones.
        offset.rotate_right(size_of::<Cell>().trailing_zeros()) < len
    }

    /// Enters the object behind `handle` if it is alive, of type `O`, and among the cells; `None` also if the calling thread
    /// cannot enter a section.
    #[inline(always)]
    pub fn enter<O: Object>(&self, handle: Handle) -> Option<ObjectGuard<O>> {
        if !self.has(handle) {
            return None;
        }
        let section = EpochGuard::enter()?;
        // SAFETY: as found, this is a cell.
        let object = unsafe { Cell::at(handle.0) }.object()?;
        Some(ObjectGuard { object, _section: section })
    }

    /// The kind of the live object behind `handle`, if it is among the cells.
    #[inline(always)]
    pub fn kind(&self, handle: Handle) -> Option<Kind> {
        if !self.has(handle) {
            return None;
        }
        // SAFETY: as found, this is a cell.
        unsafe { Cell::at(handle.0) }.kind()
    }
}

impl Default for FirstCells {
    fn default() -> Self {
        Self::new()
    }
}

struct Free {
    cells: VecDeque<usize>,
    /// The first of the dead cells whose objects were not dropped yet: see [`RetiredCell::end`]. Each names the next one.
    left: usize,
    used: usize,
    chunks: usize,
}

/// The handles of one adapter name; `D` keeps apart slabs of different transports.
pub struct Slab<D> {
    face: usize,
    chunks: [Chunk; CHUNKS],
    free: Mutex<Free>,
    domain: PhantomData<fn() -> D>,
}

type Release = unsafe fn(*mut ());

/// Drops the reference that a cell held.
///
/// # Safety
/// `object` came from `Arc::<O>::into_raw` and the caller owns that reference.
unsafe fn release<O: Object>(object: *mut ()) {
    // SAFETY: the caller owns the reference, as promised.
    drop(unsafe { Arc::from_raw(object.cast::<O>().cast_const()) });
}

impl<D> Slab<D> {
    /// An empty slab whose cells start with the word `face`.
    pub fn new(face: usize) -> Self {
        Slab {
            face,
            chunks: std::array::from_fn(|_| Chunk {
                first: AtomicPtr::new(ptr::null_mut()),
                size: AtomicUsize::new(0),
            }),
            free: Mutex::new(Free { cells: VecDeque::new(), left: 0, used: 0, chunks: 0 }),
            domain: PhantomData,
        }
    }

    /// Puts `object` behind a new handle; `None` if the slab has no more cells and there is no memory for some.
    pub fn insert<O: Object>(&self, object: Arc<O>) -> Option<Handle> {
        let address = self.take_cell()?;
        let cell = self.cell(Handle(address))?;
        object.header().handle.store(address, Ordering::Relaxed);
        cell.object.store(Arc::into_raw(object).cast_mut().cast(), Ordering::Relaxed);
        cell.release.store(release::<O> as Release as *mut (), Ordering::Relaxed);
        // SYNC born: the object is in place before the cell is alive.
        cell.kind.store(O::KIND as usize, Ordering::Release);
        Some(Handle(address))
    }

    /// The object behind `handle` if it is alive and of type `O`.
    pub fn get<O: Object>(&self, handle: Handle) -> Option<Arc<O>> {
        self.cell(handle)?.get()
    }

    /// Makes the handle of an object dead, if it is alive; that is so for exactly one caller.
    pub fn remove<O: Object>(&self, object: &O) -> Option<RetiredCell<'_, D>> {
        let cell = self.cell(object.header().handle())?;
        // While the cell is alive and has the object, it gets no other one in a section.
        let killed = epoch::briefly(|| {
            cell.object::<O>().is_some_and(|known| ptr::eq(known, object))
                && cell.kind.compare_exchange(O::KIND as usize, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        killed.then(|| RetiredCell { slab: self, cell })
    }

    /// Drops the object behind a dead cell that no fast call is inside of, and lets the cell be used again.
    fn reclaim(&self, cell: &'static Cell) {
        let (object, release) = (cell.object.load(Ordering::Relaxed), cell.release.load(Ordering::Relaxed));
        self.free.lock().cells.push_back(ptr::from_ref(cell).addr());
        // SAFETY: insert stored it.
        let release = unsafe { mem::transmute::<*mut (), Release>(release) };
        // SAFETY: insert stored both, and this is the one caller who drops the reference.
        unsafe { release(object) };
    }

    /// Makes every live handle dead without dropping the objects. Meant for the child of a fork, which must not touch
    /// what it shares with its parent.
    pub fn abandon(&self) {
        epoch::in_child();
        for chunk in &self.chunks {
            for index in 0..chunk.len() {
                // SAFETY: index is below the chunk's length and chunks are never freed.
                let cell = unsafe { &*chunk.first.load(Ordering::Relaxed).add(index) };
                cell.kind.store(0, Ordering::Relaxed);
            }
        }
    }

    /// The cell that `handle` names, if there is one in this slab.
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
            // Rather a cell that has not rested for long than none.
            return free.cells.pop_front();
        }
        let chunk = &self.chunks[free.chunks - 1];
        let address = chunk.first.load(Ordering::Relaxed) as usize + free.used * size_of::<Cell>();
        free.used += 1;
        Some(address)
    }

    /// Makes another chunk of cells, and room in the list of free cells, so that a free never needs memory.
    fn grow(&self, free: &mut Free) -> Option<()> {
        let chunk = self.chunks.get(free.chunks)?;
        let len = FIRST_CHUNK << free.chunks;
        let total = FIRST_CHUNK * ((2 << free.chunks) - 1);
        let more = total - free.cells.len();
        free.cells.room(more).ok()?;
        let mut cells = memory::vec(len).ok()?;
        cells.extend((0..len).map(|_| Cell {
            face: AtomicUsize::new(self.face),
            kind: AtomicUsize::new(0),
            object: AtomicPtr::new(ptr::null_mut()),
            release: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
        }));
        let first = Vec::leak(cells).as_mut_ptr();
        // For those that find a cell by its address alone.
        let _ = first.expose_provenance();
        chunk.first.store(first, Ordering::Relaxed);
        // SYNC chunk: the cells and the address of the first one are in place before the size.
        chunk.size.store(len * size_of::<Cell>(), Ordering::Release);
        free.chunks += 1;
        free.used = 0;
        Some(())
    }
}

impl Cell {
    /// The cell at an address.
    ///
    /// # Safety
    /// There must be one: cells are shared, and never freed.
    #[inline(always)]
    unsafe fn at(address: usize) -> &'static Cell {
        // SAFETY: the caller's promise; the addresses of all cells were exposed.
        unsafe { &*ptr::with_exposed_provenance::<Cell>(address) }
    }

    /// The object if it is alive and of type `O`.
    #[inline]
    pub fn get<O: Object>(&self) -> Option<Arc<O>> {
        epoch::briefly(|| {
            let object = self.object::<O>()?;
            // SAFETY: the cell owns a reference made by Arc::into_raw, and keeps it as long as the section.
            unsafe { Arc::increment_strong_count(object) };
            // SAFETY: this takes over the reference counted in the line above.
            Some(unsafe { Arc::from_raw(object) })
        })
    }

    /// The kind of the object, if it is alive.
    #[inline]
    pub fn kind(&self) -> Option<Kind> {
        let kind = self.kind.load(Ordering::Acquire);
        Kind::ALL.get(kind.wrapping_sub(1)).copied()
    }

    /// The object behind it, if it is alive and of type `O`. It stays there until the section ends in which the caller is.
    #[inline(always)]
    fn object<O: Object>(&self) -> Option<*const O> {
        // SYNC born
        (self.kind.load(Ordering::Acquire) == O::KIND as usize)
            .then(|| self.object.load(Ordering::Relaxed).cast_const().cast())
    }
}

/// A cell that is dead, and whose object is still there. It gets no other object as long as this lives. When this is dropped,
/// without a lock that a fast call takes, the object is dropped as well, once no fast call is inside.
pub struct RetiredCell<'a, D> {
    slab: &'a Slab<D>,
    cell: &'static Cell,
}

impl<D> RetiredCell<'_, D> {
    /// Waits for the fast calls inside, up to a limit, and drops the object, and those that other frees have left. If a call does
    /// not end, or is the one that this thread is in, it leaves them to the next free.
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

/// A fast call inside an object, which stays in place even if its handle is freed meanwhile.
pub struct ObjectGuard<O: Object> {
    object: *const O,
    _section: EpochGuard<Objects>,
}

impl<O: Object> Deref for ObjectGuard<O> {
    type Target = O;

    #[inline]
    fn deref(&self) -> &O {
        // SAFETY: the section keeps the cell's reference to the object.
        unsafe { &*self.object }
    }
}
