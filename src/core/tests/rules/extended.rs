//! Transfers that not all versions have, and windows for one connection.

use dat_core::ep::EpState;
use dat_core::error::{Access, Arg, Error, StateError};
use dat_core::event::Transfer;
use dat_core::testing::{Buffer, Call, next, patience, quiet, wait};
use dat_core::transport::{Closing, RemoteSegment, Scope, Special, Verdict};
use dat_core::{Base, Change, CompletionFlags, Endpoint, Event, LocalSegment, Rights, Rmr};

use super::*;

const REMOTE: RemoteSegment = RemoteSegment { addr: 1 << 40, len: 10, key: 3 };
const NONE: CompletionFlags = CompletionFlags::DEFAULT;

/// A function that posts an extended transfer.
type Post<'a> = &'a dyn Fn(&[LocalSegment], CompletionFlags) -> Result<()>;

#[test]
fn extended_posts_check_like_ordinary_ones() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let read_only = adapter.buffer_with(64, Rights::LOCAL_READ);
    let (end, idle) = (connected(&adapter).0, adapter.end());
    for (ep, wanted) in [(&end.ep, Ok(())), (&idle.ep, Err(idle.state().into()))] {
        let immediate = |list: &[LocalSegment], flags| ep.post_write_immediate(list, 1, REMOTE, 7, flags);
        let atomic = |list: &[LocalSegment], flags| ep.post_atomic(list, 1, REMOTE, Change::Add(1), flags);
        let revoke = |list: &[LocalSegment], flags| ep.post_send_invalidate(list, 1, 5, flags);
        for post in [&immediate as Post<'_>, &atomic, &revoke] {
            assert_eq!(post(&[buffer.at(0, 8)], NONE), wanted);
        }
    }
    let ep = &end.ep;
    let immediate = |list: &[LocalSegment], flags| ep.post_write_immediate(list, 1, REMOTE, 7, flags);
    let atomic = |list: &[LocalSegment], flags| ep.post_atomic(list, 1, REMOTE, Change::Add(1), flags);
    let revoke = |list: &[LocalSegment], flags| ep.post_send_invalidate(list, 1, 5, flags);
    let flags = Err(Error::InvalidParameter(Arg::Flags));
    for (post, access, solicits) in
        [(&immediate as Post<'_>, Access::Read, true), (&atomic, Access::Write, false), (&revoke, Access::Read, true)]
    {
        let unknown = LocalSegment { context: 0xdead_beef, ..buffer.at(0, 8) };
        assert_eq!(post(&[unknown], NONE), Err(Error::PrivilegesViolation(access)));
        assert_eq!(post(&[buffer.at(60, 8)], NONE), Err(Error::InvalidParameter(Arg::Segments)));
        assert_eq!(post(&[buffer.at(0, 1); 9], NONE), Err(Error::InvalidParameter(Arg::SegmentCount)));
        assert_eq!(post(&[buffer.at(0, 8)], CompletionFlags::from_bits_retain(0x40)), flags);
        assert_eq!(post(&[buffer.at(0, 8)], CompletionFlags::UNSIGNALLED), flags);
        assert_eq!(post(&[buffer.at(0, 8)], CompletionFlags::SUPPRESS | CompletionFlags::BARRIER_FENCE), Ok(()));
        let solicited = post(&[buffer.at(0, 8)], CompletionFlags::SOLICITED_WAIT);
        assert_eq!(solicited, if solicits { Ok(()) } else { flags });
    }
    assert_eq!(immediate(&[buffer.at(0, 11)], NONE), Err(Error::LengthError));
    assert_eq!(immediate(&[], NONE), Ok(()));
    assert_eq!(immediate(&[read_only.at(0, 8)], NONE), Ok(()));
    assert_eq!(revoke(&[], NONE), Ok(()));
    assert_eq!(atomic(&[read_only.at(0, 8)], NONE), Err(Error::PrivilegesViolation(Access::Write)));
}

#[test]
fn read_to_rmr_checks_key_last() {
    let adapter = open();
    let buffer = adapter.buffer_with(64, Rights::LOCAL_WRITE);
    let (end, idle) = (connected(&adapter).0, adapter.end());
    let unknown = LocalSegment { context: 0xdead_beef, ..buffer.at(0, 8) };
    let strange = CompletionFlags::from_bits_retain(0x40);
    let same = |ep: &Endpoint<Fake>, flags, refused| {
        assert_eq!(ep.post_read(&[unknown], 1, REMOTE, flags), Err(refused));
        assert_eq!(ep.post_read_to_rmr(unknown, 1, REMOTE, flags), Err(refused));
    };
    for flags in [NONE, CompletionFlags::SOLICITED_WAIT, strange] {
        same(&idle.ep, flags, idle.state().into());
    }
    ask(&idle).unwrap();
    same(&idle.ep, strange, EpState::ActiveConnectionPending.into());
    let privileges = Error::PrivilegesViolation(Access::Write);
    for disconnected in [false, true] {
        if disconnected {
            fake(&adapter).closes(Closing::Done);
            end.ep.disconnect(false).unwrap();
            end.is_told(ConnectionEvent::Disconnected);
        }
        for flags in [CompletionFlags::SOLICITED_WAIT, strange] {
            same(&end.ep, flags, Error::InvalidParameter(Arg::Flags));
        }
        same(&end.ep, NONE, privileges);
    }
    assert!(quiet([&end.requests, &idle.requests]));
}

#[test]
fn atomic_requires_eight_aligned_bytes() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let (end, _) = connected(&adapter);
    let post = |list: &[LocalSegment], remote| end.ep.post_atomic(list, 1, remote, Change::Add(1), NONE);
    let count = Err(Error::InvalidParameter(Arg::SegmentCount));
    assert_eq!(post(&[], REMOTE), count);
    assert_eq!(post(&[buffer.at(0, 4), buffer.at(4, 4)], REMOTE), count);
    assert_eq!(post(&[buffer.at(0, 7)], REMOTE), Err(Error::LengthError));
    assert_eq!(post(&[buffer.at(0, 0)], REMOTE), Err(Error::LengthError));
    assert_eq!(post(&[buffer.at(0, 8)], RemoteSegment { len: 7, ..REMOTE }), Err(Error::LengthError));
    for off in 1..8 {
        let remote = RemoteSegment { addr: REMOTE.addr + off, ..REMOTE };
        assert_eq!(post(&[buffer.at(0, 8)], remote), Err(Error::InvalidParameter(Arg::Remote)));
    }
    assert_eq!(post(&[buffer.at(3, 40)], REMOTE), Ok(()));
}

