//! Posting: checks and completions.

use dat_core::error::{Access, Arg, Error, Resource, StateError};
use dat_core::event::{Event, Transfer};
use dat_core::testing::{Buffer, Call, next, quiet};
use dat_core::transport::RemoteSegment;
use dat_core::{CompletionFlags, LocalSegment, Rights};

use super::*;

const REMOTE: RemoteSegment = RemoteSegment { addr: 1 << 40, len: 10, key: 3 };

#[test]
fn only_requests_require_connection() {
    let adapter = open();
    let buffer = adapter.buffer(64);
    let list = [buffer.at(0, 10)];
    let idle = adapter.end();
    let refused = Err(idle.state().into());
    assert_eq!(idle.ep.post_send(&list, 1, CompletionFlags::DEFAULT), refused);
    assert_eq!(idle.ep.post_read(&list, 1, REMOTE, CompletionFlags::DEFAULT), refused);
    assert_eq!(idle.ep.post_write(&list, 1, REMOTE, CompletionFlags::DEFAULT), refused);
    assert_eq!(idle.ep.post_recv(&list, 1, CompletionFlags::DEFAULT), Ok(()));
    let bare = dat_core::Endpoint::create(&adapter.ia, &Default::default(), None).unwrap();
    let not_ready = Err(Error::InvalidState(StateError::EndpointNotReady));
    assert_eq!(bare.post_recv(&list, 1, CompletionFlags::DEFAULT), not_ready);
}

#[test]
fn rejects_invalid_lists_and_flags() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let buffer = adapter.buffer(64);
    let read_only = adapter.buffer_with(64, Rights::LOCAL_READ);
    let unknown = LocalSegment { context: 0xdead_beef, ..buffer.at(0, 1) };
    type Post<'a> = &'a dyn Fn(&[LocalSegment], CompletionFlags) -> Result<()>;
    let send = |list: &[LocalSegment], flags| end.ep.post_send(list, 1, flags);
    let recv = |list: &[LocalSegment], flags| end.ep.post_recv(list, 1, flags);
    for (post, access) in [(&send as Post<'_>, Access::Read), (&recv, Access::Write)] {
        assert_eq!(
            post(&[buffer.at(0, 1); 5], CompletionFlags::DEFAULT),
            Err(Error::InvalidParameter(Arg::SegmentCount))
        );
        assert_eq!(post(&[buffer.at(0, 65)], CompletionFlags::DEFAULT), Err(Error::InvalidParameter(Arg::Segments)));
        assert_eq!(post(&[unknown], CompletionFlags::DEFAULT), Err(Error::PrivilegesViolation(access)));
        assert_eq!(
            post(&[buffer.at(0, 1)], CompletionFlags::from_bits_retain(0x40)),
            Err(Error::InvalidParameter(Arg::Flags))
        );
        assert_eq!(post(&[buffer.at(0, 1)], CompletionFlags::UNSIGNALLED), Err(Error::InvalidParameter(Arg::Flags)));
        assert_eq!(post(&[], CompletionFlags::DEFAULT), Ok(()));
        assert_eq!(post(&[buffer.at(0, 10), buffer.at(20, 10)], CompletionFlags::DEFAULT), Ok(()));
    }
    assert_eq!(recv(&[read_only.at(0, 1)], CompletionFlags::DEFAULT), Err(Error::PrivilegesViolation(Access::Write)));
    assert_eq!(send(&[read_only.at(0, 1)], CompletionFlags::SOLICITED_WAIT), Ok(()));
}

