//! "Is anybody still using this?", answered without a locked instruction on the side that uses.
//!
//! A thread that uses something that another one may take away does so in a *section*. It counts in a word of its own,
//! which is odd while it is in one; entering and leaving are plain stores. What it finds in a section stays until it has
//! left. A thread that takes something away first marks it where those who use it look, and then calls [`wait`]: that has
//! all threads pass a fence ([`asymmetric::heavy`]), and waits until each thread that was in a section has left it, or
//! has been in another one since. So of a thread that enters and then looks, and one that marks and then waits, one sees
//! the other.
//!
//! There are two kinds of sections, because a thread may wait for one kind in the midst of the other: [`Objects`] and [`Memory`]. What
//! takes long is not done in a section: it counts a reference inside, and goes on without.
//!
//! # Who waits for whom
//! A thread that takes something away waits for threads of its own process, for as long as a section takes, and never for
//! another process. It does not wait for itself: [`is_inside`] tells that it may not take away yet, as in a signal
//! handler that has interrupted a fast call. A thread that ends in the middle of a section leaves it; in the child of a
//! fork no other thread is in one. Calls reach no point where a thread is cancelled while they are in a section.
//!
//! # Threads without a word
//! A thread finds its record with one load ([`static_tls::word`]). It gets it with its first section, and another thread
//! uses it when it has ended. There is none for a thread without memory for one, or whose thread-local data are gone
//! already, or where the kernel has no membarrier(2): then [`Section::enter`] refuses, and [`briefly`] takes one of a few
//! spare records for as long as it counts a reference. Records are never given back.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::pause::Pause;
use crate::per_thread::PerThread;
use crate::{asymmetric, memory, static_tls};

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

/// What a section keeps.
pub trait Kept {
    /// The place of its count in a record.
    #[doc(hidden)]
    const COUNT: usize;
}

/// Objects behind handles, for a whole fast call. Such a call takes locks, and may wait for sections for [`Memory`]: when the
/// message of a peer revokes a window, for instance. So a thread that waits for these sections holds no lock that a fast call
/// takes.
#[derive(Debug)]
pub enum Objects {}

/// Registered memory, for a copy of no more than a record, and what else is done with so few instructions. In such a section a
/// thread takes the locks of an endpoint's receives, of a shared receive queue, of an EVD and of all that an event wakes, so a
/// thread that waits for these sections holds none of them. In such a section it waits for no other one.
#[derive(Debug)]
pub enum Memory {}

impl Kept for Objects {
    const COUNT: usize = 0;
}

impl Kept for Memory {
    const COUNT: usize = 1;
}

/// An atomic word; a model of the memory has its own.
trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
}

/// The count of one thread. Only its thread calls the functions that change it.
#[derive(Debug)]
struct Count<W> {
    /// Odd while the thread is in a section.
    count: W,
    /// The sections inside of that one.
    nested: W,
}

impl<W: Word> Count<W> {
    const fn new(count: W, nested: W) -> Self {
        Count { count, nested }
    }

    /// Enters the first section.
    #[inline(always)]
    fn enter(&self, count: u64) {
        // SYNC section-leave: a Release here too, because this store may hide that of the even count before it.
        self.count.store(count + 1, Ordering::Release);
        // SYNC section-enter: the thread makes the count odd, passes the light half and looks; a thread that takes away
        // marks, passes the heavy half and loads the count in `section`. Either the mark is found, or the section is
        // waited for.
        asymmetric::light_if_available();
    }

