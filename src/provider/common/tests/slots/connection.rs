//! Service points, requests and connections. The test is the peer.

use std::ffi::c_char;

use dat_core::addr::Address;
use dat_core::event::Status;
use dat_core::transport::{ConnectionReport, ConnectionRequestInfo, EndpointSink, RecvDone, SeqNo};

use super::*;

/// Delivers a request to the first listener, and returns its handle.
pub fn arrive(setup: &Setup, private_data: &[u8]) -> DAT_CR_HANDLE {
    let (qualifier, sink) = setup.core().transport.listener(0);
    let info = ConnectionRequestInfo {
        qualifier,
        remote_address: Address::new("10.1.2.3:0".parse().unwrap()),
        remote_qualifier: 4321,
        private_data: private_data.to_vec(),
        datagrams: None,
    };
    assert!(sink.request((), info).is_ok());
    let event = setup.dequeue(setup.request_evd).expect("an event comes with the request");
    assert_eq!(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
    assert_eq!(event.evd_handle, setup.request_evd);
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.cr_arrival_event_data };
    assert_eq!(data.conn_qual, qualifier);
    assert_eq!(data.local_ia_address_ptr, local_address(setup));
    data.cr_handle
}

fn local_address(setup: &Setup) -> DAT_IA_ADDRESS_PTR {
    setup.core().attributes().address.native().as_ptr().cast_mut().cast()
}

/// Sends a report to the last queue pair, as if its peer had caused it.
fn report(setup: &Setup, report: ConnectionReport) {
    sink(setup).connection(report);
}

/// Returns the sink of the last queue pair.
pub fn sink(setup: &Setup) -> EndpointSink<Fake> {
    setup.core().transport.last_qp()
}

fn received(id: u64) -> RecvDone {
    RecvDone { id, status: Status::Success, len: 9, solicited: false }
}

/// Creates an endpoint with two posted receives, and one EVD for all its events.
fn on_one_dispatcher(setup: &Setup) -> (DAT_EP_HANDLE, DAT_EVD_HANDLE) {
    let evd = setup.evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    let mut ep = null_mut();
    let code = slot!(setup.table, ep_create_func(setup.ia, setup.pz, evd, evd, evd, null(), &mut ep));
    assert_eq!(code, OK);
    for _ in 0..2 {
        assert_eq!(slot!(setup.table, ep_post_recv_func(ep, 0, null_mut(), word(1), 0)), OK);
    }
    (ep, evd)
}

fn kinds(setup: &Setup, evd: DAT_EVD_HANDLE) -> Vec<DAT_EVENT_NUMBER> {
    std::iter::from_fn(|| setup.dequeue(evd)).map(|event| event.event_number).collect()
}

#[test]
fn connection_event_precedes_messages() {
    let setup = Setup::new();
    let (ep, evd) = on_one_dispatcher(&setup);
    assert_eq!(connect(&setup, ep), OK);
    sink(&setup).recv_done(received(0));
    assert!(setup.dequeue(evd).is_none());
    report(&setup, ConnectionReport::Established(Vec::new()));
    sink(&setup).recv_done(received(1));
    let expected = [DAT_CONNECTION_EVENT_ESTABLISHED, DAT_DTO_COMPLETION_EVENT, DAT_DTO_COMPLETION_EVENT];
    assert_eq!(kinds(&setup, evd), expected);
}

#[test]
fn delivers_messages_of_failed_connection() {
    let setup = Setup::new();
    let (ep, evd) = on_one_dispatcher(&setup);
    assert_eq!(connect(&setup, ep), OK);
    sink(&setup).recv_done(received(0));
    report(&setup, ConnectionReport::Unreachable);
    let event = setup.dequeue(evd).expect("the message");
    // SAFETY: the event number selects this member.
    assert_eq!(unsafe { event.event_data.dto_completion_event_data }.status, DAT_DTO_SUCCESS);
    assert_eq!(kinds(&setup, evd), [DAT_CONNECTION_EVENT_UNREACHABLE, DAT_DTO_COMPLETION_EVENT]);
}

