//! Frees and closes with outstanding work.

use std::thread;

use dat_core::error::{Error, StateError};
use dat_core::event::{Event, Status};
use dat_core::testing::{connect, next, next_request, patience, request, until, wait};
use dat_core::transport::{Scope, Transport};
use dat_core::{Base, Cno, CompletionFlags, Kind, Object, Psp, PspMode, Rights, Rmr, Streams};

use crate::{Network, rounds};

/// After a free, the transport writes no buffer, and all receives have completed once, in order.
pub fn free_releases_receive_buffers<T: Transport>(network: &Network<T>) {
    const LEN: usize = 1 << 15;
    let adapter = network.open();
    let (from, to) = (adapter.buffer(LEN), adapter.buffer(LEN));
    from.fill(0..LEN, 1);
    for _ in 0..rounds(20) {
        let (a, b) = adapter.pair();
        for cookie in 0..8 {
            b.receive(to.at(0, LEN), cookie);
            a.ep.post_send(&[from.at(0, LEN)], 100, CompletionFlags::SUPPRESS).unwrap();
        }
        b.ep.free().unwrap();
        to.fill(0..LEN, 2);
        for cookie in 0..8 {
            let (got, status, _) = b.arrived();
            assert_eq!(got, cookie);
            assert!(matches!(status, Status::Success | Status::Flushed), "{status:?}");
        }
        assert!(matches!(b.receives.dequeue(), Err(Error::QueueEmpty)));
        a.ep.free().unwrap();
        assert!(to.is_all(0..LEN, 2));
    }
}

/// After a free, the transport accesses no buffer of a request, and all requests have completed in order.
pub fn free_completes_requests<T: Transport>(network: &Network<T>) {
    const LEN: usize = 1 << 15;
    let adapter = network.open();
    let (near, far) = (adapter.buffer(LEN), adapter.buffer(LEN));
    for _ in 0..rounds(20) {
        let (a, _b) = adapter.pair();
        for cookie in 0..4 {
            a.read(near.at(0, LEN), 2 * cookie, far.remote(0, LEN));
            a.write(near.at(0, LEN), 2 * cookie + 1, far.remote(0, LEN));
        }
        a.ep.free().unwrap();
        near.fill(0..LEN, 3);
        let mut ended = false;
        for cookie in 0..8 {
            let (got, status, _) = a.done();
            assert_eq!(got, cookie);
            assert!(matches!(status, Status::Success | Status::Flushed), "{status:?}");
            // No success follows a flushed request.
            assert!(!ended || status == Status::Flushed);
            ended |= status == Status::Flushed;
        }
        assert!(near.is_all(0..LEN, 3));
    }
}

/// The close also wakes all waiting threads.
pub fn abrupt_close_frees_everything<T: Transport>(network: &Network<T>) {
    for _ in 0..rounds(8) {
        let adapter = network.open();
        let memory = adapter.buffer(4096);
        let srq = adapter.ia.attributes().srq.then(|| adapter.srq(16));
        let cno = Cno::create(&adapter.ia, None).unwrap();
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).unwrap();
        let address = adapter.ia.attributes().address.clone();
        let (a, b) = (adapter.end(), srq.as_ref().map_or_else(|| adapter.end(), |srq| adapter.end_on(srq)));
        connect(&a, &b);
        let (c, d) = adapter.pair();
        d.receives.modify_cno(Some(&cno)).unwrap();
        // Leave messages that have arrived, messages that wait, and posted buffers.
        match &srq {
            Some(srq) => srq.post_recv(&[memory.at(0, 64)], 1).unwrap(),
            None => b.receive(memory.at(0, 64), 1),
        }
        (0..4).for_each(|cookie| a.send(memory.at(64, 64), cookie));
        d.receive(memory.at(128, 64), 5);
        c.read(memory.at(256, 64), 6, memory.remote(512, 64));
        // Leave a connection request that the program has dequeued, and another that it has not.
        let asking = [adapter.end(), adapter.end()];
        for end in &asking {
            request(end, &address, psp.point.qualifier(), Some(patience()), b"").unwrap();
        }
        let cr = next_request(&requests);
        if adapter.ia.attributes().rmr {
            let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
            let remote = Rights::REMOTE_READ;
            c.ep.post_bind(
                &rmr,
                Some(memory.lmr()),
                memory.at(0, 64),
                remote,
                Base::Address,
                7,
                CompletionFlags::DEFAULT,
            )
            .unwrap();
        }
        let outcome = thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&d.receives, 1, None));
            until("a thread waits", || d.receives.dequeue().err() == Some(Error::InvalidState(StateError::EvdWaiter)));
            adapter.ia.close_abrupt().unwrap();
            waiter.join().unwrap()
        });
        // The wait can return the flushed receive before the close ends it.
        match outcome.result {
            Ok(Event::Transfer { cookie: 5, status: Status::Flushed, .. }) | Err(Error::Aborted) => {}
            other => panic!("{other:?}"),
        }
        for kind in
            [Kind::Ep, Kind::Evd, Kind::Srq, Kind::Lmr, Kind::Rmr, Kind::Pz, Kind::Cno, Kind::Psp, Kind::Csp, Kind::Cr]
        {
            assert_eq!(adapter.ia.count(kind), 0, "{kind:?}");
        }
        assert!(cr.reject(&[]).is_err());
        assert!(adapter.ia.arena.get::<dat_core::Endpoint<T>>(a.ep.header().handle()).is_none());
        memory.fill(0..4096, 9);
        assert!(memory.is_all(0..4096, 9));
    }
}

pub fn graceful_close_requires_all_objects_freed<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let in_use = Err(Error::InvalidState(StateError::IaInUse));
    let (a, b) = adapter.pair();
    assert_eq!(adapter.ia.close_graceful(), in_use);
    for end in [&a, &b] {
        assert_eq!(end.receives.free(), Err(Error::InvalidState(StateError::EvdInUse)));
        end.ep.free().unwrap();
        end.receives.free().unwrap();
        end.requests.free().unwrap();
        end.connections.free().unwrap();
    }
    assert_eq!(adapter.ia.close_graceful(), in_use);
    adapter.pz.free().unwrap();
    adapter.ia.close_graceful().unwrap();
}

pub fn repeated_use_exhausts_nothing<T: Transport>(network: &Network<T>) {
    let keeper = network.open();
    for _ in 0..rounds(40) {
        let adapter = network.open();
        let memory = adapter.buffer(4096);
        let (a, b) = adapter.pair();
        b.receive(memory.at(0, 64), 1);
        a.send(memory.at(64, 64), 2);
        b.arrives(1, Status::Success);
        a.completes(2, Status::Success);
    }
    let (a, b) = keeper.pair();
    a.ep.disconnect(false).unwrap();
    let Event::Connection { .. } = next(&b.connections) else { panic!("no connection event") };
}
