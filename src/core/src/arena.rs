//! Handles: addresses of cells that are never freed.
//!
//! All cells of a library are in one [`Arena`], a range of addresses that grows at its end. So one comparison finds
//! whether any number is the address of a cell, whichever adapter the object belongs to, and however many adapters
//! exist.
//!
//! The first word of a cell belongs to the API layer; it differs between adapters, but not between the cells of one
//! page. The second word is the kind of the live object, or 0. A dead cell gets a new object, of the same adapter, only
//! after [`QUARANTINE`] later frees, so that a stale handle stays invalid for long. If no cell can be added, fewer
//! frees suffice.
//!
//! A fast call uses an object under an epoch guard ([`ObjectGuard`]); other calls hold a reference. A free marks the
//! cell as dead and returns a [`RetiredCell`]. The drop of this value waits until no fast call uses the object, then
//! drops the cell's reference.

#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, Range};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use host::address_space::AddressSpace;
use host::epoch::{self, EpochGuard, Objects};
use host::lock::{Mutex, MutexGuard};
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
    /// Length of an array with the kind as its index.
    pub const COUNT: usize = Kind::Ah as usize + 1;

    const ALL: [Kind; 13] = {
        use Kind::*;
        [Cr, Ep, Evd, Ia, Lmr, Psp, Pz, Rmr, Rsp, Cno, Srq, Csp, Ah]
    };
}

/// An object that an arena can store.
pub trait Object: Send + Sync + 'static {
    /// The kind that the cell stores. No two types in one arena have the same kind.
    const KIND: Kind;

    /// Returns the header.
    fn header(&self) -> &Header;
}

/// The part that all objects with a handle have in common.
#[derive(Debug, Default)]
pub struct Header {
    handle: AtomicUsize,
    pub(crate) users: Users,
}

impl Header {
    pub(crate) fn part_of(handle: Handle) -> Self {
        Header { handle: AtomicUsize::new(handle.0), ..Header::default() }
    }

    /// Returns the handle; NULL before [`Arena::insert`].
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle(self.handle.load(Ordering::Relaxed))
    }
}

/// Number of freed cells of an adapter above which a new object gets the oldest of them.
pub const QUARANTINE: usize = 4096;
/// Maximum time that a free waits for fast calls. A fast call takes microseconds, but never ends if a signal handler
/// leaves the call by longjmp.
const LIMIT: Duration = Duration::from_secs(1);
/// Bytes of addresses that an arena reserves: 16 M cells.
const MAX_BYTES: usize = 1 << 30;
/// Minimum of the reserved bytes, if a limit on the process's address space forbids [`MAX_BYTES`].
const MIN_BYTES: usize = 1 << 20;
/// Bytes by which the cells of an adapter grow. At least the size of a page, which has cells of one adapter only.
const STEP: usize = 64 << 10;

/// The memory of a handle. Zeroed memory is a dead cell.
#[repr(C, align(64))]
pub struct Cell {
    face: AtomicUsize,
    /// 0 if the cell is dead.
    kind: AtomicUsize,
    object: AtomicPtr<()>,
    release: AtomicPtr<()>,
    /// The object's consumer context; 0 until set.
    context: AtomicU64,
    /// Index of the handle in the adapter's list of objects of this kind. The lock on the list protects the index.
    pub(crate) listed: AtomicUsize,
    /// The next dead cell, in the list of dead cells with an object ([`RetiredCell::end`]) or in the list of its
    /// [`Shelf`].
    next: AtomicUsize,
}

const _: () = assert!(size_of::<Cell>().is_power_of_two());

/// The unused cells of one adapter. [`Cell::next`] links the freed cells, so that a free needs no memory.
struct Shelf {
    /// The first word of the cells.
    face: usize,
    /// Addresses of the cells that never had an object.
    fresh: Range<usize>,
    /// Addresses of the first and the last freed cell, in the order of the frees. Meaningless if `freed_len` is 0.
    freed: (usize, usize),
    freed_len: usize,
}

impl Shelf {
    fn push(&mut self, cell: &'static Cell) {
        let address = ptr::from_ref(cell).addr();
        if self.freed_len == 0 {
            self.freed.0 = address;
        } else {
            // SAFETY: the list contains cells.
            unsafe { Cell::at(self.freed.1) }.next.store(address, Ordering::Relaxed);
        }
        self.freed.1 = address;
        self.freed_len += 1;
    }

