//! Common service points and connections, and notification objects with a descriptor.

use std::ffi::c_char;
use std::ptr::null_mut;

use dat_core::testing::Fake;
use dat_udat20::*;

use crate::slots::{OK, Setup, UNTOUCHED, arg_error, blank_event, connection, handle_error, slot};

#[test]
fn common_service_points_row_by_row() {
    let setup = Setup::new();
    let (t, evd) = (setup.table, setup.request_evd);
    let port = |port: u16| {
        let mut address = DAT_SOCK_ADDR { sa_family: DAT_AF_INET as u16, sa_data: [0; 14] };
        address.sa_data[..2].copy_from_slice(&port.to_be_bytes().map(|byte| c_char::from_ne_bytes([byte])));
        address
    };
    let (mut any, mut used, mut elsewhere) = (port(77), port(Fake::QUALIFIER_IN_USE as u16), port(77));
    elsewhere.sa_data[2..6].copy_from_slice(&[8, 8, 8, 8]);
    let mut local = DAT_SOCK_ADDR { sa_family: 1, sa_data: [0; 14] };
    let mut stream = DAT_COMM { domain: 2, r#type: 1, protocol: 0 };
    let mut datagram = DAT_COMM { domain: 2, r#type: 2, protocol: 0 };
    let mut csp = UNTOUCHED;
    let unsupported = DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    let malformed = DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED);
    let unreachable = DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
    for (code, comm, address, evd) in [
        (handle_error(DAT_INVALID_HANDLE_EVD_CR), &raw mut stream, &raw mut any, setup.dto_evd),
        (arg_error(2), null_mut(), &raw mut any, evd),
        (arg_error(3), &raw mut stream, null_mut(), evd),
        (unsupported, &raw mut datagram, &raw mut any, evd),
        (malformed, &raw mut stream, &raw mut local, evd),
        (unreachable, &raw mut stream, &raw mut elsewhere, evd),
        (DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE), &raw mut stream, &raw mut used, evd),
    ] {
        assert_eq!(slot!(t, csp_create_func(setup.ia, comm, address, evd, &mut csp)), code);
        assert_eq!(csp, UNTOUCHED);
    }
    assert_eq!(slot!(t, csp_create_func(setup.ia, &mut stream, &mut any, evd, null_mut())), arg_error(5));
    assert_eq!(slot!(t, csp_create_func(setup.ia, &mut stream, &mut any, evd, &mut csp)), OK);
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_CSP_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, csp_query_func(csp, DAT_CSP_FIELD_ALL + 1, &mut param)), arg_error(2));
    assert_eq!(slot!(t, csp_query_func(csp, DAT_CSP_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, csp_query_func(csp, DAT_CSP_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.evd_handle), (setup.ia, evd));
    // SAFETY: valid until the service point is freed.
    let comm = unsafe { param.comm.read() };
    // SAFETY: valid until the service point is freed.
    let address = unsafe { param.address_ptr.read() };
    assert_eq!((comm.domain, comm.r#type, comm.protocol), (2, 1, 0));
    assert_eq!(address.sa_data[..2], any.sa_data[..2]);
    let mut kind = 0;
    assert_eq!(slot!(t, get_handle_type_func(csp, &mut kind)), OK);
    assert_eq!(kind, DAT_HANDLE_TYPE_CSP);
    assert_eq!(slot!(t, csp_free_func(csp)), OK);
    assert_eq!(slot!(t, csp_free_func(csp)), handle_error(DAT_INVALID_HANDLE_CSP));
}

#[test]
fn common_connections_row_by_row() {
    let setup = Setup::new();
    let (t, ep, forever) = (setup.table, setup.ep(), DAT_TIMEOUT_INFINITE);
    let mut good = connection::loopback();
    good.sa_data[1] = 5;
    let mut portless = connection::loopback();
    let mut multicast = good;
    multicast.sa_data[2] = c_char::from_ne_bytes([224]);
    let mut data = [0_u8; 101];
    let data: DAT_PVOID = data.as_mut_ptr().cast();
    let address_error = |subtype| DAT_ERROR(DAT_INVALID_ADDRESS, subtype);
    for (code, address, timeout, size, data) in [
        (arg_error(2), null_mut(), forever, 0, null_mut()),
        (arg_error(3), &raw mut good, 0, 0, null_mut()),
        (arg_error(4), &raw mut good, forever, -1, null_mut()),
        (arg_error(4), &raw mut good, forever, 101, data),
        (arg_error(5), &raw mut good, forever, 1, null_mut()),
        (address_error(DAT_INVALID_ADDRESS_MALFORMED), &raw mut portless, forever, 0, null_mut()),
        (address_error(DAT_INVALID_ADDRESS_UNSUPPORTED), &raw mut multicast, forever, 0, null_mut()),
    ] {
        assert_eq!(slot!(t, ep_common_connect_func(ep, address, timeout, size, data)), code);
        assert_eq!(setup.state(ep), DAT_EP_STATE_UNCONNECTED);
    }
    assert_eq!(slot!(t, ep_common_connect_func(ep, &mut good, forever, 0, null_mut())), OK);
    assert_eq!(setup.state(ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
}

#[test]
fn notification_objects_with_a_descriptor_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (mut fd, mut cno) = (-1, UNTOUCHED);
    assert_eq!(slot!(t, cno_fd_create_func(setup.ia, null_mut(), &mut cno)), arg_error(2));
    assert_eq!(slot!(t, cno_fd_create_func(setup.ia, &mut fd, null_mut())), arg_error(3));
    assert_eq!((fd, cno), (-1, UNTOUCHED));
    assert_eq!(slot!(t, cno_fd_create_func(setup.ia, &mut fd, &mut cno)), OK);
    let readable = |fd| {
        let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: `polled` is one element, as the count states.
        unsafe { libc::poll(&mut polled, 1, 0) == 1 }
    };
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_CNO_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, cno_query_func(cno, 1, &mut param)), OK);
    // SAFETY: the proxy type selects this member.
    assert_eq!((param.proxy_type, unsafe { param.proxy.fd }), (DAT_PROXY_TYPE_FD, fd));
    let in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    assert_eq!(slot!(t, cno_modify_agent_func(cno, DAT_OS_WAIT_PROXY_AGENT_NULL)), in_use);
    let mut told = UNTOUCHED;
    assert_eq!(slot!(t, cno_trigger_func(cno, null_mut())), arg_error(2));
    assert_eq!(slot!(t, cno_trigger_func(cno, &mut told)), DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE));
    assert!(told.is_null() && !readable(fd));
    let evd = setup.evd(DAT_EVD_SOFTWARE_FLAG);
    assert_eq!(slot!(t, evd_modify_cno_func(evd, cno)), OK);
    let software = DAT_EVENT { event_number: DAT_SOFTWARE_EVENT, ..blank_event() };
    assert_eq!(slot!(t, evd_post_se_func(evd, &software)), OK);
    assert!(readable(fd));
    assert_eq!(slot!(t, cno_trigger_func(cno, &mut told)), OK);
    assert_eq!(told, evd);
    assert!(!readable(fd));
    assert_eq!(slot!(t, evd_free_func(evd)), OK);
    assert_eq!(slot!(t, cno_free_func(cno)), OK);
}
