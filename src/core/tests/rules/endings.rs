//! Ends of connections: one event; all work completes once, in order.

use std::sync::Barrier;
use std::thread;

use dat_core::ep::EpState;
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Call, next, quiet, until};
use dat_core::transport::Closing;
use dat_core::{ApiCaps, CompletionFlags, Endpoint, Evd, Handle, Object, Streams};

use super::*;

fn busy(adapter: &Adapter<Fake>, end: &End<Fake>) {
    (0..4).for_each(|cookie| end.ep.post_send(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    (0..2).for_each(|cookie| end.ep.post_recv(&[], 10 + cookie, CompletionFlags::DEFAULT).unwrap());
    fake(adapter).calls();
}

fn told(end: &End<Fake>) -> Vec<String> {
    std::iter::from_fn(|| end.connections.dequeue().ok())
        .map(|event| match event {
            Event::Transfer { cookie, status, .. } => format!("{cookie} {status:?}"),
            Event::Connection { kind, .. } => format!("{kind:?}"),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn failure_completes_between_successes_and_flushes() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    busy(&adapter, &end);
    let recv = RecvDone { id: 0, status: Status::LocalLength, len: 0, solicited: false };
    sink.failed(Some(recv), Some((FailedRequest::Number(2), Status::RemoteAccess)));
    end.completes(0, Status::Success);
    end.completes(1, Status::Success);
    end.completes(2, Status::RemoteAccess);
    end.completes(3, Status::Flushed);
    end.arrives(10, Status::LocalLength);
    end.arrives(11, Status::Flushed);
    end.is_told(ConnectionEvent::Broken);
    assert_eq!(end.state(), EpState::Disconnected);
    assert_eq!(fake(&adapter).calls(), [], "the transport knows");
    assert!(quiet([&end.connections, &end.requests, &end.receives]));
}

#[test]
fn shared_evd_has_flushes_after_the_event() {
    let adapter = open();
    let evd = adapter.evd(Streams::TRANSFERS | Streams::CONNECTIONS);
    let end = adapter.end_to(&adapter.pz, [&evd, &evd, &evd], None, |_| {});
    let sink = establish(&adapter, &end);
    busy(&adapter, &end);
    sink.failed(None, Some((FailedRequest::Number(1), Status::Transport)));
    let wanted = ["0 Success", "1 Transport", "Broken", "2 Flushed", "3 Flushed", "10 Flushed", "11 Flushed"];
    assert_eq!(told(&end), wanted);
}

#[test]
fn other_evds_have_flushes_before_the_event() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    busy(&adapter, &end);
    sink.connection(ConnectionReport::Disconnected);
    end.is_told(ConnectionEvent::Disconnected);
    (0..4).for_each(|cookie| end.completes(cookie, Status::Flushed));
    (10..12).for_each(|cookie| end.arrives(cookie, Status::Flushed));
}

#[test]
fn abrupt_end_flushes_immediately() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    busy(&adapter, &end);
    end.ep.disconnect(false).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Disconnect { broken: false }]);
    assert_eq!(end.state(), EpState::Disconnected);
    end.is_told(ConnectionEvent::Disconnected);
    (0..4).for_each(|cookie| end.completes(cookie, Status::Flushed));
    // Later posts are flushed immediately.
    end.ep.post_send(&[], 4, CompletionFlags::DEFAULT).unwrap();
    end.ep.post_recv(&[], 12, CompletionFlags::DEFAULT).unwrap();
    end.completes(4, Status::Flushed);
    (10..13).for_each(|cookie| end.arrives(cookie, Status::Flushed));
    assert_eq!(fake(&adapter).calls(), []);
    end.ep.reset().unwrap();
    assert_eq!(end.ep.post_send(&[], 5, CompletionFlags::DEFAULT), Err(EpState::Unconnected.into()));
    end.ep.post_recv(&[], 13, CompletionFlags::DEFAULT).unwrap();
    assert!(quiet([&end.receives]));
}

#[test]
fn end_is_pending_until_reported() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    busy(&adapter, &end);
    fake(&adapter).closes(Closing::Later);
    end.ep.disconnect(false).unwrap();
    assert_eq!(end.state(), EpState::DisconnectPending);
    assert!(quiet([&end.connections, &end.requests, &end.receives]), "the buffers are in use");
    assert_eq!(end.ep.post_send(&[], 4, CompletionFlags::DEFAULT), Err(EpState::DisconnectPending.into()));
    // Requests that had completed keep their status.
    assert!(!sink.requests_done(SeqNo(0)) && !sink.requests_done(SeqNo(1)));
    sink.connection(ConnectionReport::Disconnected);
    end.is_told(ConnectionEvent::Disconnected);
    assert_eq!(end.state(), EpState::Disconnected);
    (0..2).for_each(|cookie| end.completes(cookie, Status::Success));
    (2..4).for_each(|cookie| end.completes(cookie, Status::Flushed));
    (10..12).for_each(|cookie| end.arrives(cookie, Status::Flushed));
}

