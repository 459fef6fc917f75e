//! Connecting: errors, events, and the order of messages.

use std::sync::Arc;

use dat_core::ep::table::Field;
use dat_core::ep::{EpState, Value};
use dat_core::error::{AddressFault, Arg, Error, Resource, Role, StateError};
use dat_core::testing::{Call, patience, quiet, wait};
use dat_core::transport::Closing;
use dat_core::{Comm, CompletionFlags, Endpoint, EpParts, Event, Streams};

use super::*;

#[test]
fn rejects_invalid_addresses() {
    let adapter = open();
    let end = adapter.end();
    let host = Address::loopback();
    let group = Address::new("224.0.0.1:0".parse().unwrap());
    let nobody = Address::new("255.255.255.255:0".parse().unwrap());
    let unsupported = Error::InvalidAddress(AddressFault::Unsupported);
    let zero = Some(std::time::Duration::ZERO);
    for (address, timeout, error) in [
        (&group, None, unsupported),
        (&nobody, None, unsupported),
        (&host, zero, Error::InvalidParameter(Arg::Timeout)),
    ] {
        assert_eq!(request(&end, address, QUALIFIER, timeout, b""), Err(error));
        assert_eq!(end.state(), EpState::Unconnected);
    }
    assert_eq!(fake(&adapter).calls(), []);
    assert_eq!(request(&end, &host, QUALIFIER, None, &[7; Fake::MAX_PRIVATE_DATA]), Ok(()));
    assert_eq!(end.state(), EpState::ActiveConnectionPending);
    assert_eq!(ask(&end), Err(EpState::ActiveConnectionPending.into()));
}

#[test]
fn endpoint_without_parts_is_not_ready() {
    let adapter = open();
    let connections = adapter.evd(Streams::CONNECTIONS);
    let connect = |parts: &EpParts<'_, Fake>| {
        let ep = Endpoint::create(&adapter.ia, parts, None).unwrap();
        let address = Address::loopback();
        ep.connect(&dat_core::transport::Connect {
            address: &address,
            qualifier: QUALIFIER,
            timeout: None,
            private_data: b"",
        })
    };
    let none = EpParts::default();
    assert_eq!(connect(&none), Err(Error::InvalidHandle(Role::EvdConnect)));
    let told = EpParts { connect_evd: Some(&connections), ..none };
    assert_eq!(connect(&told), Err(Error::InvalidState(StateError::EndpointNotReady)));
    let zoned = EpParts { pz: Some(&adapter.pz), connect_evd: Some(&connections), ..EpParts::default() };
    assert_eq!(connect(&zoned), Ok(()));
}

#[test]
fn receive_posted_during_rejected_attempt_is_flushed() {
    let adapter = open();
    let end = adapter.end();
    let error = Error::InsufficientResources(Resource::Device);
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    let (there, leave) = fake(&adapter).stop_next_change();
    std::thread::scope(|scope| {
        let attempt = scope.spawn(|| ask(&end));
        there.recv_timeout(patience()).unwrap();
        end.ep.post_recv(&[], 2, CompletionFlags::DEFAULT).unwrap();
        fake(&adapter).refuse_after(0, error);
        leave.send(()).unwrap();
        assert_eq!(attempt.join().unwrap(), Err(error));
    });
    end.arrives(2, Status::Flushed);
    assert_eq!((end.state(), end.ep.recv_query()), (EpState::Unconnected, 1));
}

#[test]
fn rejected_attempt_keeps_endpoint_unconnected() {
    let adapter = open();
    let end = adapter.end();
    let error = Error::InsufficientResources(Resource::Device);
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    // The transport rejects the queue pair: the receive stays.
    fake(&adapter).refuse_after(0, error);
    assert_eq!(ask(&end), Err(error));
    assert_eq!((end.state(), end.ep.recv_query()), (EpState::Unconnected, 1));
    // The transport rejects the connect after it has the receive: the receive stays, too.
    fake(&adapter).refuse_after(2, error);
    fake(&adapter).calls();
    assert_eq!(ask(&end), Err(error));
    assert_eq!((end.state(), end.ep.recv_query()), (EpState::Unconnected, 1));
    assert_eq!(fake(&adapter).calls(), [Call::Recv(0), Call::Disconnect { broken: false }]);
    assert!(quiet([&end.connections, &end.receives]));
    establish(&adapter, &end);
    assert_eq!(fake(&adapter).calls()[0], Call::Recv(0));
}

