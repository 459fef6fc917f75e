//! Epoch-based reclamation without locked instructions for readers.
//!
//! A thread uses a shared item only in a *section*, which it counts in words of its own with plain stores. An item
//! found in a section stays valid until the thread leaves the section. A thread that frees an item marks it as dead,
//! and then calls [`synchronize`]:
//!
//! ```text
//! reader                                thread that frees
//!   count the section, light half         store the mark
//!   load the mark                         heavy half, load all counts
//!   use the item                          wait for the sections that it saw
//!   count the end of the section          free the item
//! ```
//!
//! So the reader sees the mark, or `synchronize` waits for the reader. Long operations take a reference in a section
//! and continue outside. Sections have two kinds, [`Objects`] and [`Memory`], because a thread in an `Objects` section
//! can wait for `Memory` sections.
//!
//! `synchronize` does not wait for the calling thread, which must not free inside a section ([`is_inside`]). A section
//! contains no cancellation point, and ends with its thread. In the child of a fork, [`in_child`] ends the sections of
//! all other threads.
//!
//! # Records
//! The counts of a thread are in a record, which one load finds ([`static_tls::word`]). A thread gets its record with
//! its first section; later threads can reuse it. Without memory, live thread-local data or membarrier(2), a thread has
//! no record: [`EpochGuard::enter`] returns `None`, and [`briefly`] borrows a spare record.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::pause::Pause;
use crate::per_thread::PerThread;
use crate::word::Word;
use crate::{asymmetric, memory, static_tls};

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

/// A kind of section: [`Objects`] or [`Memory`].
pub trait SectionKind {
    #[doc(hidden)]
    const INDEX: usize;
}

/// Sections that protect objects behind handles, for a whole fast call.
///
/// The call takes locks, and may wait for [`Memory`] sections, for example if a message of a peer revokes a memory
/// window. So a thread that waits for `Objects` sections must not hold a lock that a fast call takes.
#[derive(Debug)]
pub enum Objects {}

/// Sections that protect registered memory and other data, at most for the copy of one record.
///
/// In the section, a thread takes the locks of an endpoint's receives, an SRQ, an EVD, what an event wakes, and the
/// requests of a datagram connection. So a thread that waits for `Memory` sections must hold none of these locks. A
/// thread in such a section waits for no section.
#[derive(Debug)]
pub enum Memory {}

impl SectionKind for Objects {
    const INDEX: usize = 0;
}

impl SectionKind for Memory {
    const INDEX: usize = 1;
}

/// The sections of one kind of one thread. Only that thread changes the words.
#[derive(Debug)]
struct Count<W> {
    /// Nesting depth, 0 outside sections.
    depth: W,
    /// Number of sections that the thread has left, modulo 2^64.
    left: W,
}

impl<W: Word<Value = u64>> Count<W> {
    #[inline(always)]
    fn enter(&self) {
        // SYNC section-leave: a Release, because another thread may load this store instead of the last one of `leave`.
        self.depth.store(self.depth.load(Ordering::Relaxed) + 1, Ordering::Release);
        // SYNC section-enter: the reader stores the count, executes the light half and loads the mark. The other thread
        // stores the mark, executes the heavy half and loads the count. So one of them sees the other's store.
        asymmetric::light_available();
    }

    #[inline(always)]
    fn leave(&self) {
        let depth = self.depth.load(Ordering::Relaxed) - 1;
        // SYNC section-leave: a thread that sees the end of the section sees its accesses.
        self.depth.store(depth, Ordering::Release);
        if depth == 0 {
            self.note_left();
        }
    }