#[test]
fn flushes_srq_buffers_taken_after_disconnect() {
    let setup = Setup::new();
    let t = setup.table;
    let srq = setup.srq();
    let mut ep = null_mut();
    let (dto, connections) = (setup.dto_evd, setup.connect_evd);
    let made =
        slot!(t, ep_create_with_srq_func(setup.ia, setup.pz, dto, dto, connections, srq, &attributes(), &mut ep));
    assert_eq!(made, OK);
    for cookie in 0..3 {
        assert_eq!(slot!(t, srq_post_recv_func(srq, 0, null_mut(), word(cookie))), OK);
    }
    assert_eq!(connect(&setup, ep), OK);
    report(&setup, ConnectionReport::Established(Vec::new()));
    let late = sink(&setup);
    report(&setup, ConnectionReport::Broken);
    assert!(setup.dequeue(dto).is_none());
    // The posted buffers have the ids 9, 8 and 7.
    let _ = late.recv_taken(9);
    late.recv_done(received(8));
    for cookie in [0, 1] {
        let event = setup.dequeue(dto).expect("a completion");
        // SAFETY: the event number selects this member.
        let data = unsafe { event.event_data.dto_completion_event_data };
        assert_eq!((data.status, bits(data.user_cookie)), (DAT_DTO_ERR_FLUSHED, cookie));
    }
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_SRQ_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, srq_query_func(srq, DAT_SRQ_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.available_dto_count, param.outstanding_dto_count), (1, 1));
}