#[test]
fn extended_requests_complete_in_order() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let (end, sink) = connected(&adapter);
    end.send(buffer.at(0, 10), 0);
    end.write_immediate(buffer.at(0, 10), 1, REMOTE, 7);
    end.change(buffer.at(0, 8), 2, REMOTE, Change::Add(1));
    end.change(buffer.at(0, 8), 3, REMOTE, Change::Swap { expected: 0, new: 1 });
    end.ep.post_send_invalidate(&[buffer.at(0, 9)], 4, 5, NONE).unwrap();
    end.ep.post_write_immediate(&[], 5, REMOTE, 7, CompletionFlags::SUPPRESS).unwrap();
    end.write_immediate(buffer.at(0, 3), 6, REMOTE, 7);
    assert!(!sink.requests_done(SeqNo(6)));
    assert_eq!(end.done(), (0, Status::Success, 10));
    assert_eq!(end.done_with(), ((1, Status::Success, 10), Transfer::WriteImmediate));
    assert_eq!(end.done_with(), ((2, Status::Success, 8), Transfer::FetchAdd));
    assert_eq!(end.done_with(), ((3, Status::Success, 8), Transfer::CompareSwap));
    assert_eq!(end.done(), (4, Status::Success, 9));
    assert_eq!(end.done_with(), ((6, Status::Success, 3), Transfer::WriteImmediate));
    assert!(quiet([&end.requests]));
}

