//! "Is anybody still using this?", answered without a locked instruction on the side that uses.
//!
//! A thread that uses something that another one may take away does so in a *section*, which it counts in a word of its
//! own; entering and leaving are plain stores. What it finds in a section stays until it has left. A thread that takes
//! something away first marks it where those who use it look, and then calls [`wait`]: that has all threads pass a fence
//! ([`asymmetric::heavy`]), and waits until each thread that was in a section has left it, or has been in another one
//! since. So of a thread that enters and then looks, and one that marks and then waits, one sees the other.
//!
//! There are two kinds of sections, because a thread may wait for one kind in the midst of the other: [`Objects`] and
//! [`Memory`]. What takes long is not done in a section: it counts a reference inside, and goes on without.
//!
//! # Who waits for whom
//! A thread that takes something away waits for threads of its own process, for as long as a section takes, and never for
//! another process. It does not wait for itself: [`is_inside`] tells that it may not take away yet, as in a signal
//! handler that has interrupted a fast call. A thread that ends in the middle of a section leaves it; in the child of a
//! fork no other thread is in one. Calls reach no point where a thread is cancelled while they are in a section.
//!
//! # Threads without a record
//! A thread finds its record, which has its words, with one load ([`static_tls::word`]). It gets it with its first
//! section, and another thread uses it when it has ended. There is none for a thread without memory for one, or whose
//! thread-local data are gone already, or where the kernel has no membarrier(2): then [`EpochGuard::enter`] refuses, and
//! [`briefly`] takes one of a few spare records for as long as it counts a reference. Records are never given back.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// The count of one thread, which alone calls the functions that change it. The high half is the number of sections that the
/// thread has left. The low half is 0 while it is in none; otherwise it counts the section and those inside of it.
#[derive(Debug)]
struct Count<W>(W);

/// One more section that was left.
const LEFT: u64 = 1 << 32;

impl<W: Word> Count<W> {
    #[inline(always)]
    fn enter(&self) {
        // SYNC section-leave: a Release here too, because this store may hide that of the leave before it.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Release);
        // SYNC section-enter: the thread counts, passes the light half and looks; a thread that takes away marks, passes
        // the heavy half and loads the count. Either the mark is found, or the section is waited for.
        asymmetric::light_if_available();
    }

    #[inline(always)]
    fn leave(&self) {
        let count = self.0.load(Ordering::Relaxed) - 1;
        let count = if count % LEFT == 0 { count.wrapping_add(LEFT) } else { count };
        // SYNC section-leave: what the thread did in the section comes before this store, and is visible to a thread
        // that finds the section left.
        self.0.store(count, Ordering::Release);
    }

    /// Leaves all sections, for a thread that has ended.
    fn clear(&self) {
        // SYNC section-leave
        self.0.store((self.0.load(Ordering::Relaxed) | (LEFT - 1)).wrapping_add(1), Ordering::Release);
    }

    /// The section in which its thread is.
    fn section(&self) -> Option<u64> {
        // SYNC section-enter, section-leave
        let count = self.0.load(Ordering::Acquire);
        (count % LEFT != 0).then_some(count / LEFT)
    }

    /// Waits until its thread has left the section that it is in; false if `pass` has returned false before.
    fn await_left(&self, mut pass: impl FnMut() -> bool) -> bool {
        let section = self.section();
        while section.is_some() && self.section() == section {
            if !pass() {
                return false;
            }
        }
        true
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
    const fn new(taken: bool) -> Self {
        let counts = [const { Count(AtomicU64::new(0)) }; 2];
        Record { counts, next: None, taken: AtomicBool::new(taken) }
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
static SPARE: [Record; 8] = [const { Record::new(false) }; 8];

/// Gives the record of a thread back when the thread ends. Destructors of the program that run later may still make calls; then
/// the thread gets both again.
#[derive(Default)]
struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(record) = own() {
            set_own(None);
            record.free();
        }
    }
}

static OWNERS: PerThread<Owner> = PerThread::new();

fn all() -> impl Iterator<Item = &'static Record> {
    // SYNC record: the memory behind the pointer is initialised.
    let first = FIRST.load(Ordering::Acquire);
    // SAFETY: the pointer is NULL or comes from a box that `make` gave away.
    SPARE.iter().chain(std::iter::successors(unsafe { first.as_ref() }, |record| record.next))
}