#[test]
fn free_waits_for_the_transport() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    busy(&adapter, &end);
    fake(&adapter).closes(Closing::Later);
    thread::scope(|scope| {
        let freeing = scope.spawn(|| end.ep.free());
        until("the transport is asked", || fake(&adapter).calls().contains(&Call::Disconnect { broken: false }));
        assert!(quiet([&end.requests, &end.receives]));
        assert!(!freeing.is_finished());
        fake(&adapter).closes(Closing::Done);
        assert_eq!(freeing.join().unwrap(), Ok(()));
    });
    (0..4).for_each(|cookie| end.completes(cookie, Status::Flushed));
    (10..12).for_each(|cookie| end.arrives(cookie, Status::Flushed));
    assert!(quiet([&end.connections]), "whoever frees it knows");
    end.requests.free().unwrap();
    end.receives.free().unwrap();
    end.connections.free().unwrap();
}

#[test]
fn graceful_end_waits_for_last_request() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    busy(&adapter, &end);
    end.ep.disconnect(true).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Drain]);
    assert_eq!(end.state(), EpState::DisconnectPending);
    end.ep.disconnect(true).unwrap();
    assert_eq!(fake(&adapter).calls(), []);
    sink.recv_done(received(0));
    end.arrives(10, Status::Success);
    assert!(!sink.requests_done(SeqNo(2)));
    assert!(sink.requests_done(SeqNo(3)), "the end waits for that");
    sink.drained();
    assert_eq!(fake(&adapter).calls(), [Call::Disconnect { broken: false }]);
    (0..4).for_each(|cookie| end.completes(cookie, Status::Success));
    end.is_told(ConnectionEvent::Disconnected);
    end.arrives(11, Status::Flushed);
}

#[test]
fn graceful_end_without_requests_is_immediate() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    fake(&adapter).calls();
    end.ep.disconnect(true).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Disconnect { broken: false }]);
    end.is_told(ConnectionEvent::Disconnected);
}

#[test]
fn failure_completes_graceful_end() {
    let adapter = open();
    for by_failure in [true, false] {
        let (end, sink) = connected(&adapter);
        busy(&adapter, &end);
        end.ep.disconnect(true).unwrap();
        if by_failure {
            sink.failed(None, Some((FailedRequest::Number(1), Status::RemoteAccess)));
            end.completes(0, Status::Success);
            end.completes(1, Status::RemoteAccess);
        } else {
            sink.connection(ConnectionReport::Broken);
            end.completes(0, Status::Flushed);
            end.completes(1, Status::Flushed);
        }
        end.is_told(ConnectionEvent::Disconnected);
        assert!(quiet([&end.connections]));
        end.ep.free().unwrap();
    }
}

#[test]
fn both_flags_end_an_attempt() {
    let adapter = open();
    for graceful in [false, true] {
        let end = adapter.end();
        ask(&end).unwrap();
        fake(&adapter).calls();
        end.ep.disconnect(graceful).unwrap();
        assert_eq!(fake(&adapter).calls(), [Call::Disconnect { broken: false }]);
        end.is_told(ConnectionEvent::Disconnected);
        assert_eq!(end.state(), EpState::Disconnected);
        fake(&adapter).last_qp().connection(ConnectionReport::Established(Vec::new()));
        assert!(quiet([&end.connections]));
        end.ep.free().unwrap();
    }
    let idle = adapter.end();
    assert_eq!(idle.ep.disconnect(false), Err(EpState::Unconnected.into()));
}

#[test]
fn close_begins_all_ends_before_waiting() {
    let adapter = open();
    let ends: Vec<_> = (0..3).map(|_| connected(&adapter).0).collect();
    fake(&adapter).closes(Closing::Later);
    fake(&adapter).calls();
    thread::scope(|scope| {
        let closing = scope.spawn(|| adapter.ia.close_abrupt());
        let mut asked = Vec::new();
        until("the first one is waited for", || {
            asked.extend(fake(&adapter).calls());
            asked.contains(&Call::AwaitEnd)
        });
        assert_eq!(asked[..3], [Call::Disconnect { broken: false }; 3]);
        assert!(!closing.is_finished());
        fake(&adapter).closes(Closing::Done);
    });
    for end in &ends {
        assert!(adapter.ia.arena.get::<Endpoint<Fake>>(end.ep.header().handle()).is_none());
    }
}

