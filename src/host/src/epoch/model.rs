//! Loom models (`make steps STEP=loom`) of threads that use an item in sections while another thread frees it.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

const THREADS: usize = 2;

struct Model {
    counts: [Count<ModelU64>; THREADS],
    /// 1 while the item is valid, 0 while it is freed.
    is_valid: ModelU64,
    /// The item, in a cell for which loom reports unordered accesses.
    item: UnsafeCell<bool>,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            counts: std::array::from_fn(|_| Count { depth: ModelU64::new(0), left: ModelU64::new(0) }),
            is_valid: ModelU64::new(1),
            item: UnsafeCell::new(true),
        })
    }

    fn visit(&self, nth: usize) {
        let count = &self.counts[nth];
        count.enter();
        if self.is_valid.load(Ordering::Acquire) != 0 {
            count.enter();
            count.leave();
            // SAFETY: loom checks that no thread changes the item.
            self.item.with(|item| assert!(unsafe { *item }, "the item is freed"));
        }
        count.leave();
    }

    /// Frees the item, and then creates another.
    fn replace(&self) {
        self.is_valid.store(0, Ordering::Relaxed);
        asymmetric::heavy();
        for count in &self.counts {
            assert!(count.await_left(|| {
                thread::yield_now();
                true
            }));
        }
        // SAFETY: loom checks that no other thread has access.
        self.item.with_mut(|item| unsafe { *item = false });
        // SAFETY: loom checks that no other thread has access.
        self.item.with_mut(|item| unsafe { *item = true });
        self.is_valid.store(1, Ordering::Release);
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
fn protects_item_that_one_thread_uses_twice() {
    race([2, 0]);
}

#[test]
fn protects_item_that_two_threads_use() {
    race([1, 1]);
}
