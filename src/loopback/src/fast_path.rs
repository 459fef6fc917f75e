//! The fast path: post, dequeue, wait when ready.

use dat_core::CompletionFlags;
use dat_core::Srq;
use dat_core::event::Status;
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::wait::{self, Limit, Step};

use crate::counting::allocations;
use crate::{Side, connect, endpoint, register, segment, transfer};

/// What `rounds` rounds of eight transfers each allocate, after some rounds that touch what is made on
/// first use. The program's allocator is [`crate::counting::Counting`].
pub fn allocations_of<T: Transport>(side: &Side<T>, rounds: usize) -> usize {
    let srq = Srq::create(&side.ia, &side.pz, 64, 4).unwrap();
    let (a, b, c) = (endpoint(side, None), endpoint(side, None), endpoint(side, Some(&srq)));
    let d = endpoint(side, None);
    connect(side, &a, &b);
    connect(side, &d, &c);
    let mut bytes = vec![0_u8; 1 << 16];
    let lmr = register(side, &mut bytes);
    let remote = RemoteSegment { addr: lmr.addr() + 8192, len: 64, key: lmr.remote_key() };
    let parts = [segment(&lmr, 0, 32), segment(&lmr, 64, 32)];
    let into = [segment(&lmr, 4096, 64)];
    let round = || {
        b.post_recv(&into, 1, CompletionFlags::DEFAULT).unwrap();
        a.post_send(&parts, 2, CompletionFlags::DEFAULT).unwrap();
        srq.post_recv(&into, 3).unwrap();
        d.post_send(&parts, 4, CompletionFlags::DEFAULT).unwrap();
        a.post_write(&parts, 5, remote, CompletionFlags::DEFAULT).unwrap();
        a.post_read(&parts, 6, remote, CompletionFlags::DEFAULT).unwrap();
        for _ in 0..6 {
            assert_eq!(transfer(&side.transfers).1, Status::Success);
        }
        // A wait that finds its event.
        b.post_recv(&into, 1, CompletionFlags::DEFAULT).unwrap();
        a.post_send(&parts, 2, CompletionFlags::SUPPRESS).unwrap();
        while !b.status().1 {
            std::thread::yield_now();
        }
        match wait::evd_begin(side.transfers.clone(), 1, Limit::Never) {
            Step::Done(outcome) => assert!(outcome.result.is_ok()),
            Step::Sleep(_) => unreachable!("the message is there"),
        }
    };
    sleep_on_a_lock();
    let mut step = wait::evd_begin(side.connections.clone(), 1, Limit::from_micros(Some(1000)));
    while let Step::Sleep(_) = step {
        step = wait::evd_resume::<T>(false);
    }
    (0..100).for_each(|_| round());
    let before = allocations();
    (0..rounds).for_each(|_| round());
    let made = allocations() - before;
    side.ia.close_abrupt();
    made
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