/// The record of the calling thread, if it has one.
#[inline(always)]
fn own() -> Option<&'static Record> {
    // SAFETY: the word is 0 or the address of a record, none of which is ever freed.
    unsafe { ptr::with_exposed_provenance::<Record>(static_tls::word()).as_ref() }
}

fn set_own(record: Option<&'static Record>) {
    let address = record.map_or(0, |record| ptr::from_ref(record).expose_provenance());
    // SAFETY: this module defines the word; records are never freed.
    unsafe { static_tls::set_word(address) };
}

/// The records of all threads but the calling one.
fn others() -> impl Iterator<Item = &'static Record> {
    let own = own();
    all().filter(move |record| own.is_none_or(|own| !ptr::eq(own, *record)))
}

/// A section of the calling thread, for as long as this lives. A thread can be in several at once.
#[derive(Debug)]
#[must_use]
pub struct EpochGuard<K: Kept> {
    count: &'static Count<AtomicU64>,
    /// It stays with its thread.
    kept: PhantomData<*mut K>,
}

impl<K: Kept> EpochGuard<K> {
    /// Enters a section. `None` if the calling thread has no record and gets none.
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let record = match own() {
            Some(record) => record,
            None => register()?,
        };
        let count = record.count::<K>();
        count.enter();
        Some(EpochGuard { count, kept: PhantomData })
    }
}

impl<K: Kept> Drop for EpochGuard<K> {
    #[inline(always)]
    fn drop(&mut self) {
        self.count.leave();
    }
}

/// Calls `f`, which only looks and counts a reference, in a section for objects. That needs no record.
pub fn briefly<R>(f: impl FnOnce() -> R) -> R {
    let Some(_section) = EpochGuard::<Objects>::enter() else { return with_spare(f) };
    f()
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
    record.count::<Objects>().enter();
    // Where the kernel has no membarrier.
    asymmetric::light();
    let result = f();
    record.free();
    result
}

/// Whether the calling thread is in a section.
pub fn is_inside<K: Kept>() -> bool {
    own().is_some_and(|record| record.count::<K>().section().is_some())
}

/// Waits until all sections are over that other threads are in, but no longer than `limit`, if there is one; whether they are
/// over. What was done in them is visible then. [`Objects`] and [`Memory`] say which locks the caller may hold.
pub fn synchronize<K: Kept>(limit: Option<Duration>) -> bool {
    let begun = Instant::now();
    // SYNC section-enter: behind the mark of the caller.
    asymmetric::heavy();
    others().all(|record| {
        let mut pause = Pause::new();
        record.count::<K>().await_left(|| {
            pause.pass();
            limit.is_none_or(|limit| begun.elapsed() < limit)
        })
    })
}

/// Gives the calling thread a record, if it can have one; if not, it asks again next time.
#[cold]
#[inline(never)]
fn register() -> Option<&'static Record> {
    if !asymmetric::available() {
        return None;
    }
    let record = OWNERS.with(|_| all().skip(SPARE.len()).find(|record| record.take()).or_else(make))??;
    set_own(Some(record));
    Some(record)
}

/// A new record; `None` if there is no memory.
fn make() -> Option<&'static Record> {
    let record = Box::into_raw(memory::boxed(Record::new(true)).ok()?);
    // SYNC record: each exchange loads the head before it with Acquire, so a thread that finds the head finds all records
    // behind it.
    let _ = FIRST.fetch_update(Ordering::AcqRel, Ordering::Acquire, |first| {
        // SAFETY: no other thread has the new record yet; the first one is as in `all`.
        unsafe { (*record).next = first.as_ref() };
        Some(record)
    });
    // SAFETY: it is never freed, and from now on it is shared.
    Some(unsafe { &*record })
}

/// Frees the records of all threads but the calling one. Only the child of a fork may call this, which has no other.
pub fn in_child() {
    others().for_each(Record::free);
}