#[test]
fn connects_disconnects_and_resets() {
    let adapter = open();
    let end = adapter.end();
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.connection(ConnectionReport::Established(b"welcome".to_vec()));
    assert_eq!(end.next_connection_event(), (ConnectionEvent::Established, b"welcome".to_vec()));
    let status = end.ep.query();
    let (address, qualifier) = status.remote.unwrap();
    assert_eq!((*address).clone(), Address::loopback());
    assert_eq!((qualifier, status.local_qualifier), (QUALIFIER, Fake::LOCAL_QUALIFIER));

    let dup = adapter.end();
    let dup_connect = |like: &End<Fake>, timeout| dup.ep.dup_connect(&like.ep, timeout, b"");
    assert_eq!(dup_connect(&dup, None), Err(EpState::Unconnected.into()));
    assert_eq!(dup_connect(&end, Some(std::time::Duration::ZERO)), Err(Error::InvalidParameter(Arg::Timeout)));
    fake(&adapter).calls();
    assert_eq!(dup_connect(&end, None), Ok(()));
    assert_eq!(fake(&adapter).calls(), [Call::Connect(QUALIFIER)]);

    assert_eq!(end.ep.reset(), Err(EpState::Connected.into()));
    end.ep.disconnect(true).unwrap();
    assert_eq!(end.next_connection_event(), (ConnectionEvent::Disconnected, vec![]));
    end.ep.disconnect(false).unwrap();
    assert!(quiet([&end.connections]));
    assert!(end.ep.query().remote.is_some());
    end.ep.reset().unwrap();
    let status = end.ep.query();
    assert!(status.remote.is_none());
    assert_eq!((status.state, status.local_qualifier), (EpState::Unconnected, 0));
}

#[test]
fn common_model_connects_to_port() {
    let adapter = open();
    let end = adapter.end();
    let connect = |address: &str, timeout, data: &[u8]| {
        end.ep.common_connect(&Address::new(address.parse().unwrap()), timeout, data)
    };
    let malformed = Err(Error::InvalidAddress(AddressFault::Malformed));
    let zero = Some(std::time::Duration::ZERO);
    assert_eq!(connect("127.0.0.1:7", zero, b""), Err(Error::InvalidParameter(Arg::Timeout)));
    // An endpoint without a communicator uses IPv4.
    assert_eq!(connect("[::1]:7", None, b""), malformed);
    assert_eq!(connect("127.0.0.1:0", None, b""), malformed);
    assert_eq!(connect("224.0.0.1:7", None, b""), Err(Error::InvalidAddress(AddressFault::Unsupported)));
    assert_eq!((end.state(), fake(&adapter).calls()), (EpState::Unconnected, vec![]));
    connect("127.0.0.1:7", None, b"hello").unwrap();
    assert_eq!(end.state(), EpState::ActiveConnectionPending);
    assert_eq!(fake(&adapter).calls(), [Call::Connect(7)]);
    assert_eq!(connect("127.0.0.1:7", None, b""), Err(EpState::ActiveConnectionPending.into()));
    let (address, qualifier) = end.ep.query().remote.unwrap();
    assert_eq!(((*address).clone(), qualifier), (Address::new("127.0.0.1:7".parse().unwrap()), 7));
    fake(&adapter).last_qp().connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    end.ep.disconnect(false).unwrap();
    end.is_told(ConnectionEvent::Disconnected);
    end.ep.reset().unwrap();

    let v6 = Comm { domain: 10, kind: 1, protocol: 6 };
    end.ep.modify(&[(Field::Comm, Value::Comm(v6))]).unwrap();
    assert_eq!(connect("127.0.0.1:7", None, b""), malformed);
    connect("[::1]:7", None, b"").unwrap();
    assert_eq!(end.ep.query().comm, v6);
}

#[test]
fn only_rejected_attempt_gets_private_data() {
    let adapter = open();
    let end = adapter.end();
    ask(&end).unwrap();
    fake(&adapter).last_qp().connection(ConnectionReport::PeerRejected(b"no".to_vec()));
    assert_eq!(end.next_connection_event(), (ConnectionEvent::PeerRejected, b"no".to_vec()));
    end.ep.reset().unwrap();
    // The program abandons this attempt.
    ask(&end).unwrap();
    fake(&adapter).closes(Closing::Later);
    end.ep.disconnect(false).unwrap();
    fake(&adapter).last_qp().connection(ConnectionReport::PeerRejected(b"no".to_vec()));
    assert_eq!(end.next_connection_event(), (ConnectionEvent::Disconnected, vec![]));
}