#[test]
fn rejects_incompatible_lengths() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let buffer = adapter.buffer(64);
    let read_only = adapter.buffer_with(64, Rights::LOCAL_READ);
    let list = [buffer.at(0, 10)];
    let short = RemoteSegment { len: 9, ..REMOTE };
    let long = RemoteSegment { len: 11, ..REMOTE };
    let write = |remote, flags| end.ep.post_write(&list, 1, remote, flags);
    let read = |remote, flags| end.ep.post_read(&list, 1, remote, flags);
    assert_eq!(write(short, CompletionFlags::DEFAULT), Err(Error::LengthError));
    assert_eq!(write(long, CompletionFlags::DEFAULT), Ok(()));
    assert_eq!(read(long, CompletionFlags::DEFAULT), Err(Error::LengthError));
    assert_eq!(read(short, CompletionFlags::DEFAULT), Ok(()));
    let bad_flags = Err(Error::InvalidParameter(Arg::Flags));
    assert_eq!(write(REMOTE, CompletionFlags::SOLICITED_WAIT), bad_flags);
    assert_eq!(read(REMOTE, CompletionFlags::SOLICITED_WAIT), bad_flags);
    assert_eq!(write(REMOTE, CompletionFlags::SUPPRESS), Ok(()));
    assert_eq!(read(REMOTE, CompletionFlags::SUPPRESS | CompletionFlags::BARRIER_FENCE), Ok(()));
    let privilege = Err(Error::PrivilegesViolation(Access::Write));
    assert_eq!(end.ep.post_read(&[read_only.at(0, 10)], 1, REMOTE, CompletionFlags::DEFAULT), privilege);
}

#[test]
fn only_adapter_limits_lengths() {
    let adapter = open();
    let small = adapter.end_with(None, |attr| (attr.max_message_size, attr.max_rdma_size) = (9, 8));
    establish(&adapter, &small);
    let most = adapter.ia.attributes().max_transfer as usize;
    let buffer = adapter.buffer(most + 1);
    let of = |len| [vec![buffer.at(0, len)], vec![buffer.at(0, len - 1), buffer.at(0, 1)]];
    let remote = |len| RemoteSegment { len: len as u64, ..REMOTE };
    for (len, result) in [(10, Ok(())), (most, Ok(())), (most + 1, Err(Error::LengthError))] {
        for list in of(len) {
            assert_eq!(small.ep.post_send(&list, 1, CompletionFlags::DEFAULT), result);
            assert_eq!(small.ep.post_write(&list, 1, remote(len), CompletionFlags::DEFAULT), result);
            assert_eq!(small.ep.post_read(&list, 1, remote(len), CompletionFlags::DEFAULT), result);
        }
    }
}

#[test]
fn completions_contain_posted_values() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    let buffer = adapter.buffer(64);
    let cookie = 0x0123_4567_89ab_cdef;
    end.receive(buffer.at(0, 64), cookie);
    sink.recv_done(received(0));
    assert_eq!(end.arrived(), (cookie, Status::Success, 9));
    end.send(buffer.at(0, 10), 1);
    end.write(buffer.at(0, 10), 2, REMOTE);
    end.read(buffer.at(0, 10), 3, REMOTE);
    assert!(!sink.requests_done(SeqNo(2)));
    for (cookie, kind) in [(1, Transfer::Send), (2, Transfer::Write), (3, Transfer::Read)] {
        let Event::Transfer { cookie: told, status, len, transfer, .. } = next(&end.requests) else {
            panic!("no transfer")
        };
        assert_eq!((told, status, len, transfer), (cookie, Status::Success, 10, kind));
    }
}

#[test]
fn report_completes_earlier_requests_once() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    let buffer = adapter.buffer(64);
    fake(&adapter).calls();
    for cookie in 0..6 {
        let flag = if cookie % 2 == 0 { CompletionFlags::SUPPRESS } else { CompletionFlags::DEFAULT };
        end.ep.post_send(&[buffer.at(0, 1)], cookie, flag).unwrap();
    }
    assert_eq!(fake(&adapter).calls(), [0, 1, 2, 3, 4, 5].map(Call::Request));
    assert!(!sink.requests_done(SeqNo(3)));
    assert!(!sink.requests_done(SeqNo(1)));
    end.completes(1, Status::Success);
    end.completes(3, Status::Success);
    assert!(!end.ep.status().2);
    assert!(!sink.requests_done(SeqNo(5)));
    end.completes(5, Status::Success);
    assert!(end.ep.status().2);
    assert!(quiet([&end.requests]));
}

