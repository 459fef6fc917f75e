//! Handles: cells of memory that stay where they are for the life of the process.
//!
//! A handle is the address of a cell. The first word of a cell belongs to the face, which may keep a table of functions
//! there. The second word holds the state: whether the cell is alive, the kind of the object behind it, and how often the
//! cell was used. A check therefore never reads memory that could have been given back, whatever address a program
//! passes. `slab/entry.rs` says how calls enter the object behind a cell, and `slab/records.rs` where each thread notes
//! which objects it is inside of.
//!
//! A freed cell is used again only after [`QUARANTINE`] others were freed, so that a
//! stale handle is refused for a long time.
//!
//! Fast calls look in a [`Window`] first: the first cells of the slab in which the library first looked up a handle,
//! which are those of a program with up to a thousand objects. A fast call on such a cell, by a thread whose first slot
//! is free, has a function with the usual case alone (`quickly` in the face); everything else goes through another one,
//! which does the same with any cell. A free waits for nobody. The freed cell may become another object's at any
//! moment, so the object is read before the cell becomes vacant, and a free that goes on to use its handle keeps it
//! meanwhile (`Ia::keep_handle`).

mod entry;
#[cfg(all(test, loom))]
mod model;
mod records;
mod section;
#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::hint::cold_path;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use host::asymmetric;
use host::cancel::uncancelled;
use host::lock::Mutex;
use host::memory::{self, Room};

use entry::State;
use records::Slot;
pub use records::{Live, Note, Section, await_sections, is_noted};

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

    const ALL: [Kind; 12] = [
        Kind::Ia,
        Kind::Pz,
        Kind::Lmr,
        Kind::Rmr,
        Kind::Evd,
        Kind::Cno,
        Kind::Ep,
        Kind::Srq,
        Kind::Psp,
        Kind::Rsp,
        Kind::Cr,
        Kind::Csp,
    ];
}

/// An object that can stand behind a handle of one slab.
pub trait Object: Send + Sync + 'static {
    /// The kind written into the cell; unique among the types put into one slab.
    const KIND: Kind;

    /// The header that every object has.
    fn header(&self) -> &Header;
}

/// The part that every object has: its handle, and a word for the program.
#[derive(Debug, Default)]
pub struct Header {
    handle: AtomicUsize,
    context: AtomicU64,
}

impl Header {
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
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = 16;

#[repr(C, align(64))]
struct Cell {
    face: AtomicUsize,
    state: State<AtomicU64>,
    object: AtomicPtr<()>,
    release: AtomicPtr<()>,
    /// The neighbours in the list that the handle is in, and whether it is in one. See [`List`].
    next: AtomicUsize,
    previous: AtomicUsize,
    listed: AtomicBool,
    /// Held by those who look whether a call is still inside after the cell has died.
    settling: &'static Mutex<()>,
}

const _: () = assert!(size_of::<Cell>().is_power_of_two());

/// A list of handles of one slab, each of which is in one list at most. The cells themselves are linked, so that no
/// change of a list needs memory. Its owner sees to it that there is one change at a time.
#[derive(Debug, Default)]
pub(crate) struct List {
    first: Handle,
    last: Handle,
    len: usize,
}

impl List {
    /// The number of handles.
    pub fn len(&self) -> usize {
        self.len
    }
}

/// A row of cells.
struct Chunk {
    first: AtomicPtr<Cell>,
    /// The size of the row in bytes; 0 before it is made.
    size: AtomicUsize,
}

impl Chunk {
    /// The number of cells.
    fn len(&self) -> usize {
        self.size.load(Ordering::Acquire) / size_of::<Cell>()
    }

    /// The cell at an address, if there is one.
    fn cell(&self, address: usize) -> Option<&'static Cell> {
        // SYNC chunk: pairs with the store in `grow`: a thread that finds the size has the address, and cells that are
        // initialised.
        let size = self.size.load(Ordering::Acquire);
        let first = self.first.load(Ordering::Relaxed);
        let offset = address.wrapping_sub(first.addr());
        if offset >= size || !offset.is_multiple_of(size_of::<Cell>()) {
            return None;
        }
        // SAFETY: inside the chunk, on a cell's boundary; chunks are never freed.
        Some(unsafe { &*first.byte_add(offset) })
    }
}

