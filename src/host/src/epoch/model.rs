//! All interleavings of threads that use something in sections and one that takes it away, in a model of the memory. Run
//! with `RUSTFLAGS="--cfg loom" cargo test -p host --lib --release epoch`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

impl Word for ModelU64 {
    fn load(&self, order: Ordering) -> u64 {
        ModelU64::load(self, order)
    }

    fn store(&self, value: u64, order: Ordering) {
        ModelU64::store(self, value, order);
    }
}

const THREADS: usize = 2;

/// Something that is used in sections: an object behind a cell, registered memory, or the books of a queue.
struct Model {
    counts: [Count<ModelU64>; THREADS],
    /// The mark: whether it is there. A cell may name another object later.
    there: ModelU64,
    /// The model reports every access that is not ordered against another.
    thing: UnsafeCell<bool>,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            counts: std::array::from_fn(|_| Count(ModelU64::new(0))),
            there: ModelU64::new(1),
            thing: UnsafeCell::new(true),
        })
    }

    /// Uses it as the thread `nth` if it is there.
    fn visit(&self, nth: usize) {
        let count = &self.counts[nth];
        count.enter();
        if self.there.load(Ordering::Acquire) != 0 {
            count.enter();
            count.leave();
            // SAFETY: the model checks that nobody changes it.
            self.thing.with(|thing| assert!(unsafe { *thing }, "it was taken away"));
        }
        count.leave();
    }

    /// Takes it away, and then makes another one.
    fn replace(&self) {
        self.there.store(0, Ordering::Relaxed);
        asymmetric::heavy();
        for count in &self.counts {
            assert!(count.await_left(|| {
                thread::yield_now();
                true
            }));
        }
        // SAFETY: the model checks that nobody else is there.
        self.thing.with_mut(|thing| unsafe { *thing = false });
        // SAFETY: as above.
        self.thing.with_mut(|thing| unsafe { *thing = true });
        self.there.store(1, Ordering::Release);
    }
}

fn race(visits: [usize; THREADS]) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let model = Model::new();
        let threads = std::array::from_fn::<_, THREADS, _>(|nth| {
            let model = model.clone();
            thread::spawn(move || (0..visits[nth]).for_each(|_| model.visit(nth)))
        });
        model.replace();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

#[test]
fn epoch_keeps_what_one_thread_uses_again() {
    race([2, 0]);
}

#[test]
fn epoch_keeps_what_two_threads_use() {
    race([1, 1]);
}