    #[inline(always)]
    fn leave(&self) {
        if self.nested.load(Ordering::Relaxed) != 0 {
            return self.leave_nested();
        }
        // SYNC section-leave: what the thread did in the section comes before this store, and is visible to a thread
        // that finds the section left.
        self.count.store(self.count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn leave_nested(&self) {
        self.nested.store(self.nested.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn enter_nested(&self) {
        self.nested.store(self.nested.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Leaves all sections, for a thread that has ended.
    fn clear(&self) {
        self.nested.store(0, Ordering::Relaxed);
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(count & 1), Ordering::Release);
    }

    /// The section in which its thread is, for [`Count::has_left`].
    fn section(&self) -> Option<u64> {
        // SYNC section-enter, section-leave
        let count = self.count.load(Ordering::Acquire);
        (count & 1 != 0).then_some(count)
    }

    /// Whether its thread has left that section.
    fn has_left(&self, section: u64) -> bool {
        // SYNC section-leave
        self.count.load(Ordering::Acquire) != section
    }
}

/// The counts of one thread, on cache lines of their own.
#[repr(C, align(128))]
struct Record {
    /// By [`Kept::COUNT`].
    counts: [Count<AtomicU64>; 2],
    /// The record that was made before this one.
    next: Option<&'static Record>,
    /// Whether a thread has it.
    taken: AtomicBool,
}

impl Record {
    /// A record with these counts.
    const fn new(count: u64, taken: bool) -> Self {
        let counts = [const { Count::new(AtomicU64::new(0), AtomicU64::new(0)) }; 2];
        let mut record = Record { counts, next: None, taken: AtomicBool::new(taken) };
        record.counts[0].count = AtomicU64::new(count);
        record.counts[1].count = AtomicU64::new(count);
        record
    }

    /// Takes it, if no thread has it.
    fn take(&self) -> bool {
        // SYNC record: pairs with the Release of the thread before, which has left its sections.
        self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives it back.
    fn free(&self) {
        self.counts.iter().for_each(Count::clear);
        // SYNC record: stored behind the last section, so the next thread finds the counts as they are.
        self.taken.store(false, Ordering::Release);
    }

    fn count<K: Kept>(&self) -> &Count<AtomicU64> {
        &self.counts[K::COUNT]
    }
}

/// The records of threads, in a list that only grows. They are never freed.
static FIRST: AtomicPtr<Record> = AtomicPtr::new(ptr::null_mut());

/// What threads take for a moment that have no record.
static SPARE: [Record; 8] = [const { Record::new(0, false) }; 8];

/// What threads have that get no record: its counts are odd.
static NONE: Record = Record::new(u64::MAX, true);

/// Gives the record of a thread back when the thread ends.
#[derive(Default)]
struct Owner(Cell<Option<&'static Record>>);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(record) = self.0.get() {
            // Destructors of the program that run after this one may still make calls.
            set_own(&NONE);
            record.free();
        }
    }
}

static OWNERS: PerThread<Owner> = PerThread::new();

fn all() -> impl Iterator<Item = &'static Record> {
    // SYNC record: the memory behind the pointer is initialised.
    let first = FIRST.load(Ordering::Acquire);
    // SAFETY: the pointer is NULL or comes from a box that `make` leaked.
    SPARE.iter().chain(std::iter::successors(unsafe { first.as_ref() }, |record| record.next))
}

/// The record of the calling thread, or [`NONE`], if it has asked for one already.
#[inline(always)]
fn own() -> Option<&'static Record> {
    // SAFETY: the word is 0 or the address of a record, none of which is ever freed.
    unsafe { ptr::with_exposed_provenance::<Record>(static_tls::word()).as_ref() }
}

fn set_own(record: &'static Record) {
    // SAFETY: this module defines the word; records are never freed.
    unsafe { static_tls::set_word(ptr::from_ref(record).expose_provenance()) };
}

/// The records of all threads but the calling one.
fn others() -> impl Iterator<Item = &'static Record> {
    let own = own();
    all().filter(move |record| own.is_none_or(|own| !ptr::eq(own, *record)))
}

/// A section of the calling thread, for as long as this lives. A thread can be in several at once.
#[derive(Debug)]
#[must_use]
pub struct Section<K: Kept> {
    count: &'static Count<AtomicU64>,
    /// It stays with its thread.
    kept: PhantomData<*mut K>,
}

impl<K: Kept> Section<K> {
    /// Enters a section. `None` if the calling thread has no record and gets none.
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let Some(record) = own() else { return Section::first() };
        let section = Section { count: record.count::<K>(), kept: PhantomData };
        let count = section.count.count.load(Ordering::Relaxed);
        if count & 1 != 0 {
            return section.again(record);
        }
        section.count.enter(count);
        Some(section)
    }

    /// Enters the first section of a thread.
    #[cold]
    #[inline(never)]
    fn first() -> Option<Self> {
        register()?;
        Section::enter()
    }

    /// Enters a section in another one.
    #[cold]
    #[inline(never)]
    fn again(self, record: &'static Record) -> Option<Self> {
        if ptr::eq(record, &NONE) {
            std::mem::forget(self);
            return None;
        }
        self.count.enter_nested();
        Some(self)
    }
}

impl<K: Kept> Drop for Section<K> {
    #[inline(always)]
    fn drop(&mut self) {
        self.count.leave();
    }
}

/// Calls `f`, which only looks and counts a reference, in a section for objects. That needs no record.
pub fn briefly<R>(f: impl FnOnce() -> R) -> R {
    let Some(section) = Section::<Objects>::enter() else { return with_spare(f) };
    let result = f();
    drop(section);
    result
}

#[cold]
#[inline(never)]
fn with_spare<R>(f: impl FnOnce() -> R) -> R {
    let mut pause = Pause::new();
    let record = loop {
        match SPARE.iter().find(|record| record.take()) {
            Some(record) => break record,
            None => pause.pass(),
        }
    };
    let count = record.count::<Objects>();
    count.enter(count.count.load(Ordering::Relaxed));
    // Where the kernel has no membarrier.
    asymmetric::light();
    let result = f();
    record.free();
    result
}

/// Whether the calling thread is in a section.
pub fn is_inside<K: Kept>() -> bool {
    own().is_some_and(|record| !ptr::eq(record, &NONE) && record.count::<K>().section().is_some())
}

/// Waits until all sections are over that other threads are in. What was done in them is visible then. [`Objects`] and
/// [`Memory`] say which locks the caller may hold.
pub fn wait<K: Kept>() {
    asymmetric::heavy();
    for record in others() {
        let count = record.count::<K>();
        let Some(section) = count.section() else { continue };
        let mut pause = Pause::new();
        while !count.has_left(section) {
            pause.pass();
        }
    }
}

/// Gives the calling thread a record, or [`NONE`]. There is neither without memory; the thread asks again next time.
fn register() -> Option<()> {
    let record = if asymmetric::available() {
        OWNERS.with(|owner| {
            let record = all().skip(SPARE.len()).find(|record| record.take()).or_else(make);
            owner.0.set(record);
            record
        })??
    } else {
        &NONE
    };
    set_own(record);
    Some(())
}

/// A new record; `None` if there is no memory.
fn make() -> Option<&'static Record> {
    let record = Box::leak(memory::boxed(Record::new(0, true)).ok()?);
    let mut first = FIRST.load(Ordering::Acquire);
    loop {
        // SAFETY: as in `all`.
        record.next = unsafe { first.as_ref() };
        let address = ptr::from_mut(record);
        // SYNC record: each exchange loads the head before it with Acquire, so a thread that finds the head finds all
        // records behind it.
        match FIRST.compare_exchange(first, address, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the record was leaked above, and from now on it is shared.
            Ok(_) => return Some(unsafe { &*address }),
            Err(now) => first = now,
        }
    }
}

/// Frees the records of all threads but the calling one. Only the child of a fork may call this, which has no other.
pub fn in_child() {
    others().for_each(Record::free);
}