/// A row of cells, by the address of the first one and their size in bytes. They are never freed.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    first: usize,
    size: usize,
}

/// A place for [`Cells`] that are set once, for the quickest way to nearly every object.
#[derive(Debug)]
pub struct Window {
    first: AtomicUsize,
    /// The number of cells; 0 before they are set.
    len: AtomicUsize,
}

impl Window {
    /// No cells.
    pub const fn new() -> Self {
        Window { first: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    /// Sets the cells, if none are set yet.
    pub fn set(&self, cells: Cells) {
        if self.first.compare_exchange(0, cells.first, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SYNC chunk: pairs with the load in `enter`, as the store in `grow` does. A window is set once, so its
            // address is that of its size.
            self.len.store(cells.size / size_of::<Cell>(), Ordering::Release);
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
    /// cannot enter it in the quickest way.
    #[inline(always)]
    pub fn enter<O: Object>(&self, handle: Handle) -> Option<Held<'static, O>> {
        if !self.has(handle) {
            return None;
        }
        let slot = records::first_slot()?;
        // SAFETY: as found, this is a cell.
        let cell = unsafe { Cell::at(handle.0) };
        Place { cell, slab: PhantomData }.enter_by(Some(slot))
    }

    /// The kind of the live object behind `handle`, if it is among the cells.
    #[inline(always)]
    pub fn kind(&self, handle: Handle) -> Option<Kind> {
        if !self.has(handle) {
            return None;
        }
        // SAFETY: as found, this is a cell.
        let cell = unsafe { Cell::at(handle.0) };
        Place { cell, slab: PhantomData }.kind()
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::new()
    }
}

struct Free {
    cells: VecDeque<usize>,
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
            free: Mutex::new(Free { cells: VecDeque::new(), used: 0, chunks: 0 }),
            domain: PhantomData,
        }
    }

    /// Puts `object` behind a new handle; `None` if the slab has no more cells and there is no memory for some.
    pub fn insert<O: Object>(&self, object: Arc<O>) -> Option<Handle> {
        let address = self.take_cell()?;
        let cell = self.cell(address)?;
        object.header().handle.store(address, Ordering::Relaxed);
        cell.object.store(Arc::into_raw(object).cast_mut().cast(), Ordering::Relaxed);
        cell.release.store(release::<O> as Release as *mut (), Ordering::Relaxed);
        cell.state.bear(O::KIND);
        Some(Handle(address))
    }

    /// Enters the object behind `handle` if it is alive and of type `O`.
    pub fn get<O: Object>(&self, handle: Handle) -> Option<Held<'_, O>> {
        self.place(handle)?.enter()
    }