#[test]
fn failed_adapter_reports_catastrophic_event() {
    let setup = Setup::new();
    setup.core().transport.fail();
    let event = setup.dequeue(setup.async_evd).expect("an event");
    assert_eq!(event.event_number, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
}

fn connection_event(setup: &Setup) -> (DAT_EVENT_NUMBER, DAT_CONNECTION_EVENT_DATA) {
    let event = setup.dequeue(setup.connect_evd).expect("a connection event");
    // SAFETY: only connection events arrive here, and they have this member.
    (event.event_number, unsafe { event.event_data.connect_event_data })
}

pub fn loopback() -> DAT_SOCK_ADDR {
    let mut address: DAT_SOCK_ADDR = DAT_SOCK_ADDR { sa_family: DAT_AF_INET as u16, sa_data: [0; 14] };
    for (to, from) in address.sa_data[2..6].iter_mut().zip([127, 0, 0, 1]) {
        *to = from;
    }
    address
}

fn connect(setup: &Setup, ep: DAT_EP_HANDLE) -> DAT_RETURN {
    let mut address = loopback();
    slot!(setup.table, ep_connect_func(ep, &mut address, 5, DAT_TIMEOUT_INFINITE, 0, null_mut(), 0, 0))
}

#[test]
fn requests_are_shown_and_accepted() {
    let setup = Setup::new();
    let t = setup.table;
    setup.psp(5, DAT_PSP_CONSUMER_FLAG);
    let cr = arrive(&setup, b"hello");
    let mut param = DAT_CR_PARAM {
        remote_ia_address_ptr: null_mut(),
        remote_port_qual: 0,
        private_data_size: 0,
        private_data: null_mut(),
        local_ep_handle: UNTOUCHED,
    };
    assert_eq!(slot!(t, cr_query_func(cr, 0x20, &mut param)), arg_error(2));
    assert_eq!(slot!(t, cr_query_func(cr, DAT_CR_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(param.local_ep_handle, UNTOUCHED);
    assert_eq!(slot!(t, cr_query_func(cr, DAT_CR_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.remote_port_qual, param.private_data_size), (4321, 5));
    assert!(param.local_ep_handle.is_null());
    // SAFETY: valid while the request exists.
    let data = unsafe { std::slice::from_raw_parts_mut(param.private_data.cast::<u8>(), 5) };
    assert_eq!(data, b"hello");
    // SAFETY: an IPv4 address, valid while the request exists.
    let address = unsafe { param.remote_ia_address_ptr.read() };
    assert_eq!(address.sa_family, DAT_AF_INET as u16);
    assert_eq!(address.sa_data[2..6], [10, 1, 2, 3]);
    data[0] = b'j';

    let ep = setup.ep();
    assert_eq!(slot!(t, cr_accept_func(cr, null_mut(), 0, null_mut())), handle_error(DAT_INVALID_HANDLE_EP));
    assert_eq!(slot!(t, cr_accept_func(cr, setup.pz, 0, null_mut())), handle_error(DAT_INVALID_HANDLE_EP));
    assert_eq!(slot!(t, cr_accept_func(cr, ep, -1, null_mut())), arg_error(3));
    assert_eq!(slot!(t, cr_accept_func(cr, ep, 101, param.private_data)), arg_error(3));
    assert_eq!(slot!(t, cr_accept_func(cr, ep, 5, null_mut())), arg_error(4));
    assert_eq!(setup.state(ep), DAT_EP_STATE_UNCONNECTED);
    assert_eq!(slot!(t, cr_accept_func(cr, ep, 5, param.private_data)), OK);
    assert_eq!(setup.state(ep), DAT_EP_STATE_COMPLETION_PENDING);
    assert_eq!(version::cr_reject(t, cr), handle_error(DAT_INVALID_HANDLE_CR));

    report(&setup, ConnectionReport::Established(b"ignored".to_vec()));
    let (number, data) = connection_event(&setup);
    assert_eq!((number, data.ep_handle), (DAT_CONNECTION_EVENT_ESTABLISHED, ep));
    assert_eq!(data.private_data_size, 0);
    assert_eq!(setup.state(ep), DAT_EP_STATE_CONNECTED);
}

#[test]
fn requests_are_rejected_and_handed_off() {
    let setup = Setup::new();
    let t = setup.table;
    setup.psp(5, DAT_PSP_CONSUMER_FLAG);
    let psp = setup.psp(6, DAT_PSP_PROVIDER_FLAG);
    let cr = arrive(&setup, b"hi");
    assert_eq!(slot!(t, cr_handoff_func(cr, 0)), arg_error(2));
    assert_eq!(slot!(t, cr_handoff_func(cr, 6)), OK);
    assert_eq!(slot!(t, cr_handoff_func(cr, 6)), handle_error(DAT_INVALID_HANDLE_CR));
    let event = setup.dequeue(setup.request_evd).expect("the request arrives again");
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.cr_arrival_event_data };
    // SAFETY: both members are handles.
    assert_eq!(unsafe { data.sp_handle.psp_handle }, psp);
    assert_eq!(data.conn_qual, 6);
    let mut param = DAT_CR_PARAM {
        remote_ia_address_ptr: null_mut(),
        remote_port_qual: 0,
        private_data_size: 0,
        private_data: null_mut(),
        local_ep_handle: null_mut(),
    };
    assert_eq!(slot!(t, cr_query_func(data.cr_handle, DAT_CR_FIELD_ALL, &mut param)), OK);
    assert_eq!(param.private_data_size, 2);
    assert_eq!(setup.state(param.local_ep_handle), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
    let held = state_error(DAT_INVALID_STATE_EP_TENTCONNPENDING);
    assert_eq!(slot!(t, ep_free_func(param.local_ep_handle)), held);
    assert_eq!(version::cr_reject(t, data.cr_handle), OK);
    assert_eq!(slot!(t, ep_free_func(param.local_ep_handle)), handle_error(DAT_INVALID_HANDLE_EP));
}

#[test]
fn service_points_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, evd) = (setup.ia, setup.request_evd);
    let other = setup.open();
    let mut psp = UNTOUCHED;
    let bad_evd = handle_error(DAT_INVALID_HANDLE_EVD_CR);
    for (code, ia, qualifier, evd, flags) in [
        (bad_evd, ia, 5, null_mut(), 0),
        (bad_evd, ia, 5, setup.pz, 0),
        (bad_evd, ia, 5, setup.dto_evd, 0),
        (bad_evd, other, 5, evd, 0),
        (arg_error(2), ia, 0, evd, 0),
        (arg_error(4), ia, 5, evd, 2),
        (DAT_CONN_QUAL_IN_USE, ia, Fake::QUALIFIER_IN_USE, evd, 0),
    ] {
        assert_eq!(slot!(t, psp_create_func(ia, qualifier, evd, flags, &mut psp)), code);
        assert_eq!(psp, UNTOUCHED);
    }
    assert_eq!(slot!(t, psp_create_func(ia, 5, evd, 0, null_mut())), arg_error(5));
    let mut qualifier = 0;
    assert_eq!(slot!(t, psp_create_any_func(ia, null_mut(), evd, 0, &mut psp)), arg_error(2));
    assert_eq!(slot!(t, psp_create_any_func(ia, &mut qualifier, evd, 0, null_mut())), arg_error(5));
    assert_eq!(slot!(t, psp_create_any_func(ia, &mut qualifier, evd, 7, &mut psp)), arg_error(4));
    assert_eq!(slot!(t, psp_create_any_func(ia, &mut qualifier, evd, 1, &mut psp)), OK);
    assert_eq!(qualifier, Fake::QUALIFIER_CHOSEN);
    let mut param = DAT_PSP_PARAM { ia_handle: null_mut(), conn_qual: 0, evd_handle: null_mut(), psp_flags: 9 };
    assert_eq!(slot!(t, psp_query_func(psp, 0x10, &mut param)), arg_error(2));
    assert_eq!(slot!(t, psp_query_func(psp, DAT_PSP_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, psp_query_func(psp, DAT_PSP_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.conn_qual, param.evd_handle, param.psp_flags), (ia, qualifier, evd, 1));
    assert_eq!(slot!(t, evd_free_func(evd)), state_error(DAT_INVALID_STATE_EVD_IN_USE));
    assert_eq!(slot!(t, psp_free_func(psp)), OK);
    assert_eq!(slot!(t, evd_free_func(evd)), OK);
}

#[test]
fn reserved_service_points_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, evd, ep) = (setup.ia, setup.request_evd, setup.ep());
    let (other, setup_ep) = (setup.open(), ep);
    let mut rsp = UNTOUCHED;
    for (code, ia, qualifier, ep, evd) in [
        (DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, 0), ia, 5, null_mut(), evd),
        (handle_error(DAT_INVALID_HANDLE_EP), ia, 5, evd, evd),
        (handle_error(DAT_INVALID_HANDLE_EP), other, 5, ep, evd),
        (handle_error(DAT_INVALID_HANDLE_EVD_CR), ia, 5, ep, setup.dto_evd),
        (handle_error(DAT_INVALID_HANDLE_EVD_CR), ia, 5, ep, null_mut()),
        (arg_error(2), ia, 0, ep, evd),
        (DAT_ERROR(DAT_CONN_QUAL_IN_USE, 0), ia, Fake::QUALIFIER_IN_USE, ep, evd),
    ] {
        assert_eq!(slot!(t, rsp_create_func(ia, qualifier, ep, evd, &mut rsp)), code);
        assert_eq!(rsp, UNTOUCHED);
        assert_eq!(setup.state(setup_ep), DAT_EP_STATE_UNCONNECTED);
    }
    assert_eq!(slot!(t, rsp_create_func(ia, 5, ep, evd, null_mut())), arg_error(5));
    assert_eq!(setup.state(ep), DAT_EP_STATE_UNCONNECTED);
    let rsp = setup.rsp(5, ep);
    assert_eq!(setup.state(ep), DAT_EP_STATE_RESERVED);
    let mut param =
        DAT_RSP_PARAM { ia_handle: null_mut(), conn_qual: 0, evd_handle: null_mut(), ep_handle: null_mut() };
    assert_eq!(slot!(t, rsp_query_func(rsp, 0x10, &mut param)), arg_error(2));
    assert_eq!(slot!(t, rsp_query_func(rsp, DAT_RSP_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, rsp_query_func(rsp, DAT_RSP_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.conn_qual, param.evd_handle, param.ep_handle), (ia, 5, evd, ep));
    assert_eq!(slot!(t, ep_free_func(ep)), state_error(DAT_INVALID_STATE_EP_RESERVED));
    let mut other_rsp = UNTOUCHED;
    let reserved = state_error(DAT_INVALID_STATE_EP_RESERVED);
    assert_eq!(slot!(t, rsp_create_func(ia, 9, ep, evd, &mut other_rsp)), reserved);
    let cr = arrive(&setup, b"");
    assert_eq!(setup.state(ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    assert_eq!(slot!(t, cr_accept_func(cr, setup.ep(), 0, null_mut())), handle_error(DAT_INVALID_HANDLE_EP));
    assert_eq!(slot!(t, cr_accept_func(cr, null_mut(), 0, null_mut())), OK);
    assert_eq!(setup.state(ep), DAT_EP_STATE_COMPLETION_PENDING);
    assert_eq!(slot!(t, rsp_free_func(rsp)), OK);
    assert_eq!(slot!(t, rsp_free_func(rsp)), handle_error(DAT_INVALID_HANDLE_RSP));
}

#[test]
fn connect_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = setup.ep();
    let forever = DAT_TIMEOUT_INFINITE;
    let mut good = loopback();
    let mut other_family = DAT_SOCK_ADDR { sa_family: 1, sa_data: [0; 14] };
    let mut multicast = loopback();
    multicast.sa_data[2] = c_char::from_ne_bytes([224]);
    let model = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    let unsupported = DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    let mut data = [7_u8; 101];
    let data: DAT_PVOID = data.as_mut_ptr().cast();
    for (code, address, timeout, size, data, qos, flags) in [
        (arg_error(2), null_mut(), forever, 0, null_mut(), 0, 0),
        (unsupported, &raw mut other_family, forever, 0, null_mut(), 0, 0),
        (unsupported, &raw mut multicast, forever, 0, null_mut(), 0, 0),
        (arg_error(4), &raw mut good, 0, 0, null_mut(), 0, 0),
        (arg_error(5), &raw mut good, forever, -1, null_mut(), 0, 0),
        (arg_error(5), &raw mut good, forever, 101, data, 0, 0),
        (arg_error(6), &raw mut good, forever, 1, null_mut(), 0, 0),
        (model, &raw mut good, forever, 0, null_mut(), DAT_QOS_PREMIUM, 0),
        (arg_error(7), &raw mut good, forever, 0, null_mut(), 16, 0),
        (model, &raw mut good, forever, 0, null_mut(), 0, DAT_CONNECT_MULTIPATH_FLAG),
        (arg_error(8), &raw mut good, forever, 0, null_mut(), 0, version::UNKNOWN_CONNECT_FLAG),
    ] {
        let got = slot!(t, ep_connect_func(ep, address, 5, timeout, size, data, qos, flags));
        assert_eq!(got, code, "{timeout} {size} {qos} {flags}");
        assert_eq!(setup.state(ep), DAT_EP_STATE_UNCONNECTED);
    }
    let mut bare = null_mut();
    let n = null_mut();
    let mut attr = attributes();
    (attr.max_recv_dtos, attr.max_request_dtos) = (0, 0);
    assert_eq!(slot!(t, ep_create_func(setup.ia, setup.pz, n, n, n, &attr, &mut bare)), OK);
    assert_eq!(connect(&setup, bare), handle_error(DAT_INVALID_HANDLE_EVD_CONN));
    assert_eq!(slot!(t, ep_create_func(setup.ia, n, n, n, setup.connect_evd, &attr, &mut bare)), OK);
    assert_eq!(connect(&setup, bare), state_error(DAT_INVALID_STATE_EP_NOTREADY));

    let got = slot!(t, ep_connect_func(ep, &mut good, 5, forever, 100, data, 0, 0));
    assert_eq!(got, OK);
    assert_eq!(setup.state(ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    assert_eq!(connect(&setup, ep), state_error(DAT_INVALID_STATE_EP_ACTCONNPENDING));
}

pub fn attributes() -> DAT_EP_ATTR {
    DAT_EP_ATTR {
        service_type: DAT_SERVICE_TYPE_RC,
        max_message_size: 0,
        max_rdma_size: 0,
        qos: DAT_QOS_BEST_EFFORT,
        recv_completion_flags: DAT_COMPLETION_EVD_THRESHOLD_FLAG,
        request_completion_flags: DAT_COMPLETION_EVD_THRESHOLD_FLAG,
        max_recv_dtos: 8,
        max_request_dtos: 8,
        max_recv_iov: 2,
        max_request_iov: 2,
        max_rdma_read_in: 0,
        max_rdma_read_out: 0,
        srq_soft_hw: DAT_HW_DEFAULT,
        max_rdma_read_iov: 0,
        max_rdma_write_iov: 0,
        ep_transport_specific_count: 0,
        ep_transport_specific: null_mut(),
        ep_provider_specific_count: 0,
        ep_provider_specific: null_mut(),
    }
}

#[test]
fn a_connection_from_connect_to_reset() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = setup.ep();
    assert_eq!(connect(&setup, ep), OK);
    report(&setup, ConnectionReport::Established(b"welcome".to_vec()));
    let (number, data) = connection_event(&setup);
    assert_eq!((number, data.ep_handle, data.private_data_size), (DAT_CONNECTION_EVENT_ESTABLISHED, ep, 7));
    // SAFETY: the EVD keeps the bytes until its next event.
    let welcome = unsafe { std::slice::from_raw_parts(data.private_data.cast::<u8>(), 7) };
    assert_eq!(welcome, b"welcome");

    let mut param = blank_param();
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.remote_port_qual, param.local_port_qual), (5, 77));
    // SAFETY: the endpoint keeps the address until a reset.
    assert_eq!(unsafe { param.remote_ia_address_ptr.read() }.sa_data[2..6], [127, 0, 0, 1]);
    assert_eq!(param.local_ia_address_ptr, local_address(&setup));

    let dup = setup.ep();
    let n: DAT_PVOID = null_mut();
    assert_eq!(slot!(t, ep_dup_connect_func(dup, dup, 9, 0, n, 0)), state_error(DAT_INVALID_STATE_EP_UNCONNECTED));
    assert_eq!(slot!(t, ep_dup_connect_func(dup, ep, 0, 0, n, 0)), arg_error(3));
    assert_eq!(slot!(t, ep_dup_connect_func(dup, ep, 9, -1, n, 0)), arg_error(4));
    assert_eq!(slot!(t, ep_dup_connect_func(dup, ep, 9, 4, n, 0)), arg_error(5));
    assert_eq!(slot!(t, ep_dup_connect_func(dup, ep, 9, 0, n, 1)), DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, 0));
    assert_eq!(slot!(t, ep_dup_connect_func(dup, ep, 9, 0, n, 0)), OK);

    assert_eq!(slot!(t, ep_disconnect_func(ep, 2)), arg_error(2));
    assert_eq!(slot!(t, ep_reset_func(ep)), state_error(DAT_INVALID_STATE_EP_CONNECTED));
    assert_eq!(slot!(t, ep_disconnect_func(ep, DAT_CLOSE_GRACEFUL_FLAG)), OK);
    let (number, data) = connection_event(&setup);
    assert_eq!((number, data.private_data_size), (DAT_CONNECTION_EVENT_DISCONNECTED, 0));
    assert!(data.private_data.is_null());
    assert_eq!(slot!(t, ep_disconnect_func(ep, DAT_CLOSE_ABRUPT_FLAG)), OK);
    assert!(setup.dequeue(setup.connect_evd).is_none());
    assert_eq!(slot!(t, ep_reset_func(ep)), OK);
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, &mut param)), OK);
    assert!(param.remote_ia_address_ptr.is_null());
    assert_eq!((param.ep_state, param.remote_port_qual), (DAT_EP_STATE_UNCONNECTED, 0));
}

