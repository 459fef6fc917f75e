//! Loom models (`make steps STEP=loom`) of threads that put records into a ring, while the progress thread stops
//! watching.

use std::sync::atomic::Ordering::Relaxed;

use loom::sync::atomic::AtomicU32;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

/// Number of times that the connection was added to the list of new connections.
#[derive(Default)]
struct New(AtomicU32);

/// Puts a record, as [`Guard::watch`] does under the transmit lock.
fn put(tx: &Mutex<u64>, last: &Last, new: &New) {
    let mut end = tx.lock().expect("no panic");
    *end += 1;
    if !last.set(*end) && last.begin() {
        new.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn every_record_is_watched_once() {
    loom::model(|| {
        let last = Arc::new(Last::default());
        let new = Arc::new(New::default());
        let tx = Arc::new(Mutex::new(0));
        put(&tx, &last, &new);
        new.0.store(0, Relaxed);
        let seen = last.end();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (tx, last, new) = (tx.clone(), last.clone(), new.clone());
                thread::spawn(move || put(&tx, &last, &new))
            })
            .collect();
        last.forget();
        asymmetric::heavy();
        let kept = !last.is_over(seen);
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(u32::from(kept) + new.0.load(Relaxed), 1, "two records, one that watches");
    });
}