    fn pop(&mut self) -> Option<usize> {
        self.freed_len = self.freed_len.checked_sub(1)?;
        let address = self.freed.0;
        // SAFETY: the list contains cells.
        self.freed.0 = unsafe { Cell::at(address) }.next.load(Ordering::Relaxed);
        Some(address)
    }
}

#[derive(Default)]
struct State {
    /// The reserved addresses of all cells; `None` before the first cell.
    space: Option<AddressSpace>,
    shelves: Vec<Shelf>,
    /// Address of the first of the dead cells whose objects are not dropped yet ([`RetiredCell::end`]); 0 if there is
    /// none.
    left: usize,
}

impl State {
    fn shelf(&mut self, face: usize) -> Option<&mut Shelf> {
        if !self.shelves.iter().any(|shelf| shelf.face == face) {
            self.shelves.room(1).ok()?;
            self.shelves.push(Shelf { face, fresh: 0..0, freed: (0, 0), freed_len: 0 });
        }
        self.shelves.iter_mut().find(|shelf| shelf.face == face)
    }
}

/// The handles of a library. `D` distinguishes arenas of different transports.
pub struct Arena<D> {
    /// Address of the first cell.
    start: AtomicUsize,
    /// Number of cells.
    len: AtomicUsize,
    /// NULL before the first object. After a fork, the child resets it to NULL.
    state: AtomicPtr<Mutex<State>>,
    domain: PhantomData<fn() -> D>,
}

impl<D> Default for Arena<D> {
    fn default() -> Self {
        Self::new()
    }
}

type Release = unsafe fn(*mut ());

/// # Safety
/// `object` must come from `Arc::<O>::into_raw`, and the caller must own the reference.
unsafe fn release<O: Object>(object: *mut ()) {
    // SAFETY: the caller owns the reference, which `Arc::<O>::into_raw` returned.
    drop(unsafe { Arc::from_raw(object.cast::<O>().cast_const()) });
}

impl<D> Arena<D> {
    /// Returns an arena without cells.
    pub const fn new() -> Self {
        Arena {
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            state: AtomicPtr::new(ptr::null_mut()),
            domain: PhantomData,
        }
    }

    #[inline(always)]
    fn has(&self, handle: Handle) -> bool {
        // SYNC arena: pairs with the store in `grow`. A thread that loads the number also sees the address of the first
        // cell, and the memory.
        let len = self.len.load(Ordering::Acquire);
        let offset = handle.0.wrapping_sub(self.start.load(Ordering::Relaxed));
        // The rotation makes a misaligned offset larger than `len`, so that one comparison checks both.
        offset.rotate_right(size_of::<Cell>().trailing_zeros()) < len
    }

