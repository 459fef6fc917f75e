//! The slots of each thread: a record that it gets with its first call, and that another thread uses when it has ended.
//!
//! A thread finds its record with one load ([`host::static_tls::word`]). It has no record while there is no memory for one,
//! where the kernel has no membarrier(2), and when its own thread-local data are gone already; it then enters by pins.
//!
//! Records are never given back. In the child of a fork the slots of all other threads are free.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use host::pause::Pause;
use host::per_thread::PerThread;
use host::{asymmetric, memory, static_tls};

use super::entry;
use super::section::Count;

pub(super) type Slot = entry::Slot<AtomicU64>;

/// The objects that one thread can be inside of by slots; it enters more by pins. Calls that close an adapter enter a few
/// at once, all others one.
const SLOTS: usize = 8;

/// The slots of one thread, on cache lines of their own.
#[repr(C, align(128))]
struct Record {
    slots: [Slot; SLOTS],
    section: Count<AtomicU64>,
    /// The record that was made before this one.
    next: Option<&'static Record>,
    /// Whether a thread has it.
    taken: AtomicBool,
}

/// All records, in a list that only grows. They are never freed.
static FIRST: AtomicPtr<Record> = AtomicPtr::new(ptr::null_mut());

/// What threads have that get no record: all its slots are taken, and its section is entered.
static NONE: Record = Record {
    slots: [const { Slot::new(AtomicU64::new(u64::MAX)) }; SLOTS],
    section: Count::new(AtomicU64::new(u64::MAX)),
    next: None,
    taken: AtomicBool::new(true),
};

/// Gives the record of a thread back when the thread ends.
#[derive(Default)]
struct Owner(Cell<Option<&'static Record>>);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(record) = self.0.get() {
            // Destructors of the program that run after this one may still make calls.
            // SAFETY: this module defines the word; records are never freed.
            unsafe { static_tls::set_word(ptr::from_ref(&NONE).expose_provenance()) };
            // SYNC record: stored behind the last use of a slot, so the next thread finds all slots free.
            record.taken.store(false, Ordering::Release);
        }
    }
}

static OWNERS: PerThread<Owner> = PerThread::new();

fn all() -> impl Iterator<Item = &'static Record> {
    // SYNC record: the memory behind the pointer is initialised.
    let first = FIRST.load(Ordering::Acquire);
    // SAFETY: the pointer is NULL or comes from a box that `make` leaked.
    std::iter::successors(unsafe { first.as_ref() }, |record| record.next)
}

/// The record of the calling thread, if it has one already.
#[inline(always)]
fn own() -> Option<&'static Record> {
    // SAFETY: the word is 0 or the address of a record, none of which is ever freed.
    unsafe { ptr::with_exposed_provenance::<Record>(static_tls::word()).as_ref() }
}

/// The records of all threads but the calling one.
fn others() -> impl Iterator<Item = &'static Record> {
    let own = own();
    all().filter(move |record| own.is_none_or(|own| !ptr::eq(own, *record)))
}

/// The slot of the calling thread by which it enters most objects, if that is free.
#[inline(always)]
pub(super) fn first_slot() -> Option<&'static Slot> {
    match own() {
        Some(Record { slots: [first, ..], .. }) if first.is_free() => Some(first),
        _ => None,
    }
}

/// A free slot of the calling thread.
#[inline]
pub(super) fn slot() -> Option<&'static Slot> {
    first_slot().or_else(|| another(own()))
}

/// A note of the calling thread, for as long as this lives: the address of something of which others look whether it is in
/// use. It costs a plain store, and no lock.
///
/// A thread that makes a note looks behind that whether what it notes may still be used. A thread that ends the use says so
/// first, then calls [`asymmetric::heavy`], and then asks [`is_noted`]. So of these two at least one sees the other. In the
/// same way, of a thread that drops its note and one that asks, either the latter sees no note, or the former sees
/// what was said.
#[derive(Debug)]
#[must_use]
pub struct Note {
    slot: &'static Slot,
    /// It stays with its thread.
    thread: PhantomData<*mut ()>,
}