#[test]
fn failures_and_flushes_name_the_operation() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let (end, sink) = connected(&adapter);
    for cookie in [0, 2] {
        end.change(buffer.at(0, 8), cookie, REMOTE, Change::Add(1));
        end.write_immediate(buffer.at(0, 8), cookie + 1, REMOTE, 7);
    }
    sink.failed(None, Some((FailedRequest::Number(1), Status::RemoteAccess)));
    end.completes_with(0, Status::Success, Transfer::FetchAdd);
    end.completes_with(1, Status::RemoteAccess, Transfer::WriteImmediate);
    end.completes_with(2, Status::Flushed, Transfer::FetchAdd);
    end.completes_with(3, Status::Flushed, Transfer::WriteImmediate);
    end.is_told(ConnectionEvent::Broken);
    // Later posts are flushed, too.
    end.change(buffer.at(0, 8), 4, REMOTE, Change::Swap { expected: 0, new: 0 });
    end.completes_with(4, Status::Flushed, Transfer::CompareSwap);
}

#[test]
fn receives_with_data_complete_in_order() {
    let adapter = open();
    let end = adapter.end();
    let buffer = adapter.buffer(64);
    (0..6).for_each(|cookie| end.receive(buffer.at(0, 8), cookie));
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    // Before the connection event, all completions are deferred in order.
    sink.recv_special(received(0), Special::Immediate(100));
    sink.recv_done(received(1));
    sink.recv_special(received(2), Special::Invalidated(200));
    assert!(quiet([&end.receives]));
    sink.connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    sink.recv_special(received(3), Special::Immediate(101));
    sink.recv_done(received(4));
    let done = |cookie| (cookie, Status::Success, 9);
    assert_eq!(end.arrived_with(), (done(0), Transfer::RecvImmediate, 100));
    assert_eq!(end.arrived(), done(1));
    assert_eq!(end.arrived_with(), (done(2), Transfer::RecvInvalidated, 200));
    assert_eq!(end.arrived_with(), (done(3), Transfer::RecvImmediate, 101));
    assert_eq!(end.arrived(), done(4));
    // A failed receive contains no data.
    sink.recv_special(RecvDone { status: Status::LocalLength, ..received(5) }, Special::Immediate(102));
    end.arrives(5, Status::LocalLength);
}

#[test]
fn immediate_data_notifies_and_holds_srq_buffer() {
    let adapter = open();
    let srq = adapter.srq(4);
    let buffer = adapter.buffer(64);
    let end = adapter.end_on(&srq);
    let sink = establish(&adapter, &end);
    fake(&adapter).calls();
    (0..3).for_each(|cookie| srq.post_recv(&[buffer.at(0, 8)], cookie).unwrap());
    let ids = fake(&adapter).calls();
    let [Call::SharedRecv(first), Call::SharedRecv(second), Call::SharedRecv(third)] = ids[..] else {
        panic!("{ids:?}")
    };
    assert_eq!(sink.recv_taken(first), Verdict::Continue);
    assert_eq!(end.ep.recv_query(), 1);
    sink.recv_special(received(first), Special::Immediate(9));
    assert_eq!(end.ep.recv_query(), 0);
    // The transport did not report that this buffer was taken.
    sink.recv_special(received(second), Special::Immediate(10));
    assert_eq!((srq.query().available, srq.query().outstanding), (1, 3));
    let outcome = wait(&end.receives, 1, Some(patience()));
    assert_eq!(outcome.more, 1);
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, extra: 9, .. })));
    assert_eq!(srq.query().outstanding, 2);
    assert_eq!(end.arrived_with(), ((1, Status::Success, 9), Transfer::RecvImmediate, 10));
    assert_eq!(srq.query().outstanding, 1);
    // A receive that is reported after the end is flushed, and its buffer is freed.
    end.ep.disconnect(false).unwrap();
    sink.recv_special(received(third), Special::Immediate(11));
    end.arrives(2, Status::Flushed);
    assert_eq!((srq.query().available, srq.query().outstanding), (0, 0));
}