#[test]
fn full_queue_accepts_after_completion() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| (attr.max_recv_dtos, attr.max_request_dtos) = (2, 2));
    let buffer = adapter.buffer(64);
    let list = [buffer.at(0, 1)];
    let full = Err(Error::InsufficientResources(Resource::Memory));
    let recv = || end.ep.post_recv(&list, 1, CompletionFlags::DEFAULT);
    let send = || end.ep.post_send(&list, 1, CompletionFlags::DEFAULT);
    (0..2).for_each(|_| recv().unwrap());
    assert_eq!(recv(), full);
    let sink = establish(&adapter, &end);
    assert_eq!(recv(), full);
    sink.recv_done(received(0));
    recv().unwrap();
    (0..2).for_each(|_| send().unwrap());
    assert_eq!(send(), full);
    assert!(!sink.requests_done(SeqNo(0)));
    send().unwrap();
    assert_eq!(send(), full);
}

#[test]
fn rejected_request_is_not_posted() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    let buffer = adapter.buffer(64);
    let list = [buffer.at(0, 1)];
    let error = Error::InsufficientResources(Resource::Memory);
    fake(&adapter).refuse_after(0, error);
    assert_eq!(end.ep.post_send(&list, 1, CompletionFlags::DEFAULT), Err(error));
    fake(&adapter).refuse_after(0, error);
    assert_eq!(end.ep.post_recv(&list, 1, CompletionFlags::DEFAULT), Err(error));
    let (_, recv_idle, request_idle) = end.ep.status();
    assert!(recv_idle && request_idle);
    // The numbers of the rejected posts are reused.
    fake(&adapter).calls();
    end.send(list[0], 2);
    end.receive(list[0], 3);
    assert_eq!(fake(&adapter).calls(), [Call::Request(0), Call::Recv(0)]);
    assert!(!sink.requests_done(SeqNo(0)));
    sink.recv_done(received(0));
    end.completes(2, Status::Success);
    end.arrives(3, Status::Success);
}

#[test]
fn receives_are_passed_to_queue_pair_in_order() {
    let adapter = open();
    let end = adapter.end();
    let gone = adapter.buffer(8);
    let buffer = adapter.buffer(8);
    end.receive(buffer.at(0, 8), 10);
    end.receive(gone.at(0, 8), 11);
    end.receive(buffer.at(0, 8), 12);
    drop(gone);
    assert_eq!(fake(&adapter).calls(), []);
    ask(&end).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Recv(0), Call::Recv(2), Call::Connect(QUALIFIER)]);
    end.arrives(11, Status::LocalProtection);
    end.receive(buffer.at(0, 8), 13);
    assert_eq!(fake(&adapter).calls(), [Call::Recv(3)]);
    let sink = fake(&adapter).last_qp();
    sink.connection(ConnectionReport::Established(Vec::new()));
    [0, 2, 3].into_iter().for_each(|id| sink.recv_done(received(id)));
    [10, 12, 13].into_iter().for_each(|cookie| end.arrives(cookie, Status::Success));
}

#[test]
fn rejects_memory_of_other_zone() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let zone = dat_core::Pz::create(&adapter.ia).unwrap();
    let theirs = Buffer::new(&adapter.ia, &zone, 8, Rights::LOCAL_READ | Rights::LOCAL_WRITE);
    let list = [theirs.at(0, 8)];
    let send = end.ep.post_send(&list, 1, CompletionFlags::DEFAULT);
    assert_eq!(send, Err(Error::ProtectionViolation(Access::Read)));
    let recv = end.ep.post_recv(&list, 1, CompletionFlags::DEFAULT);
    assert_eq!(recv, Err(Error::ProtectionViolation(Access::Write)));
}

#[test]
fn only_unsignalled_streams_allow_unsignalled() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| {
        attr.recv_completion_flags = CompletionFlags::UNSIGNALLED;
        attr.request_completion_flags = CompletionFlags::UNSIGNALLED;
    });
    assert_eq!(end.receives.status().feed, Some(dat_core::Feed::Unsignalled));
    let sink = establish(&adapter, &end);
    end.ep.post_recv(&[], 1, CompletionFlags::UNSIGNALLED).unwrap();
    end.ep.post_send(&[], 2, CompletionFlags::UNSIGNALLED).unwrap();
    sink.recv_done(received(0));
    assert!(!sink.requests_done(SeqNo(0)));
    // The completions are queued anyway.
    end.arrives(1, Status::Success);
    end.completes(2, Status::Success);
}