    /// Returns the cell at this address, or `None` if there is no cell.
    #[inline(always)]
    pub fn cell(&self, handle: Handle) -> Option<&'static Cell> {
        // SAFETY: `has` found a cell at this address.
        self.has(handle).then(|| unsafe { Cell::at(handle.0) })
    }

    /// Returns access to the live object of `handle`. Returns `None` if there is no cell at `handle`, or if its object
    /// is dead or of another type. Also returns `None` if the thread cannot enter an epoch section.
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

    /// Stores `object` in a free cell that starts with the word `face`, and returns its handle. Returns `None` if the
    /// arena is full or memory is exhausted.
    pub fn insert<O: Object>(&self, face: usize, object: Arc<O>) -> Option<Handle> {
        let address = self.take_cell(face)?;
        let cell = self.cell(Handle(address))?;
        object.header().handle.store(address, Ordering::Relaxed);
        cell.face.store(face, Ordering::Relaxed);
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
        // Until this epoch section ends, the cell gets no other object. So the same address in the cell means the same
        // object.
        let killed = epoch::briefly(|| {
            cell.object::<O>().is_some_and(|known| ptr::eq(known, object))
                && cell.kind.compare_exchange(O::KIND as usize, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        killed.then(|| RetiredCell { arena: self, cell })
    }

    /// Drops a dead cell's object and frees the cell. No fast call may use the object.
    fn reclaim(&self, cell: &'static Cell) {
        let (object, release) = (cell.object.load(Ordering::Relaxed), cell.release.load(Ordering::Relaxed));
        if let Some(shelf) = self.lock().as_mut().and_then(|state| state.shelf(cell.face.load(Ordering::Relaxed))) {
            shelf.push(cell);
        }
        // SAFETY: `insert` stored a `Release` as this pointer.
        let release = unsafe { mem::transmute::<*mut (), Release>(release) };
        // SAFETY: `insert` stored both, and only one thread reclaims the cell.
        unsafe { release(object) };
    }

    /// Invalidates all handles in a forked child. Replaces the state without a lock, because a thread of the parent may
    /// have held the lock. Drops no object, because the parent still uses the resources of the objects. The cells stay
    /// readable. The caller has ended the sections of the parent's threads with [`epoch::in_child`].
    pub fn abandon(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.state.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Returns the locked state. The first call creates the state, and returns `None` if memory is exhausted.
    fn lock(&self) -> Option<MutexGuard<'static, State>> {
        // Pairs with the exchange below, which publishes the state.
        let mut state = self.state.load(Ordering::Acquire).cast_const();
        if state.is_null() {
            let made = Box::into_raw(memory::boxed(Mutex::new(State::default())).ok()?);
            state = match self.state.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => made,
                Err(other) => {
                    // SAFETY: the box was not shared.
                    drop(unsafe { Box::from_raw(made) });
                    other
                }
            };
        }
        // SAFETY: a state, which is never freed.
        unsafe { state.as_ref() }.map(Mutex::lock)
    }

    fn take_cell(&self, face: usize) -> Option<usize> {
        let mut state = self.lock()?;
        let shelf = state.shelf(face)?;
        if shelf.freed_len > QUARANTINE {
            return shelf.pop();
        }
        if shelf.fresh.is_empty() {
            let Some(more) = self.grow(&mut state) else {
                // A cell that was freed recently is better than none.
                return state.shelf(face)?.pop();
            };
            state.shelf(face)?.fresh = more;
        }
        let fresh = &mut state.shelf(face)?.fresh;
        let address = fresh.start;
        fresh.start += size_of::<Cell>();
        Some(address)
    }

    /// Adds zeroed cells, and returns their addresses. Returns `None` if no reserved address or no memory is left.
    fn grow(&self, state: &mut State) -> Option<Range<usize>> {
        let space = match &mut state.space {
            Some(space) => space,
            none => none.insert(AddressSpace::reserve(MAX_BYTES, MIN_BYTES).ok()?),
        };
        let begin = space.start() + space.committed();
        space.commit(STEP).ok()?;
        self.start.store(space.start(), Ordering::Relaxed);
        // SYNC arena: the address and the memory precede the number.
        self.len.store(space.committed() / size_of::<Cell>(), Ordering::Release);
        Some(begin..begin + STEP)
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

    /// Calls `f` with the consumer context of the object. Returns `None` if the object is dead or an address handle.
    pub fn with_context<R>(&self, f: impl FnOnce(&AtomicU64) -> R) -> Option<R> {
        // Until this epoch section ends, the cell gets no other object.
        epoch::briefly(|| self.kind().filter(|&kind| kind != Kind::Ah).map(|_| f(&self.context)))
    }

    /// Returns the object if it is alive and of type `O`. The caller must have an epoch guard, until whose end the
    /// pointer is valid.
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
    arena: &'a Arena<D>,
    cell: &'static Cell,
}

impl<D> RetiredCell<'_, D> {
    /// Waits until all fast calls end, at most for `limit`. Then drops this object, and the objects that earlier frees
    /// could not drop. If the time is not enough, or if the caller is inside a fast call, leaves these objects to the
    /// next free.
    fn end(&self, limit: Duration) {
        let left = self.arena.lock().map_or(0, |mut state| mem::take(&mut state.left));
        self.cell.next.store(left, Ordering::Relaxed);
        let next = |cell: &'static Cell| self.arena.cell(Handle(cell.next.load(Ordering::Relaxed)));
        if !epoch::is_inside::<Objects>() && epoch::synchronize::<Objects>(Some(limit)) {
            let mut dead = Some(self.cell);
            while let Some(cell) = dead {
                // Loaded before the reclamation, after which another list uses this cell's link.
                dead = next(cell);
                self.arena.reclaim(cell);
            }
            return;
        }
        let Some(mut state) = self.arena.lock() else { return };
        let mut last = self.cell;
        while let Some(cell) = next(last) {
            last = cell;
        }
        last.next.store(state.left, Ordering::Relaxed);
        state.left = ptr::from_ref(self.cell).addr();
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
