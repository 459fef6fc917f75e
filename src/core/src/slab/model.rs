//! All interleavings of threads that enter and leave an object and one that frees it, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p dat-core --lib --release slab`.

use host::asymmetric::heavy;
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::entry::{Slot, State, Word};
use super::section::Count;
use super::*;

impl Word for ModelU64 {
    fn load(&self, order: Ordering) -> u64 {
        ModelU64::load(self, order)
    }

    fn store(&self, value: u64, order: Ordering) {
        ModelU64::store(self, value, order);
    }

    fn exchange(&self, old: u64, new: u64, success: Ordering) -> std::result::Result<u64, u64> {
        self.compare_exchange(old, new, success, Ordering::Relaxed)
    }

    fn add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }
}

const KIND: Kind = Kind::Ep;
/// The addresses of the cell that is freed and of another one.
const CELL: u64 = 64;
const OTHER: u64 = 128;

/// What a cell can name.
const FIRST: u64 = 1;
const SECOND: u64 = 2;

/// A way to enter.
#[derive(Clone, Copy)]
enum By {
    Slot(usize),
    Pin,
}

struct Model {
    cell: State<ModelU64>,
    other: State<ModelU64>,
    slots: [Slot<ModelU64>; 2],
    lock: Mutex<()>,
    /// The object that the cell names: [`FIRST`], or [`SECOND`] once the cell was used again.
    contents: ModelU64,
    /// Whether the first object is there. The model reports every access that is not ordered against another.
    object: UnsafeCell<bool>,
    drops: std::sync::atomic::AtomicUsize,
}

impl Model {
    fn new() -> Arc<Model> {
        let new = || {
            let state = State::new(ModelU64::new(0));
            state.bear(KIND);
            state
        };
        Arc::new(Model {
            cell: new(),
            other: new(),
            slots: std::array::from_fn(|_| Slot::new(ModelU64::new(0))),
            lock: Mutex::new(()),
            contents: ModelU64::new(FIRST),
            object: UnsafeCell::new(true),
            drops: Default::default(),
        })
    }

    fn inside(&self) -> bool {
        self.slots.iter().any(|slot| slot.has(CELL))
    }

    fn unpin(&self) {
        if let Some(contents) = self.cell.unpin(|| self.contents.load(Ordering::Relaxed)) {
            assert_eq!(contents, FIRST, "another object is dropped");
            // SAFETY: the model checks that nobody else is at the object.
            self.object.with_mut(|object| unsafe { *object = false });
            self.drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn use_object(&self) {
        if self.contents.load(Ordering::Relaxed) == FIRST {
            // SAFETY: the model checks that nobody changes the object.
            self.object.with(|object| assert!(unsafe { *object }, "it was dropped"));
        }
    }

    fn call(&self, by: By) {
        let By::Slot(index) = by else {
            if self.cell.enter(KIND) {
                self.use_object();
            }
            return self.unpin();
        };
        let slot = &self.slots[index];
        assert!(slot.is_free());
        if self.cell.enter_by(slot, CELL, KIND) {
            self.use_object();
        }
        if self.cell.leave_by(slot) && self.cell.has_object() {
            let last = {
                let _locked = self.lock.lock().expect("no panic");
                self.cell.is_last(|| self.inside())
            };
            if last {
                self.unpin();
            }
        }
    }

    fn free(&self) {
        if !self.cell.kill(KIND) {
            return;
        }
        heavy();
        let nobody = {
            let _locked = self.lock.lock().expect("no panic");
            self.cell.settle(self.inside())
        };
        if nobody {
            self.unpin();
        }
    }
}

/// Uses the cell for another object if it is vacant.
fn reuse(model: &Model) {
    if model.cell.is_vacant() {
        model.contents.store(SECOND, Ordering::Relaxed);
        model.cell.bear(KIND);
    }
}

/// Two threads call while a third frees.
fn race(first: fn(&Model), second: fn(&Model)) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let model = Model::new();
        let threads = [first, second].map(|call| {
            let model = model.clone();
            thread::spawn(move || call(&model))
        });
        model.free();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(model.drops.load(Ordering::Relaxed), 1);
        assert!(model.cell.is_vacant() || model.contents.load(Ordering::Relaxed) == SECOND);
    });
}

