//! Handles: cells of memory that stay where they are for the life of the process.
//!
//! A handle is the address of a cell. The first word of a cell belongs to the face, which may keep a table of functions
//! there. The second word holds the state: whether the cell is alive, the kind of the object behind it, how often the
//! cell was used, and how many calls are inside the object. A check therefore never reads memory that could have been
//! given back, whatever address a program passes.
//!
//! A freed cell is used again only after [`QUARANTINE`] others were freed, so that a
//! stale handle is refused for a long time.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use host::lock::Mutex;
use host::memory::{self, Room};

/// Address of a live or dead cell, as a program holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Handle(pub usize);

impl Handle {
    /// No object.
    pub const NULL: Handle = Handle(0);
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
}

impl Kind {
    /// One more than the largest number of a kind.
    pub const COUNT: usize = Kind::Cr as usize + 1;

    const ALL: [Kind; 11] = [
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

const ALIVE: u64 = 1 << 63;
const KIND_SHIFT: u32 = 56;
const KIND_MASK: u64 = 0x7f << KIND_SHIFT;
const GENERATION_ONE: u64 = 1 << 32;
const GENERATION_MASK: u64 = 0x00ff_ffff << 32;
const PINS_MASK: u64 = 0xffff_ffff;

/// The number of freed cells that rest before the first of them is used again.
pub const QUARANTINE: usize = 4096;
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = 16;

#[repr(C, align(64))]
struct Cell {
    face: AtomicUsize,
    state: AtomicU64,
    object: AtomicPtr<()>,
    release: AtomicPtr<()>,
    /// The neighbours in the list that the handle is in, and whether it is in one. See [`List`].
    next: AtomicUsize,
    previous: AtomicUsize,
    listed: AtomicBool,
}

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

struct Chunk {
    cells: AtomicPtr<Cell>,
    len: AtomicUsize,
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
            chunks: std::array::from_fn(|_| Chunk { cells: AtomicPtr::new(ptr::null_mut()), len: AtomicUsize::new(0) }),
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
        // A stray pin of a stale handle may be in flight, so add instead of storing.
        let kind = (O::KIND as u64) << KIND_SHIFT;
        let mut old = cell.state.load(Ordering::Relaxed);
        loop {
            let generation = (old + GENERATION_ONE) & GENERATION_MASK;
            let new = ALIVE | kind | generation | (old & PINS_MASK);
            // SYNC publish: the object is in place before the cell is alive.
            match cell.state.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Some(Handle(address)),
                Err(now) => old = now,
            }
        }
    }