#[test]
fn private_data_outlives_endpoint() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = setup.ep();
    for (size, established) in [(40, false), (100, true)] {
        assert_eq!(connect(&setup, ep), OK);
        let sent = vec![0x78_u8; size];
        let event = if established {
            report(&setup, ConnectionReport::Established(sent.clone()));
            report(&setup, ConnectionReport::Broken);
            DAT_CONNECTION_EVENT_ESTABLISHED
        } else {
            report(&setup, ConnectionReport::PeerRejected(sent.clone()));
            DAT_CONNECTION_EVENT_PEER_REJECTED
        };
        let gone = if established { slot!(t, ep_free_func(ep)) } else { slot!(t, ep_reset_func(ep)) };
        assert_eq!(gone, OK);
        let (number, data) = connection_event(&setup);
        assert_eq!((number, data.private_data_size as usize), (event, size));
        // If the bytes were free, these allocations would overwrite them.
        let others: Vec<_> = (0..64).map(|_| vec![0x55_u8; size + 16]).collect();
        // SAFETY: the EVD keeps the bytes until its next event.
        let got = unsafe { std::slice::from_raw_parts(data.private_data.cast::<u8>(), size) };
        assert_eq!(got, sent);
        drop(others);
    }
}

pub fn blank_param() -> DAT_EP_PARAM {
    // SAFETY: zero is valid for integers and pointers.
    DAT_EP_PARAM { ep_attr: attributes(), ..unsafe { std::mem::zeroed() } }
}

