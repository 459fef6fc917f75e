//! Peers without extended operations.

use dat_core::event::{Status, Transfer};
use dat_core::testing::{Buffer, End, connect, quiet};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{ApiCaps, Change, CompletionFlags, Error, Result};

use crate::Network;

fn post_all<T: Transport>(end: &End<T>, near: &Buffer<T>, to: RemoteSegment) -> [Result<()>; 4] {
    let (ep, segments, flags) = (&end.ep, [near.at(0, 8)], CompletionFlags::DEFAULT);
    [
        ep.post_write_immediate(&segments, 1, to, 7, flags),
        ep.post_atomic(&segments, 1, to, Change::Add(1), flags),
        ep.post_atomic(&segments, 1, to, Change::Swap { expected: 0, new: 1 }, flags),
        ep.post_send_invalidate(&segments, 1, to.key, flags),
    ]
}

pub fn rejects_extended_operations_that_peer_lacks<T: Transport>(network: &Network<T>) {
    if !network.is_exact() {
        return;
    }
    let (able, plain) = (network.open(), network.open_with(ApiCaps::default()));
    let (near, far) = (able.buffer(64), plain.buffer(64));
    for able_asks in [true, false] {
        let (a, b) = (able.end(), plain.end());
        let (active, passive) = if able_asks { (&a, &b) } else { (&b, &a) };
        connect(active, passive);
        b.receive(far.at(32, 8), 2);
        assert_eq!(post_all(&a, &near, far.remote(0, 8)), [const { Err(Error::ModelNotSupported) }; 4]);
        assert!(quiet([&a.requests, &b.receives]), "something was posted");
        a.write(near.at(0, 8), 3, far.remote(0, 8));
        a.completes(3, Status::Success);
        a.send(near.at(0, 8), 4);
        a.completes(4, Status::Success);
        b.arrives(2, Status::Success);
        // In the other direction, from `b`, an extended operation works.
        a.receive(near.at(32, 8), 5);
        b.write_immediate(far.at(0, 8), 6, near.remote(0, 8), 7);
        b.completes_with(6, Status::Success, Transfer::WriteImmediate);
        assert_eq!(a.arrived_with(), ((5, Status::Success, 8), Transfer::RecvImmediate, 7));
        // After the end of the connection, posts succeed and are flushed.
        a.ep.disconnect(false).unwrap();
        a.next_connection_event();
        b.next_connection_event();
        assert_eq!(post_all(&a, &near, far.remote(0, 8)), [const { Ok(()) }; 4]);
        for operation in [Transfer::WriteImmediate, Transfer::FetchAdd, Transfer::CompareSwap] {
            a.completes_with(1, Status::Flushed, operation);
        }
        a.completes(1, Status::Flushed);
    }
}
