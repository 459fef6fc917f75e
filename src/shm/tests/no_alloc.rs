//! The fast path (post, dequeue, wait when ready) does not allocate.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{connect, endpoint, open, register, segment, transfer};
use dat_core::Srq;
use dat_core::ep::flags;
use dat_core::event::Status;
use dat_core::transport::RemoteSegment;
use dat_core::wait::{self, Limit, Step};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> usize {
    ALLOCATIONS.with(Cell::get)
}

/// Has the calling thread sleep on a lock that another thread holds.
fn sleep_on_a_lock() {
    let lock = parking_lot::Mutex::new(());
    let taken = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let held = lock.lock();
            taken.wait();
            // Long enough for the other to give up spinning; nothing depends on it.
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(held);
        });
        taken.wait();
        drop(lock.lock());
    });
}

#[test]
fn post_dequeue_and_ready_wait_do_not_allocate() {
    let side = open();
    let srq = Srq::create(&side.ia, &side.pz, 64, 4).unwrap();
    let (a, b, c) = (endpoint(&side, None), endpoint(&side, None), endpoint(&side, Some(&srq)));
    let d = endpoint(&side, None);
    connect(&side, &a, &b);
    connect(&side, &d, &c);
    let mut bytes = vec![0_u8; 1 << 16];
    let lmr = register(&side, &mut bytes);
    let remote = RemoteSegment { addr: lmr.addr() + 8192, len: 64, key: lmr.remote_key() };
    let parts = [segment(&lmr, 0, 32), segment(&lmr, 64, 32)];
    let into = [segment(&lmr, 4096, 64)];
    let round = || {
        b.post_recv(&into, 1, flags::DEFAULT).unwrap();
        a.post_send(&parts, 2, flags::DEFAULT).unwrap();
        srq.post_recv(&into, 3).unwrap();
        d.post_send(&parts, 4, flags::DEFAULT).unwrap();
        a.post_write(&parts, 5, remote, flags::DEFAULT).unwrap();
        a.post_read(&parts, 6, remote, flags::DEFAULT).unwrap();
        for _ in 0..6 {
            assert_eq!(transfer(&side.transfers).1, Status::Success);
        }
        // A wait that finds its event.
        b.post_recv(&into, 1, flags::DEFAULT).unwrap();
        a.post_send(&parts, 2, flags::SUPPRESS).unwrap();
        match wait::evd_begin(side.transfers.clone(), 1, Limit::Never) {
            Step::Done(outcome) => assert!(outcome.result.is_ok()),
            Step::Sleep(_) => unreachable!("the message is there"),
        }
    };
    // The first rounds touch what is made on first use; and so does the first sleep of a
    // thread on a lock.
    sleep_on_a_lock();
    let mut step = wait::evd_begin(side.connections.clone(), 1, Limit::from_micros(Some(1000)));
    while let Step::Sleep(_) = step {
        step = wait::evd_resume::<daplshm::Shm>(false);
    }
    (0..100).for_each(|_| round());
    let before = allocations();
    (0..10_000).for_each(|_| round());
    assert_eq!(allocations() - before, 0);
    side.ia.close_abrupt();
}