impl Note {
    /// Notes an address other than 0. `None` if the calling thread has no place for a note: too many are in use,
    /// there is no memory, or the system has no fence of two halves.
    #[inline(always)]
    pub fn new(address: usize) -> Option<Self> {
        // A call is inside of an object by the first slot.
        let slot = match own() {
            Some(Record { slots: [_, second, ..], .. }) if second.is_free() => second,
            record => another(record)?,
        };
        slot.note(address as u64);
        Some(Note { slot, thread: PhantomData })
    }
}

impl Drop for Note {
    #[inline(always)]
    fn drop(&mut self) {
        self.slot.note(0);
    }
}

/// Whether a thread has a note of this address. What a thread did before it dropped its note is visible then.
pub fn is_noted(address: usize) -> bool {
    inside(address as u64)
}

/// A section of the calling thread, for as long as this lives. What the thread finds registered in it stays so: who takes
/// memory away says so first, then calls [`asymmetric::heavy`], and then [`await_sections`].
#[derive(Debug)]
#[must_use]
pub struct Section {
    count: &'static Count<AtomicU64>,
    /// It stays with its thread.
    thread: PhantomData<*mut ()>,
}

impl Section {
    /// Enters a section. `None` if the calling thread is in one, or has no record (yet).
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let count = &own()?.section;
        count.enter().then_some(Section { count, thread: PhantomData })
    }

    /// The word that what was looked at since the section began was found registered.
    #[inline(always)]
    pub fn keeps(&self) -> Live<'_> {
        Live(PhantomData)
    }
}

impl Drop for Section {
    #[inline(always)]
    fn drop(&mut self) {
        self.count.leave();
    }
}

/// Says of a segment that goes with it that its memory stays registered as long as the section `'s`.
#[derive(Clone, Copy, Debug)]
pub struct Live<'s>(PhantomData<&'s ()>);

/// Waits until all sections are over that other threads are in. What was done in them is visible then. Called behind
/// [`asymmetric::heavy`], and without a lock that a thread in a section may wait for: that of an endpoint's receives, of a shared
/// receive queue, of an EVD and of all that an event wakes.
pub fn await_sections() {
    for record in others() {
        let section = &record.section;
        let Some(entered) = section.section() else { continue };
        let mut pause = Pause::new();
        while !section.has_left(entered) {
            pause.pass();
        }
    }
}

#[cold]
#[inline(never)]
fn another(record: Option<&'static Record>) -> Option<&'static Slot> {
    record.or_else(register)?.slots.iter().find(|slot| slot.is_free())
}

/// Gives the calling thread a record.
fn register() -> Option<&'static Record> {
    let record = if asymmetric::available() {
        OWNERS.with(|owner| {
            let record = take().or_else(make);
            owner.0.set(record);
            record
        })??
    } else {
        &NONE
    };
    // SAFETY: this module defines the word; records are never freed.
    unsafe { static_tls::set_word(ptr::from_ref(record).expose_provenance()) };
    Some(record)
}

/// A record whose thread has ended.
fn take() -> Option<&'static Record> {
    all().find(|record| {
        // SYNC record: pairs with the Release at the end of the thread before.
        let taken = record.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    })
}

/// A new record; `None` if there is no memory.
fn make() -> Option<&'static Record> {
    let slots = [const { Slot::new(AtomicU64::new(0)) }; SLOTS];
    let section = Count::new(AtomicU64::new(0));
    let record = memory::boxed(Record { slots, section, next: None, taken: AtomicBool::new(true) }).ok()?;
    let record = Box::leak(record);
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

/// Whether a thread is inside the cell at this address by a slot.
pub(super) fn inside(address: u64) -> bool {
    all().any(|record| record.slots.iter().any(|slot| slot.has(address)))
}

/// Frees the records of all threads but the calling one. Only the child of a fork may call this, which has no other.
pub(super) fn abandon() {
    for record in others() {
        record.slots.iter().for_each(Slot::clear);
        record.section.clear();
        record.taken.store(false, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