    /// The place that `handle` names, if there is one in this slab.
    #[inline]
    pub fn place(&self, handle: Handle) -> Option<Place<'_>> {
        Some(Place { cell: self.cell(handle.0)?, slab: PhantomData })
    }

    /// The first cells of this slab, once there are some: those of a program with up to a thousand objects.
    pub fn first_cells(&self) -> Option<Cells> {
        let Chunk { first, size } = &self.chunks[0];
        // SYNC chunk
        let size = size.load(Ordering::Acquire);
        (size > 0).then(|| Cells { first: first.load(Ordering::Relaxed).addr(), size })
    }

    /// Makes `handle` dead if it is alive and of type `O`; true for exactly one caller. The object is dropped when the
    /// last call inside it has left. This call does not wait for that.
    pub fn remove<O: Object>(&self, handle: Handle) -> bool {
        let Some(cell) = self.cell(handle.0) else { return false };
        if !cell.state.kill(O::KIND) {
            return false;
        }
        // SYNC dead: the cell is dead already; the slots are looked through behind this.
        asymmetric::heavy();
        // Nobody gets the cell before its pins are gone.
        self.free.lock().cells.push_back(handle.0);
        let nobody = {
            let _settling = cell.settling.lock();
            cell.state.settle(records::inside(cell.address()))
        };
        if nobody {
            cell.unpin();
        }
        true
    }

    /// Adds a handle, which is in no list, at the end of `list`.
    pub(crate) fn append(&self, list: &mut List, handle: Handle) {
        let Some(cell) = self.cell(handle.0) else { return };
        cell.next.store(0, Ordering::Relaxed);
        cell.previous.store(list.last.0, Ordering::Relaxed);
        cell.listed.store(true, Ordering::Relaxed);
        match self.cell(list.last.0) {
            Some(last) => last.next.store(handle.0, Ordering::Relaxed),
            None => list.first = handle,
        }
        list.last = handle;
        list.len += 1;
    }

    /// Takes a handle out of `list`, if it is in one.
    pub(crate) fn take_out(&self, list: &mut List, handle: Handle) {
        let Some(cell) = self.cell(handle.0) else { return };
        if !cell.listed.swap(false, Ordering::Relaxed) {
            return;
        }
        let (next, previous) = (cell.next.load(Ordering::Relaxed), cell.previous.load(Ordering::Relaxed));
        match self.cell(previous) {
            Some(before) => before.next.store(next, Ordering::Relaxed),
            None => list.first = Handle(next),
        }
        match self.cell(next) {
            Some(behind) => behind.previous.store(previous, Ordering::Relaxed),
            None => list.last = Handle(previous),
        }
        list.len -= 1;
    }

    /// The handles of `list`, which must not change meanwhile.
    pub(crate) fn listed(&self, list: &List) -> impl Iterator<Item = Handle> {
        let known = |handle: Handle| (handle != Handle::NULL).then_some(handle);
        std::iter::successors(known(list.first), move |handle| {
            known(Handle(self.cell(handle.0)?.next.load(Ordering::Relaxed)))
        })
    }

    /// Makes every live handle dead without dropping the objects. Meant for the child of a fork, which must not touch
    /// what it shares with its parent.
    pub fn abandon(&self) {
        records::abandon();
        for chunk in &self.chunks {
            for index in 0..chunk.len() {
                // SAFETY: index is below the chunk's length and chunks are never freed.
                let cell = unsafe { &*chunk.first.load(Ordering::Relaxed).add(index) };
                cell.state.abandon();
            }
        }
    }

    /// The cell at an address, if there is one.
    fn cell(&self, address: usize) -> Option<&'static Cell> {
        self.chunks.iter().find_map(|chunk| chunk.cell(address))
    }

    fn take_cell(&self) -> Option<usize> {
        let mut free = self.free.lock();
        if free.cells.len() > QUARANTINE
            && let Some(address) = self.rested(&mut free)
        {
            return Some(address);
        }
        let last = free.chunks.checked_sub(1);
        let full = last.is_none_or(|i| free.used == self.chunks[i].len());
        if full && self.grow(&mut free).is_none() {
            // Rather a cell that has not rested for long than none.
            return self.rested(&mut free);
        }
        let chunk = &self.chunks[free.chunks - 1];
        let address = chunk.first.load(Ordering::Relaxed) as usize + free.used * size_of::<Cell>();
        free.used += 1;
        Some(address)
    }

    /// The cell that was freed first, of those that no call is inside of.
    fn rested(&self, free: &mut Free) -> Option<usize> {
        for _ in 0..free.cells.len() {
            let address = free.cells.pop_front()?;
            if self.cell(address)?.state.is_vacant() {
                return Some(address);
            }
            // A call is still inside the dead object.
            free.cells.push_back(address);
        }
        None
    }

    /// Makes another chunk of cells, and room in the list of free cells, so that a free never needs memory.
    fn grow(&self, free: &mut Free) -> Option<()> {
        let chunk = self.chunks.get(free.chunks)?;
        let len = FIRST_CHUNK << free.chunks;
        let total = FIRST_CHUNK * ((2 << free.chunks) - 1);
        let more = total - free.cells.len();
        free.cells.room(more).ok()?;
        let settling = memory::boxed(Mutex::default()).ok()?;
        let mut cells = memory::vec(len).ok()?;
        let settling: &'static Mutex<()> = Box::leak(settling);
        cells.extend((0..len).map(|_| Cell {
            face: AtomicUsize::new(self.face),
            state: State::new(AtomicU64::new(0)),
            object: AtomicPtr::new(ptr::null_mut()),
            release: AtomicPtr::new(ptr::null_mut()),
            next: AtomicUsize::new(0),
            previous: AtomicUsize::new(0),
            listed: AtomicBool::new(false),
            settling,
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

    fn address(&'static self) -> u64 {
        ptr::from_ref(self).addr() as u64
    }

    /// Takes off a pin. Whoever takes the last one off a dead cell drops the object.
    fn unpin(&self) {
        let last = self.state.unpin(|| (self.object.load(Ordering::Relaxed), self.release.load(Ordering::Relaxed)));
        if let Some((object, release)) = last {
            // SAFETY: insert stored both for the object that was behind the cell, and this is the one caller who may
            // drop it.
            unsafe { bury(object, release) };
        }
    }
}

/// Drops the reference that a cell held. The cell itself may have another object by now.
///
/// # Safety
/// `release` is a [`Release`] for `object`, and the caller owns that reference.
#[cold]
unsafe fn bury(object: *mut (), release: *mut ()) {
    // SAFETY: it is one, as promised.
    let release = unsafe { std::mem::transmute::<*mut (), Release>(release) };
    // The last call to leave may be one that does not forbid cancellation.
    // SAFETY: the caller's promise.
    uncancelled(|| unsafe { release(object) });
}

/// The place that a handle names, where there may be a live object.
pub struct Place<'a> {
    cell: &'static Cell,
    slab: PhantomData<&'a ()>,
}

impl<'a> Place<'a> {
    /// Enters the object if it is alive and of type `O`.
    #[inline]
    pub fn enter<O: Object>(self) -> Option<Held<'a, O>> {
        self.enter_by(records::slot())
    }

    #[inline(always)]
    fn enter_by<O: Object>(self, slot: Option<&'static Slot>) -> Option<Held<'a, O>> {
        let cell = self.cell;
        let entered = match slot {
            Some(slot) => cell.state.enter_by(slot, cell.address(), O::KIND),
            None => cell.state.enter(O::KIND),
        };
        if !entered {
            cold_path();
            Entry::end(cell, slot);
            return None;
        }
        Some(Held { object: cell.object.load(Ordering::Relaxed).cast(), _entry: Entry { cell, slot }, slab: self.slab })
    }

    /// The kind of the object, if it is alive.
    #[inline]
    pub fn kind(&self) -> Option<Kind> {
        let kind = self.cell.state.kind()?;
        Kind::ALL.get(kind.wrapping_sub(1)).copied()
    }
}

/// The stay of a thread in a cell.
struct Entry {
    cell: &'static Cell,
    /// The slot by which the thread has entered; `None` for a pin.
    slot: Option<&'static Slot>,
}

impl Entry {
    /// Leaves a cell that was freed meanwhile, that had no such object, or that the thread has entered by a pin.
    #[cold]
    #[inline(never)]
    fn end(cell: &'static Cell, slot: Option<&'static Slot>) {
        let has_pin = slot.is_none_or(|slot| {
            cell.state.leave_by(slot) && cell.state.has_object() && {
                let _settling = cell.settling.lock();
                cell.state.is_last(|| records::inside(cell.address()))
            }
        });
        if has_pin {
            cell.unpin();
        }
    }
}

impl Drop for Entry {
    #[inline(always)]
    fn drop(&mut self) {
        let Some(slot) = self.slot else {
            cold_path();
            return Entry::end(self.cell, None);
        };
        // SAFETY: the slot has the address of the cell that was entered. So the call need not keep it.
        let cell = unsafe { Cell::at(slot.address() as usize) };
        if cell.state.leave_by(slot) {
            cold_path();
            Entry::end(cell, Some(slot));
        }
    }
}

/// A call inside an object: keeps the object in place even if its handle is freed meanwhile. The thread that entered the
/// object leaves it.
pub struct Held<'a, O: Object> {
    object: *const O,
    _entry: Entry,
    slab: PhantomData<&'a ()>,
}

impl<O: Object> Held<'_, O> {
    /// A reference of the caller's own to the object.
    pub fn share(&self) -> Arc<O> {
        // SAFETY: the cell owns a reference made by Arc::into_raw, and the entry keeps it.
        unsafe { Arc::increment_strong_count(self.object) };
        // SAFETY: this takes over the reference counted in the line above.
        unsafe { Arc::from_raw(self.object) }
    }
}

impl<O: Object> Deref for Held<'_, O> {
    type Target = O;

    #[inline]
    fn deref(&self) -> &O {
        // SAFETY: the entry keeps the cell's reference to the object.
        unsafe { &*self.object }
    }
}