/// Creates an endpoint in the state DISCONNECTED.
pub fn disconnected(setup: &Setup) -> DAT_EP_HANDLE {
    let ep = connected(setup);
    report(setup, ConnectionReport::Disconnected);
    assert_eq!(setup.state(ep), DAT_EP_STATE_DISCONNECTED);
    ep
}

fn connected(setup: &Setup) -> DAT_EP_HANDLE {
    let ep = setup.ep();
    establish(setup, ep);
    ep
}

/// Connects an endpoint, and dequeues the event.
pub fn establish(setup: &Setup, ep: DAT_EP_HANDLE) {
    assert_eq!(connect(setup, ep), OK);
    report(setup, ConnectionReport::Established(Vec::new()));
    assert_eq!(connection_event(setup).0, DAT_CONNECTION_EVENT_ESTABLISHED);
}

#[test]
fn posts_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let mut memory = [0_u8; 64];
    let start = memory.as_ptr().addr() as u64;
    let (_, context) = setup.lmr(&mut memory, DAT_MEM_PRIV_ALL_FLAG);
    let (_, read_only) = setup.lmr(&mut memory, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    let segment = version::lmr_triplet;
    let mut good = [segment(context, start, 10); 33];
    let mut far = segment(context, start, 65);
    let mut unknown = segment(0xdead_beef, start, 1);
    let mut readable = segment(read_only, start, 1);
    let remote = version::rmr_triplet(3, 1 << 40, 10);
    let short = DAT_RMR_TRIPLET { segment_length: 9, ..remote };
    let c = word(1);
    let idle = setup.ep();
    let send = |ep, count, list: *mut DAT_LMR_TRIPLET, flags| slot!(t, ep_post_send_func(ep, count, list, c, flags));
    let recv = |ep, count, list: *mut DAT_LMR_TRIPLET, flags| slot!(t, ep_post_recv_func(ep, count, list, c, flags));
    let read = |ep, list: *mut DAT_LMR_TRIPLET, remote: *const DAT_RMR_TRIPLET, flags| {
        slot!(t, ep_post_rdma_read_func(ep, 1, list, c, remote, flags))
    };
    let write = |ep, list: *mut DAT_LMR_TRIPLET, remote: *const DAT_RMR_TRIPLET, flags| {
        slot!(t, ep_post_rdma_write_func(ep, 1, list, c, remote, flags))
    };
    let unconnected = state_error(DAT_INVALID_STATE_EP_UNCONNECTED);
    assert_eq!(send(idle, 1, &mut good[0], 0), unconnected);
    assert_eq!(read(idle, &mut good[0], &remote, 0), unconnected);
    assert_eq!(write(idle, &mut good[0], &remote, 0), unconnected);

    let ep = connected(&setup);
    let both: [&dyn Fn(DAT_EP_HANDLE, DAT_COUNT, *mut DAT_LMR_TRIPLET, DAT_COMPLETION_FLAGS) -> DAT_RETURN; 2] =
        [&send, &recv];
    for post in both {
        assert_eq!(post(ep, -1, &mut good[0], 0), arg_error(2));
        assert_eq!(post(ep, 5, &mut good[0], 0), arg_error(2));
        assert_eq!(post(ep, 33, &mut good[0], 0), arg_error(2));
        assert_eq!(post(ep, i32::MAX, &mut good[0], 0), arg_error(2));
        assert_eq!(post(ep, 1, null_mut(), 0), arg_error(3));
        assert_eq!(post(ep, 1, &mut far, 0), arg_error(3));
        assert_eq!(post(ep, 1, &mut good[0], 0x40), arg_error(5));
        assert_eq!(post(ep, 0, null_mut(), 0), OK);
        assert_eq!(post(ep, 2, &mut good[0], 0), OK);
    }
    let privilege = |subtype| DAT_ERROR(DAT_PRIVILEGES_VIOLATION, subtype);
    assert_eq!(send(ep, 1, &mut unknown, 0), privilege(DAT_PRIVILEGES_READ));
    assert_eq!(recv(ep, 1, &mut unknown, 0), privilege(DAT_PRIVILEGES_WRITE));
    assert_eq!(recv(ep, 1, &mut readable, 0), privilege(DAT_PRIVILEGES_WRITE));
    assert_eq!(send(ep, 1, &mut readable, DAT_COMPLETION_SOLICITED_WAIT_FLAG), OK);
    let length = DAT_ERROR(DAT_LENGTH_ERROR, 0);
    let both: [&dyn Fn(DAT_EP_HANDLE, *mut DAT_LMR_TRIPLET, *const DAT_RMR_TRIPLET, DAT_COMPLETION_FLAGS) -> DAT_RETURN;
        2] = [&read, &write];
    for post in both {
        assert_eq!(post(ep, null_mut(), &remote, 0), arg_error(3));
        assert_eq!(post(ep, &mut good[0], null(), 0), arg_error(5));
        assert_eq!(post(ep, &mut good[0], &remote, DAT_COMPLETION_SOLICITED_WAIT_FLAG), arg_error(6));
        assert_eq!(post(ep, &mut good[0], &remote, DAT_COMPLETION_SUPPRESS_FLAG), OK);
    }
    assert_eq!(write(ep, &mut good[0], &short, 0), length);
    assert_eq!(read(ep, &mut good[0], &short, 0), OK);
    assert_eq!(read(ep, &mut readable, &short, 0), privilege(DAT_PRIVILEGES_WRITE));
}

