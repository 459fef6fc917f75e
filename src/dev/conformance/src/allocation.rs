//! The fast path (post, dequeue, wait with an available event) does not allocate.

use std::time::Duration;

use dat_core::event::{Event, Status};
use dat_core::testing::{connect, next, until, wait};
use dat_core::transport::Transport;
use dat_core::wait::{self, Step};
use dat_core::{Change, CompletionFlags, Rights, Streams};

use crate::counting::allocations;
use crate::{LOCAL, Network, rounds};

pub fn post_dequeue_and_ready_wait_do_not_allocate<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    // All completions go to one EVD.
    let transfers = adapter.evd(Streams::TRANSFERS | Streams::BINDS);
    let limits = adapter.ia.attributes();
    let srq = limits.srq.then(|| adapter.srq(64));
    let end = |srq| {
        let connections = adapter.evd(Streams::CONNECTIONS);
        adapter.end_to(&adapter.pz, [&transfers, &transfers, &connections], srq, |_| {})
    };
    let (a, b, c, d) = (end(None), end(None), end(srq.as_ref()), end(None));
    connect(&a, &b);
    connect(&d, &c);
    let memory = adapter.buffer(1 << 16);
    let remote = memory.remote(8192, 64);
    let words = adapter.buffer_with(64, LOCAL | Rights::REMOTE);
    let word = words.remote((0..8).find(|&at| (words.start() + at as u64) % 8 == 0).unwrap_or(0), 8);
    let parts = [memory.at(0, 32), memory.at(64, 32)];
    let into = [memory.at(4096, 64)];
    let sinks = if limits.max_segments_read > 1 { &parts[..] } else { &into[..] };
    let round = || {
        b.ep.post_recv(&into, 1, CompletionFlags::DEFAULT).unwrap();
        a.ep.post_send(&parts, 2, CompletionFlags::DEFAULT).unwrap();
        match &srq {
            Some(srq) => srq.post_recv(&into, 3).unwrap(),
            None => c.ep.post_recv(&into, 3, CompletionFlags::DEFAULT).unwrap(),
        }
        d.ep.post_send(&parts, 4, CompletionFlags::DEFAULT).unwrap();
        a.ep.post_write(&parts, 5, remote, CompletionFlags::DEFAULT).unwrap();
        a.ep.post_read(sinks, 6, remote, CompletionFlags::DEFAULT).unwrap();
        for _ in 0..6 {
            let Event::Transfer { status, .. } = next(&transfers) else { panic!("no transfer") };
            assert_eq!(status, Status::Success);
        }
        // Post the operations that only some transports support.
        let mut more = 0;
        if limits.immediate {
            b.ep.post_recv(&into, 1, CompletionFlags::DEFAULT).unwrap();
            a.ep.post_write_immediate(&parts, 7, remote, 8, CompletionFlags::DEFAULT).unwrap();
            more += 2;
        }
        if limits.atomics {
            a.change(memory.at(128, 8), 9, word, Change::Add(1));
            more += 1;
        }
        for _ in 0..more {
            let Event::Transfer { status, .. } = next(&transfers) else { panic!("no such transfer") };
            assert_eq!(status, Status::Success);
        }
        b.ep.post_recv(&into, 1, CompletionFlags::DEFAULT).unwrap();
        a.ep.post_send(&parts, 2, CompletionFlags::SUPPRESS).unwrap();
        until("the message is there", || b.ep.status().1);
        match wait::evd_begin(transfers.clone(), 1, None, false) {
            Step::Done(outcome) => assert!(outcome.result.is_ok()),
            Step::Sleep(_) => unreachable!("the message is there"),
        }
    };
    // Wait once and run some rounds first, because the first use allocates.
    assert!(wait(&a.connections, 1, Some(Duration::from_millis(1))).result.is_err());
    (0..100).for_each(|_| round());
    let before = allocations();
    (0..rounds(10_000)).for_each(|_| round());
    assert_eq!(allocations() - before, 0);
}
