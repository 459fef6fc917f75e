//! Endpoints and connections. The test is the peer.

use dat_core::transport::{ConnectionReport, EndpointSink};

use super::*;

/// Sends a report to the last queue pair, as if its peer had caused it.
fn report(setup: &Setup, report: ConnectionReport) {
    sink(setup).connection(report);
}

/// Returns the sink of the last queue pair.
pub fn sink(setup: &Setup) -> EndpointSink<Fake> {
    setup.core().transport.last_qp()
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

/// Creates an endpoint in the state DISCONNECTED.
pub fn disconnected(setup: &Setup) -> DAT_EP_HANDLE {
    let ep = setup.ep();
    establish(setup, ep);
    report(setup, ConnectionReport::Disconnected);
    assert_eq!(setup.state(ep), DAT_EP_STATE_DISCONNECTED);
    ep
}

/// Connects an endpoint, and dequeues the event.
pub fn establish(setup: &Setup, ep: DAT_EP_HANDLE) {
    assert_eq!(connect(setup, ep), OK);
    report(setup, ConnectionReport::Established(Vec::new()));
    assert_eq!(connection_event(setup).0, DAT_CONNECTION_EVENT_ESTABLISHED);
}

pub fn blank_param() -> DAT_EP_PARAM {
    // SAFETY: zero is valid for integers and pointers.
    DAT_EP_PARAM { ep_attr: attributes(), ..unsafe { std::mem::zeroed() } }
}