#[test]
fn completions_carry_what_was_posted() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = connected(&setup);
    let cookie = word(0x0123_4567_89ab_cdef);
    assert_eq!(slot!(t, ep_post_recv_func(ep, 0, null_mut(), cookie, 0)), OK);
    let sink = sink(&setup);
    sink.recv_done(received(0));
    let event = setup.dequeue(setup.dto_evd).expect("a completion");
    assert_eq!((event.event_number, event.evd_handle), (DAT_DTO_COMPLETION_EVENT, setup.dto_evd));
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.dto_completion_event_data };
    assert_eq!((data.ep_handle, data.status, data.transfered_length), (ep, DAT_DTO_SUCCESS, 9));
    assert_eq!(bits(data.user_cookie), 0x0123_4567_89ab_cdef);
    assert_eq!(slot!(t, evd_dequeue_func(setup.dto_evd, null_mut())), arg_error(2));

    let mut memory = [0_u8; 64];
    let start = memory.as_ptr().addr() as u64;
    let (lmr, context) = setup.lmr(&mut memory, DAT_MEM_PRIV_ALL_FLAG);
    let rmr = setup.rmr();
    let mut bound = 0;
    let triplet = |length| version::lmr_triplet(context, start, length);
    let remote = DAT_MEM_PRIV_REMOTE_READ_FLAG;
    let bind = |triplet: *const DAT_LMR_TRIPLET, privileges, ep, flags, out: *mut DAT_RMR_CONTEXT| {
        version::rmr_bind(t, rmr, lmr, triplet, privileges, ep, cookie, flags, out)
    };
    assert_eq!(bind(null(), remote, ep, 0, &mut bound), arg_error(version::BIND_TRIPLET));
    assert_eq!(bind(&triplet(65), remote, ep, 0, &mut bound), arg_error(version::BIND_TRIPLET));
    let unknown = DAT_LMR_TRIPLET { lmr_context: 0xdead_beef, ..triplet(1) };
    assert_eq!(bind(&unknown, remote, ep, 0, &mut bound), arg_error(version::BIND_TRIPLET));
    assert_eq!(bind(&triplet(64), 0x400, ep, 0, &mut bound), arg_error(version::BIND_RIGHTS));
    assert_eq!(bind(&triplet(64), remote, setup.pz, 0, &mut bound), handle_error(DAT_INVALID_HANDLE_EP));
    let solicited = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    assert_eq!(bind(&triplet(64), remote, ep, solicited, &mut bound), arg_error(version::BIND_FLAGS));
    assert_eq!(bind(&triplet(64), remote, ep, 0, null_mut()), arg_error(version::BIND_CONTEXT));
    assert_eq!(bind(&triplet(64), remote, setup.ep(), 0, &mut bound), state_error(DAT_INVALID_STATE_EP_UNCONNECTED));
    assert_eq!(bound, 0);
    assert_eq!(bind(&triplet(64), remote, ep, 0, &mut bound), OK);
    assert_ne!(bound, 0);
    assert_eq!(slot!(t, lmr_free_func(lmr)), state_error(DAT_INVALID_STATE_LMR_IN_USE));
    assert!(!sink.requests_done(SeqNo(0)));
    let event = setup.dequeue(setup.dto_evd).expect("a completion");
    assert_eq!(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.rmr_completion_event_data };
    assert_eq!((data.rmr_handle, data.status), (rmr, DAT_RMR_BIND_SUCCESS));
    assert_eq!(bits(data.user_cookie), 0x0123_4567_89ab_cdef);
    assert_eq!(bind(&triplet(0), !0, ep, 0, null_mut()), OK);
    assert_eq!(slot!(t, lmr_free_func(lmr)), OK);
}