#[test]
fn slab_drops_what_two_leave_by_slots() {
    race(|model| model.call(By::Slot(0)), |model| model.call(By::Slot(1)));
}

#[test]
fn slab_drops_what_one_leaves_by_a_slot_and_one_by_a_pin() {
    race(|model| model.call(By::Slot(0)), |model| model.call(By::Pin));
}

#[test]
fn slab_drops_what_two_free() {
    race(|model| model.call(By::Slot(0)), |model| model.free());
}

#[test]
fn slab_drops_what_a_used_cell_had() {
    race(|model| model.call(By::Pin), reuse);
}

#[test]
fn slab_drops_what_one_leaves_for_another_object() {
    let call = |model: &Model| {
        model.call(By::Slot(0));
        assert!(model.other.enter_by(&model.slots[0], OTHER, KIND));
        assert!(!model.other.leave_by(&model.slots[0]));
        model.call(By::Slot(0));
    };
    race(call, |_| ());
}

/// Something in use by notes, as regions of a transport are: a word says whether it may be used, and whether a thread waits
/// for the last use.
struct Noted {
    slot: Slot<ModelU64>,
    state: ModelU64,
    memory: UnsafeCell<bool>,
    sleeper: Mutex<()>,
    unused: Condvar,
}

const GONE: u64 = 1;
const WAITER: u64 = 2;

impl Noted {
    /// Uses it, if it may be used.
    fn pin(&self) {
        self.slot.note(CELL);
        if self.state.load(Ordering::Acquire) & GONE == 0 {
            // SAFETY: the model checks that nobody changes it.
            self.memory.with(|memory| assert!(unsafe { *memory }, "it was taken away"));
        }
        self.slot.note(0);
        if self.state.load(Ordering::Relaxed) & WAITER != 0 {
            let _held = self.sleeper.lock().expect("no panic");
            self.unused.notify_all();
        }
    }

    /// Ends the use, and waits until nobody uses it.
    fn remove(&self) {
        self.state.fetch_or(GONE | WAITER, Ordering::AcqRel);
        heavy();
        let mut held = self.sleeper.lock().expect("no panic");
        while self.slot.has(CELL) {
            held = self.unused.wait(held).expect("no panic");
        }
        drop(held);
        // SAFETY: the model checks that nobody else is there.
        self.memory.with_mut(|memory| unsafe { *memory = false });
    }
}

/// Memory that is kept by sections, as what a table names is: a word says whether it is there.
struct Kept {
    sections: Count<ModelU64>,
    gone: ModelU64,
    memory: UnsafeCell<bool>,
}

impl Kept {
    /// Uses the memory if it is there.
    fn visit(&self) {
        assert!(self.sections.enter());
        assert!(!self.sections.enter(), "a thread is in one section at a time");
        if self.gone.load(Ordering::Relaxed) == 0 {
            // SAFETY: the model checks that nobody changes it.
            self.memory.with(|memory| assert!(unsafe { *memory }, "it was taken away"));
        }
        self.sections.leave();
    }

    /// Takes the memory away.
    fn remove(&self) {
        self.gone.store(1, Ordering::Relaxed);
        heavy();
        if let Some(section) = self.sections.section() {
            while !self.sections.has_left(section) {
                thread::yield_now();
            }
        }
        // SAFETY: the model checks that nobody else is there.
        self.memory.with_mut(|memory| unsafe { *memory = false });
    }
}

#[test]
fn slab_sections_keep_what_was_there() {
    loom::model(|| {
        let kept = Arc::new(Kept {
            sections: Count::new(ModelU64::new(0)),
            gone: ModelU64::new(0),
            memory: UnsafeCell::new(true),
        });
        let user = kept.clone();
        let thread = thread::spawn(move || (0..2).for_each(|_| user.visit()));
        kept.remove();
        thread.join().expect("no panic");
    });
}

#[test]
fn slab_notes_keep_what_they_note() {
    loom::model(|| {
        let noted = Arc::new(Noted {
            slot: Slot::new(ModelU64::new(0)),
            state: ModelU64::new(0),
            memory: UnsafeCell::new(true),
            sleeper: Mutex::new(()),
            unused: Condvar::new(),
        });
        let user = noted.clone();
        let thread = thread::spawn(move || (0..2).for_each(|_| user.pin()));
        noted.remove();
        thread.join().expect("no panic");
    });
}