    /// Enters the object behind `handle` if it is alive and of type `O`.
    #[inline]
    pub fn get<O: Object>(&self, handle: Handle) -> Option<Held<'_, O>> {
        let cell = self.cell(handle.0)?;
        // SYNC publish: pairs with the store in insert.
        let state = cell.state.fetch_add(1, Ordering::Acquire);
        if state & (ALIVE | KIND_MASK) == ALIVE | ((O::KIND as u64) << KIND_SHIFT) {
            return Some(Held { cell, object: cell.object.load(Ordering::Relaxed).cast(), slab: PhantomData });
        }
        unpin(cell);
        None
    }

    /// The kind of the live object behind `handle`.
    pub fn kind(&self, handle: Handle) -> Option<Kind> {
        let state = self.cell(handle.0)?.state.load(Ordering::Acquire);
        if state & ALIVE == 0 {
            return None;
        }
        let kind = ((state & KIND_MASK) >> KIND_SHIFT) as usize;
        Kind::ALL.get(kind.wrapping_sub(1)).copied()
    }

    /// Makes `handle` dead if it is alive and of type `O`; true for exactly one caller. The object is dropped when the
    /// last call inside it has left.
    pub fn remove<O: Object>(&self, handle: Handle) -> bool {
        let Some(cell) = self.cell(handle.0) else { return false };
        let wanted = ALIVE | ((O::KIND as u64) << KIND_SHIFT);
        let mut old = cell.state.load(Ordering::Relaxed);
        loop {
            if old & (ALIVE | KIND_MASK) != wanted {
                return false;
            }
            // This adds a pin of its own, so that the object is dropped in unpin at the earliest.
            let new = (old & !ALIVE) + 1;
            match cell.state.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        unpin(cell);
        self.free.lock().cells.push_back(handle.0);
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
        for chunk in &self.chunks {
            let first = chunk.cells.load(Ordering::Acquire);
            if first.is_null() {
                break;
            }
            for index in 0..chunk.len.load(Ordering::Relaxed) {
                // SAFETY: index is below the chunk's length and chunks are never freed.
                let cell = unsafe { &*first.add(index) };
                let kept = cell.state.load(Ordering::Relaxed) & GENERATION_MASK;
                cell.state.store(kept, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    fn cell(&self, address: usize) -> Option<&'static Cell> {
        for chunk in &self.chunks {
            let first = chunk.cells.load(Ordering::Acquire);
            if first.is_null() {
                return None;
            }
            let offset = address.wrapping_sub(first as usize);
            let len = chunk.len.load(Ordering::Relaxed);
            if offset < len * size_of::<Cell>() {
                if !offset.is_multiple_of(size_of::<Cell>()) {
                    return None;
                }
                // SAFETY: inside a chunk, on a cell's boundary; chunks are never freed.
                return Some(unsafe { &*first.byte_add(offset) });
            }
        }
        None
    }

    fn take_cell(&self) -> Option<usize> {
        let mut free = self.free.lock();
        if free.cells.len() > QUARANTINE
            && let Some(address) = self.rested(&mut free)
        {
            return Some(address);
        }
        let last = free.chunks.checked_sub(1);
        let full = last.is_none_or(|i| free.used == self.chunks[i].len.load(Ordering::Relaxed));
        if full && self.grow(&mut free).is_none() {
            // Rather a cell that has not rested for long than none.
            return self.rested(&mut free);
        }
        let chunk = &self.chunks[free.chunks - 1];
        let address = chunk.cells.load(Ordering::Relaxed) as usize + free.used * size_of::<Cell>();
        free.used += 1;
        Some(address)
    }

    /// The cell that was freed first, of those that no call is inside of.
    fn rested(&self, free: &mut Free) -> Option<usize> {
        for _ in 0..free.cells.len() {
            let address = free.cells.pop_front()?;
            let busy = self.cell(address)?.state.load(Ordering::Acquire) & (KIND_MASK | PINS_MASK);
            if busy == 0 {
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
        let mut cells = memory::vec(len).ok()?;
        cells.extend((0..len).map(|_| Cell {
            face: AtomicUsize::new(self.face),
            state: AtomicU64::new(0),
            object: AtomicPtr::new(ptr::null_mut()),
            release: AtomicPtr::new(ptr::null_mut()),
            next: AtomicUsize::new(0),
            previous: AtomicUsize::new(0),
            listed: AtomicBool::new(false),
        }));
        chunk.len.store(len, Ordering::Relaxed);
        chunk.cells.store(Vec::leak(cells).as_mut_ptr(), Ordering::Release);
        free.chunks += 1;
        free.used = 0;
        Some(())
    }
}

/// Leaves a cell. The last call to leave a dead cell drops the object.
fn unpin(cell: &'static Cell) {
    let state = cell.state.fetch_sub(1, Ordering::AcqRel) - 1;
    if state & ALIVE == 0 && state & PINS_MASK == 0 && state & KIND_MASK != 0 {
        bury(cell, state);
    }
}

#[cold]
fn bury(cell: &'static Cell, state: u64) {
    let object = cell.object.load(Ordering::Relaxed);
    let release = cell.release.load(Ordering::Relaxed);
    // Only the one that clears the kind may drop the object.
    let claimed = cell.state.compare_exchange(state, state & !KIND_MASK, Ordering::AcqRel, Ordering::Relaxed);
    if claimed.is_ok() {
        // SAFETY: insert stored this function for this object's type.
        let release: Release = unsafe { std::mem::transmute::<*mut (), Release>(release) };
        // SAFETY: the cell owned one reference and the exchange above made us its heir.
        unsafe { release(object) };
    }
}

/// A call inside an object: keeps the object in place even if its handle is freed meanwhile.
pub struct Held<'a, O: Object> {
    cell: &'static Cell,
    object: *const O,
    #[allow(dead_code)]
    slab: PhantomData<&'a ()>,
}

impl<O: Object> Held<'_, O> {
    /// A reference of the caller's own to the object.
    pub fn share(&self) -> Arc<O> {
        // SAFETY: the cell owns a reference made by Arc::into_raw, and the pin keeps it.
        unsafe { Arc::increment_strong_count(self.object) };
        // SAFETY: this takes over the reference counted in the line above.
        unsafe { Arc::from_raw(self.object) }
    }
}

impl<O: Object> Deref for Held<'_, O> {
    type Target = O;

    #[inline]
    fn deref(&self) -> &O {
        // SAFETY: the pin keeps the cell's reference to the object.
        unsafe { &*self.object }
    }
}

impl<O: Object> Drop for Held<'_, O> {
    #[inline]
    fn drop(&mut self) {
        unpin(self.cell);
    }
}

// SAFETY: a pin may be released by any thread, and objects are Send and Sync.
unsafe impl<O: Object> Send for Held<'_, O> {}

#[cfg(test)]
mod tests {
    use super::*;

    struct A(u32, Header);
    struct B(Header);
    impl Object for A {
        const KIND: Kind = Kind::Ep;
        fn header(&self) -> &Header {
            &self.1
        }
    }
    impl Object for B {
        const KIND: Kind = Kind::Evd;
        fn header(&self) -> &Header {
            &self.0
        }
    }

    fn b() -> Arc<B> {
        Arc::new(B(Header::default()))
    }

    #[test]
    fn only_live_handles_of_the_right_kind_are_entered() {
        let slab: Slab<()> = Slab::new(7);
        let object = Arc::new(A(5, Header::default()));
        let handle = slab.insert(object.clone()).unwrap();
        // SAFETY: a handle points to a cell whose first word belongs to the face.
        assert_eq!(unsafe { *(handle.0 as *const usize) }, 7);
        assert_eq!(slab.get::<A>(handle).unwrap().0, 5);
        assert!(slab.get::<B>(handle).is_none());
        assert!(slab.get::<A>(Handle(handle.0 + 8)).is_none());
        assert!(slab.get::<A>(Handle(handle.0 + 64)).is_none());
        assert!(slab.get::<A>(Handle(&object as *const _ as usize)).is_none());
        assert!(!slab.remove::<B>(handle));
        assert!(slab.remove::<A>(handle));
        assert!(!slab.remove::<A>(handle));
        assert!(slab.get::<A>(handle).is_none());
        assert_eq!(Arc::strong_count(&object), 1);
    }

    #[test]
    fn an_object_outlives_its_handle_while_a_call_is_inside() {
        let slab: Slab<()> = Slab::new(0);
        let object = b();
        let handle = slab.insert(object.clone()).unwrap();
        let held = slab.get::<B>(handle).unwrap();
        assert!(slab.remove::<B>(handle));
        assert_eq!(Arc::strong_count(&object), 2);
        drop(held);
        assert_eq!(Arc::strong_count(&object), 1);
    }

    #[test]
    fn cells_rest_before_they_are_used_again() {
        let slab: Slab<()> = Slab::new(0);
        let first = slab.insert(b()).unwrap();
        assert!(slab.remove::<B>(first));
        for _ in 0..QUARANTINE - 1 {
            let handle = slab.insert(b()).unwrap();
            assert_ne!(handle, first);
            assert!(slab.remove::<B>(handle));
        }
        assert!(slab.get::<B>(first).is_none());
    }

    #[test]
    fn threads_that_race_with_a_free_see_the_object_or_nothing() {
        let slab: Arc<Slab<()>> = Arc::new(Slab::new(0));
        for _ in 0..200 {
            let object = Arc::new(A(9, Header::default()));
            let handle = slab.insert(object.clone()).unwrap();
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        while let Some(held) = slab.get::<A>(handle) {
                            assert_eq!(held.0, 9);
                        }
                    });
                }
                assert!(slab.remove::<A>(handle));
            });
            assert_eq!(Arc::strong_count(&object), 1);
        }
    }
}