    #[inline(always)]
    fn note_left(&self) {
        // SYNC section-leave: a thread that sees the next section, and not that the depth was 0, sees this number.
        self.left.store(self.left.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    fn clear(&self) {
        // SYNC section-leave
        self.depth.store(0, Ordering::Release);
        self.note_left();
    }

    /// Returns the number of the present section, or `None` outside sections.
    fn section(&self) -> Option<u64> {
        // The number first: if the thread enters its next section in between, that section began after this call, and
        // does not matter to the caller.
        // SYNC section-enter, section-leave
        let left = self.left.load(Ordering::Acquire);
        (self.depth.load(Ordering::Acquire) != 0).then_some(left)
    }

    /// Waits for the end of the present section, if any, and calls `pass` between polls. Returns `false` if `pass`
    /// does.
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

/// The counts of a thread, on a separate pair of cache lines.
#[repr(C, align(128))]
struct Record {
    counts: [Count<AtomicU64>; 2],
    next: Option<&'static Record>,
    taken: AtomicBool,
}

impl Record {
    const fn new(taken: bool) -> Self {
        let counts = [const { Count { depth: AtomicU64::new(0), left: AtomicU64::new(0) } }; 2];
        Record { counts, next: None, taken: AtomicBool::new(taken) }
    }

    fn take(&self) -> bool {
        // SYNC record: pairs with the Release of the previous owner.
        self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn free(&self) {
        self.counts.iter().for_each(Count::clear);
        // SYNC record: follows the last section, so the next owner sees the final counts.
        self.taken.store(false, Ordering::Release);
    }

    fn count<K: SectionKind>(&self) -> &Count<AtomicU64> {
        &self.counts[K::INDEX]
    }
}

/// Head of the list of records, which only grows.
static FIRST: AtomicPtr<Record> = AtomicPtr::new(ptr::null_mut());

/// Records for threads that cannot have their own, only for [`briefly`].
static SPARE: [Record; 8] = [const { Record::new(false) }; 8];

/// Releases the record of a thread that ends. Sections in later destructors create an owner again.
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
    // SYNC record: makes the contents of all listed records visible.
    let first = FIRST.load(Ordering::Acquire);
    // SAFETY: NULL, or a record that `make` has leaked.
    SPARE.iter().chain(std::iter::successors(unsafe { first.as_ref() }, |record| record.next))
}

#[inline(always)]
fn own() -> Option<&'static Record> {
    // SAFETY: 0 or the address of a record, which is never freed.
    unsafe { ptr::with_exposed_provenance::<Record>(static_tls::word()).as_ref() }
}

fn set_own(record: Option<&'static Record>) {
    let address = record.map_or(0, |record| ptr::from_ref(record).expose_provenance());
    // SAFETY: only this module uses the word, and records are never freed.
    unsafe { static_tls::set_word(address) };
}

fn others() -> impl Iterator<Item = &'static Record> {
    let own = own();
    all().filter(move |record| own.is_none_or(|own| !ptr::eq(own, *record)))
}

/// A section of the calling thread, until the guard is dropped. Sections nest.
#[derive(Debug)]
#[must_use]
pub struct EpochGuard<K: SectionKind> {
    count: &'static Count<AtomicU64>,
    not_send: PhantomData<*mut K>,
}

impl<K: SectionKind> EpochGuard<K> {
    /// Enters a section. Returns `None` if the calling thread has no record and cannot get one.
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let record = match own() {
            Some(record) => record,
            None => register()?,
        };
        let count = record.count::<K>();
        count.enter();
        Some(EpochGuard { count, not_send: PhantomData })
    }
}

impl<K: SectionKind> Drop for EpochGuard<K> {
    #[inline(always)]
    fn drop(&mut self) {
        self.count.leave();
    }
}

/// Calls `f` in an [`Objects`] section, even if the calling thread has no record. `f` must be short.
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
    // A fence even without membarrier, unlike the fence in `enter`.
    asymmetric::light();
    let result = f();
    record.free();
    result
}

/// Returns whether the calling thread is in a section of this kind.
pub fn is_inside<K: SectionKind>() -> bool {
    own().is_some_and(|record| record.count::<K>().section().is_some())
}

/// Waits until all other threads have left their present sections of this kind, for at most `limit`; `None` is no
/// limit. Returns whether they have; then their accesses in these sections are visible. [`Objects`] and [`Memory`]
/// specify which locks the caller must not hold.
pub fn synchronize<K: SectionKind>(limit: Option<Duration>) -> bool {
    let begun = Instant::now();
    // SYNC section-enter: follows the caller's store of the mark.
    asymmetric::heavy();
    others().all(|record| {
        let mut pause = Pause::new();
        record.count::<K>().await_left(|| {
            pause.pass();
            limit.is_none_or(|limit| begun.elapsed() < limit)
        })
    })
}

/// Assigns a record to the calling thread, if possible.
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

fn make() -> Option<&'static Record> {
    let record = Box::leak(memory::boxed(Record::new(true)).ok()?);
    // SYNC record: also loads the previous head with Acquire, so the head publishes all records.
    let _ = FIRST.fetch_update(Ordering::AcqRel, Ordering::Acquire, |first| {
        // SAFETY: NULL, or a record that `make` has leaked and shared.
        record.next = unsafe { first.as_ref() };
        Some(ptr::from_mut(record))
    });
    Some(record)
}

/// Ends the sections of all other threads and releases their records. Only for the child of a fork.
pub fn in_child() {
    others().for_each(Record::free);
}