/// Opens an adapter whose program gets events when endpoints leave their SRQ.
fn telling() -> Adapter<Fake> {
    Adapter::open_with("fake", "", ApiCaps { tell_end_of_shared: true, ..ApiCaps::default() })
}

/// Returns the endpoint that left its SRQ, from the next asynchronous event.
fn left(events: &Evd<Fake>) -> Handle {
    let Event::Async { object, reason } = next(events) else { panic!("no asynchronous event") };
    assert_eq!(reason, AsyncReason::EndpointLeftShared);
    object
}

#[test]
fn endpoint_leaves_srq_once_per_connection() {
    let adapter = telling();
    let (srq, events) = (adapter.srq(4), adapter.events());
    let end = adapter.end_on(&srq);
    for how in ["by the peer", "by a failure", "abruptly", "in order"] {
        let sink = establish(&adapter, &end);
        match how {
            "by the peer" => sink.connection(ConnectionReport::Disconnected),
            "by a failure" => sink.failed(None, None),
            _ => end.ep.disconnect(how == "in order").unwrap(),
        }
        // When the asynchronous event is queued, the connection event is queued, too.
        assert_eq!(left(&events), end.ep.header().handle(), "{how}");
        let (kind, _) = end.next_connection_event();
        assert!(matches!(kind, ConnectionEvent::Disconnected | ConnectionEvent::Broken), "{how}: {kind:?}");
        end.ep.reset().unwrap();
        assert!(events.dequeue().is_err(), "{how}");
    }
    // A free after the end raises no event, and neither does a free of a connected endpoint.
    establish(&adapter, &end);
    end.ep.free().unwrap();
    assert!(quiet([&events, &end.connections]));
}

#[test]
fn no_event_without_srq_or_connection() {
    let adapter = telling();
    let (srq, events) = (adapter.srq(4), adapter.events());
    let (alone, sink) = connected(&adapter);
    sink.connection(ConnectionReport::Disconnected);
    alone.is_told(ConnectionEvent::Disconnected);
    for closing in [Closing::Done, Closing::Later] {
        let end = adapter.end_on(&srq);
        ask(&end).unwrap();
        fake(&adapter).closes(closing);
        end.ep.disconnect(false).unwrap();
        if closing == Closing::Later {
            fake(&adapter).last_qp().connection(ConnectionReport::Disconnected);
        }
        end.is_told(ConnectionEvent::Disconnected);
    }
    let rejected = adapter.end_on(&srq);
    ask(&rejected).unwrap();
    fake(&adapter).last_qp().connection(ConnectionReport::PeerRejected(Vec::new()));
    rejected.is_told(ConnectionEvent::PeerRejected);
    assert!(quiet([&events]));
    // There is also no asynchronous event if the API version does not report it.
    let adapter = open();
    let end = adapter.end_on(&adapter.srq(4));
    establish(&adapter, &end).connection(ConnectionReport::Disconnected);
    end.is_told(ConnectionEvent::Disconnected);
    assert!(quiet([&adapter.events()]));
}

#[test]
fn both_events_of_ends_have_same_order() {
    let adapter = telling();
    let (srqs, events) = ([adapter.srq(4), adapter.srq(4)], adapter.events());
    // The requests are flushed between the two events, which gives another thread time to mix up the order.
    let told = adapter.evd(Streams::CONNECTIONS | Streams::TRANSFERS);
    let receives = adapter.evd(Streams::TRANSFERS);
    let halves = srqs
        .each_ref()
        .map(|srq| [(); 4].map(|()| adapter.end_to(&adapter.pz, [&receives, &told, &told], Some(srq), |_| {})));
    for _ in 0..100 {
        let sinks = halves.each_ref().map(|half| half.each_ref().map(|end| establish(&adapter, end)));
        for end in halves.as_flattened() {
            (0..50).for_each(|cookie| end.ep.post_send(&[], cookie, CompletionFlags::DEFAULT).unwrap());
        }
        let together = Barrier::new(2);
        thread::scope(|scope| {
            for half in &sinks {
                scope.spawn(|| {
                    together.wait();
                    half.iter().for_each(|sink| sink.connection(ConnectionReport::Disconnected));
                });
            }
        });
        let ended = std::iter::from_fn(|| told.dequeue().ok()).filter_map(|event| match event {
            Event::Connection { ep, .. } => Some(ep),
            _ => None,
        });
        let ended: Vec<_> = ended.collect();
        let left: Vec<_> = ended.iter().map(|_| left(&events)).collect();
        assert_eq!((ended.len(), ended), (halves.as_flattened().len(), left));
        halves.as_flattened().iter().for_each(|end| end.ep.reset().unwrap());
    }
}