#[test]
fn evd_keeps_latest_private_data() {
    let adapter = open();
    let end = adapter.end();
    let reject = || {
        ask(&end).unwrap();
        fake(&adapter).last_qp().connection(ConnectionReport::PeerRejected(b"no".to_vec()));
        end.ep.reset().unwrap();
    };
    let data = |event| match event {
        Event::Connection { private_data: Some(data), .. } => Arc::downgrade(&data),
        other => panic!("{other:?}"),
    };
    reject();
    let dequeued = data(end.connections.dequeue().unwrap());
    assert!(dequeued.upgrade().is_some(), "the endpoint was reset before");
    reject();
    let waited_for = data(wait(&end.connections, 1, None).result.unwrap());
    assert!(waited_for.upgrade().is_some());
    assert!(dequeued.upgrade().is_none(), "the next one is shown");
    end.ep.free().unwrap();
    end.connections.free().unwrap();
    assert!(waited_for.upgrade().is_none(), "the dispatcher is gone");
}

#[test]
fn attempt_ends_with_reported_event() {
    use ConnectionEvent as E;
    use ConnectionReport as R;
    let adapter = open();
    let end = adapter.end();
    for (report, event) in [
        (R::PeerRejected(Vec::new()), E::PeerRejected),
        (R::NonPeerRejected, E::NonPeerRejected),
        (R::TimedOut, E::TimedOut),
        (R::Unreachable, E::Unreachable),
        (R::Broken, E::NonPeerRejected),
    ] {
        end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
        ask(&end).unwrap();
        let sink = fake(&adapter).last_qp();
        sink.connection(report);
        assert_eq!(end.next_connection_event(), (event, vec![]));
        assert_eq!(end.state(), EpState::Disconnected);
        end.arrives(1, Status::Flushed);
        // A second end has no effect.
        sink.connection(R::Disconnected);
        assert!(quiet([&end.connections]));
        end.ep.reset().unwrap();
    }
}

#[test]
fn drops_reports_of_earlier_connection() {
    let adapter = open();
    let (end, old) = connected(&adapter);
    end.ep.disconnect(false).unwrap();
    end.is_told(ConnectionEvent::Disconnected);
    end.ep.reset().unwrap();
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    let new = establish(&adapter, &end);
    end.ep.post_send(&[], 2, CompletionFlags::DEFAULT).unwrap();
    old.recv_done(received(0));
    assert!(!old.requests_done(SeqNo(9)));
    old.failed(None, Some((FailedRequest::Number(0), Status::Transport)));
    old.connection(ConnectionReport::Disconnected);
    old.drained();
    assert_eq!(end.state(), EpState::Connected);
    assert!(quiet([&end.connections, &end.receives, &end.requests]));
    new.recv_done(received(0));
    end.arrives(1, Status::Success);
    end.ep.free().unwrap();
    assert_eq!(end.done(), (2, Status::Flushed, 0));
    new.connection(ConnectionReport::Disconnected);
    assert!(quiet([&end.connections]), "a freed endpoint tells nothing");
}

/// Creates an endpoint with two posted receives and one EVD for all its events.
fn on_one_dispatcher(adapter: &Adapter<Fake>) -> End<Fake> {
    let evd = adapter.evd(Streams::TRANSFERS | Streams::CONNECTIONS);
    let end = adapter.end_to(&adapter.pz, [&evd, &evd, &evd], None, |_| {});
    (0..2).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    end
}

#[test]
fn messages_follow_connection_event() {
    let adapter = open();
    let end = on_one_dispatcher(&adapter);
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.recv_done(received(0));
    assert!(quiet([&end.receives]));
    sink.connection(ConnectionReport::Established(Vec::new()));
    sink.recv_done(received(1));
    end.is_told(ConnectionEvent::Established);
    end.arrives(0, Status::Success);
    end.arrives(1, Status::Success);
}

#[test]
fn connection_event_reveals_earlier_messages() {
    let adapter = open();
    let end = adapter.end();
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.recv_done(received(0));
    assert!(quiet([&end.receives]));
    sink.connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    assert!(end.receives.dequeue().is_ok());
}

#[test]
fn failed_connection_keeps_messages() {
    let adapter = open();
    let end = on_one_dispatcher(&adapter);
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.recv_done(received(0));
    sink.connection(ConnectionReport::Unreachable);
    end.arrives(0, Status::Success);
    end.is_told(ConnectionEvent::Unreachable);
    end.arrives(1, Status::Flushed);
}

#[test]
fn receives_complete_in_posting_order() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    (0..2).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    // An invalid report of the transport is ignored.
    sink.recv_done(received(1));
    assert!(quiet([&end.receives]));
    sink.recv_done(received(0));
    end.arrives(0, Status::Success);
}