fn bind(end: &End<Fake>, rmr: &Rmr<Fake>, buffer: &Buffer<Fake>) -> Result<u32> {
    end.ep.post_bind(rmr, Some(buffer.lmr()), buffer.at(0, 8), Rights::REMOTE_WRITE, Base::Address, 7, NONE)
}

#[test]
fn revoked_window_is_unbound_before_completion() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let (end, sink) = connected(&adapter);
    (0..4).for_each(|cookie| end.receive(buffer.at(0, 8), cookie));
    let far = adapter.buffer_with(64, Rights::LOCAL_READ | Rights::LOCAL_WRITE);
    let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
    let old = bind(&end, &rmr, &far).unwrap();
    let new = bind(&end, &rmr, &far).unwrap();
    assert_ne!(old, new);
    assert!(!sink.requests_done(SeqNo(1)));
    (0..2).for_each(|_| assert!(matches!(next(&end.requests), Event::Bind { .. })));
    // The window's old key and keys of other objects have no effect.
    for (id, key) in [old, buffer.lmr().remote_key, 0].into_iter().enumerate() {
        sink.recv_special(received(id as u64), Special::Invalidated(key));
        assert_eq!(rmr.status().map(|status| status.remote_key), Some(new));
    }
    assert_eq!(far.lmr().free(), Err(Error::InvalidState(StateError::LmrInUse)));
    sink.recv_special(received(3), Special::Invalidated(new));
    assert_eq!(rmr.status(), None);
    far.lmr().free().unwrap();
    for key in [old, buffer.lmr().remote_key, 0, new] {
        let (_, operation, extra) = end.arrived_with();
        assert_eq!((operation, extra), (Transfer::RecvInvalidated, key));
    }
    assert_ne!(bind(&end, &rmr, &buffer).unwrap(), new);
}

#[test]
fn windows_for_one_connection_end_with_it() {
    let adapter = open();
    let far = adapter.buffer_with(64, Rights::LOCAL_READ | Rights::LOCAL_WRITE);
    let ((end, sink), (other, _)) = (connected(&adapter), connected(&adapter));
    let windows: Vec<_> = (0..3).map(|_| Rmr::create(&adapter.pz, Scope::Endpoint).unwrap()).collect();
    // The list of windows stays correct after repeated binds, unbinds and frees.
    for round in 0..40 {
        for window in &windows {
            bind(&end, window, &far).unwrap();
        }
        if round % 2 == 0 {
            let nothing = LocalSegment { context: 0, addr: 0, len: 0 };
            end.ep.post_bind(&windows[1], None, nothing, Rights::NONE, Base::Address, 7, NONE).unwrap();
            assert_eq!(windows[1].status(), None);
        }
        let passing = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
        bind(&end, &passing, &far).unwrap();
        passing.free();
        assert!(!sink.requests_done(SeqNo(u64::MAX - 1)));
        while end.requests.dequeue().is_ok() {}
    }
    let elsewhere = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
    bind(&other, &elsewhere, &far).unwrap();
    assert_eq!(bind(&other, &windows[0], &far), Err(Error::InvalidParameter(Arg::Endpoint)));
    fake(&adapter).closes(Closing::Done);
    end.ep.disconnect(false).unwrap();
    end.is_told(ConnectionEvent::Disconnected);
    for window in &windows {
        assert_eq!((window.status(), window.scope), (None, Scope::Endpoint));
    }
    assert!(elsewhere.status().is_some());
    bind(&other, &windows[0], &far).unwrap();
    other.ep.free().unwrap();
    assert_eq!((windows[0].status(), elsewhere.status()), (None, None));
    far.lmr().free().unwrap();
    // A bind without a connection is flushed.
    let whole = adapter.buffer(64);
    assert_eq!(bind(&end, &windows[0], &whole), Ok(0), "it is flushed");
    assert_eq!(windows[0].status(), None);
}
