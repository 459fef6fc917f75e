//! Connection management. The progress thread handles the events of rdma_cm, and holds no lock.
//!
//! A listener is bound to one address of a device. So an endpoint connects to exactly the given address, except that
//! the adapter's address may replace a local one (`destination`). Private data and qualifiers have the format of the C
//! provider over rdma_cm. An identifier outlives its connection by up to 10 s, so that the kernel can repeat a lost
//! disconnect message.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, iter};

use dat_core::addr::{Address, port_of};
use dat_core::error::{Error, Result};
use dat_core::transport::{Connect, ConnectionReport, ConnectionRequestInfo, ListenerSink, Rejection};
use host::memory::{self, Room};
use host::{net, thread};
use rdma_sys::rdma_port_space::{RDMA_PS_TCP, RDMA_PS_UDP};
use rdma_sys::{ibv_qp_attr_mask, ibv_qp_state, rdma_cm_event_type as kind};

use crate::Verbs;
use crate::datagram::cm::Attempt;
use crate::datagram::hello::Hello;
use crate::device::Device;
use crate::locate::has_device;
use crate::qp::{Qp, QpPhase};
use crate::rejection;
use crate::sys::cm::{CmId, Event, RETRIES, Terms};

/// The owner of an identifier, found by the identifier's token.
#[derive(Clone)]
pub enum CmOwner {
    /// A listener, with its qualifier.
    Listener(u64, ListenerSink<Verbs>),
    /// An endpoint of a connection.
    End(Arc<Qp>),
    /// A UD exchange.
    Attempt(Arc<Attempt>),
}

/// A listening service point. A drop stops it.
pub struct Listener {
    device: Arc<Device>,
    id: CmId,
    /// Identifier for UD requests, on the same port; `None` if the service point takes none.
    datagrams: Option<CmId>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        for id in iter::once(&self.id).chain(&self.datagrams) {
            self.device.forget_owner(id);
        }
    }
}

/// A connection request without a reply. A drop rejects it.
pub struct Incoming {
    pub(crate) id: Option<Arc<CmId>>,
    /// The peer's header of a UD request; `None` for the request of a connection.
    pub(crate) requester: Option<Hello>,
    device: Arc<Device>,
    /// Maximum concurrent reads that the peer proposes: reads by the peer, and reads by this end.
    reads: (u8, u8),
}

/// Time limit for the route resolution if the program set none.
pub const DEFAULT_ROUTE_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit for one neighbour lookup. If the kernel misses the reply, it waits until the limit, so the limit is short
/// and the lookup is repeated.
pub const NEIGHBOUR_TIMEOUT: Duration = Duration::from_secs(1);
/// RNR timer, encoded: 0.16 ms. The kernel's default, 0, means 655 ms.
const RNR_TIMER: u8 = 8;
/// Retransmission timeout for Soft-RoCE, encoded: 0.27 s.
const SOFT_ROCE_TIMEOUT: u8 = 16;
const MAX_ROUTE_TIMEOUT: Duration = Duration::from_secs(600);

impl Drop for Incoming {
    fn drop(&mut self) {
        self.refuse(Rejection::Provider, &[]);
    }
}

impl Incoming {
    /// Rejects the request, unless it has a reply. Only the program's rejections carry private data.
    pub fn refuse(&mut self, why: Rejection, private_data: &[u8]) {
        let Some(id) = self.id.take() else { return };
        let answered = match why {
            Rejection::Consumer => {
                let answer = rejection::write(private_data);
                if let Some(requester) = &self.requester {
                    self.device.answers.note(requester, None, &answer);
                }
                id.reject(&answer)
            }
            Rejection::Provider => id.reject(&[]),
        };
        if let Err(error) = answered {
            log::debug!(target: host::diagnostics::CM, "connection request: cannot send the rejection: {error}");
        }
    }

    /// Accepts the request with `qp`. If the device or the kernel rejects the accept, reports
    /// [`ConnectionReport::AcceptFailed`] and returns `Ok`.
    pub fn accept(incoming: &mut Option<Self>, qp: &Arc<Qp>, private_data: &[u8]) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let Some(id) = request.id.clone() else { return Err(Error::Internal) };
        let reads = fewer(qp.reads, request.reads);
        let ready = to_ready(qp, &id, reads);
        qp.device.cm_owners.lock().room(1)?;
        {
            let mut state = qp.state.lock();
            state.phase = QpPhase::Accepting;
            state.cm = Some(id.clone());
        }
        qp.device.cm_owners.lock().insert(id.token(), CmOwner::End(qp.clone()));
        let accepted = ready.and_then(|()| id.accept(&terms(qp, reads, private_data)));
        if let Some(mut request) = incoming.take() {
            request.id = None;
        }
        if let Err(error) = accepted {
            // A peer that has not given up needs a rejection. Otherwise it would wait until its timeout.
            log::debug!(target: host::diagnostics::CM, "connection request: cannot accept: {error}");
            let _ = id.reject(&[]);
            qp.begin_end(ConnectionReport::AcceptFailed);
        }
        Ok(())
    }
}

/// Listens on `qualifier`, or on a port that the kernel selects. That port may be in use for UD or, with iWARP, for
/// sockets, so this tries up to [`MAX_LISTEN_ATTEMPTS`] ports. Also returns the qualifier.
pub fn listen(device: &Arc<Device>, qualifier: Option<u64>, sink: ListenerSink<Verbs>) -> Result<(Listener, u64)> {
    let mut attempts = 1;
    let error = loop {
        let retries = qualifier.is_none() && attempts < MAX_LISTEN_ATTEMPTS;
        match try_listen(device, qualifier, &sink) {
            Ok(listening) => return Ok(listening),
            Err(error) if retries && error.raw_os_error() == Some(libc::EADDRINUSE) => attempts += 1,
            Err(error) => break error,
        }
    };
    let at = SocketAddr::new(device.place.address, qualifier.map_or(0, port_of));
    // The kernel also reports EADDRNOTAVAIL if no port is free.
    let no_port = error.raw_os_error() == Some(libc::EADDRNOTAVAIL) && qualifier.is_none() && has_device(at.ip());
    let error = if no_port { io::ErrorKind::AddrInUse.into() } else { error };
    net::log_listen_failure(at, &error);
    Err(Error::of_listen(&error, qualifier))
}

const MAX_LISTEN_ATTEMPTS: u32 = 16;

fn try_listen(device: &Arc<Device>, qualifier: Option<u64>, sink: &ListenerSink<Verbs>) -> io::Result<(Listener, u64)> {
    let bound =
        |space, port| CmId::bound(space, &device.channel, device.token(), SocketAddr::new(device.place.address, port));
    let id = bound(RDMA_PS_TCP, qualifier.map_or(0, port_of))?;
    let port = id.local_port();
    let datagrams = match sink.takes_datagrams().then(|| bound(RDMA_PS_UDP, port)).transpose() {
        // The service point then takes only requests for connections.
        Err(error) if qualifier.is_some() && error.raw_os_error() == Some(libc::EADDRINUSE) => {
            log::warn!(target: host::diagnostics::CM, "service point: port {port} takes no requests for datagrams: {error}");
            None
        }
        Err(_) if qualifier.is_none() => return Err(io::Error::from_raw_os_error(libc::EADDRINUSE)),
        bound => bound?,
    };
    let qualifier = qualifier.unwrap_or_else(|| port.into());
    let listener = Listener { device: device.clone(), id, datagrams };
    for id in iter::once(&listener.id).chain(&listener.datagrams) {
        {
            let mut cm_owners = device.cm_owners.lock();
            cm_owners.room(1).map_err(|_| io::ErrorKind::OutOfMemory)?;
            cm_owners.insert(id.token(), CmOwner::Listener(qualifier, sink.clone()));
        }
        id.listen(1024)?;
    }
    Ok((listener, qualifier))
}

/// Returns the address to connect to. rdma_cm has no route to a local address that no RDMA device has, such as
/// loopback, so the adapter's address replaces it.
pub fn destination(device: &Device, address: &Address) -> IpAddr {
    let ip = address.ip();
    let here = device.place.address;
    let stands_for_here =
        ip != here && (ip.is_loopback() || ip.is_unspecified() || (address.is_local() && !has_device(ip)));
    if stands_for_here { here } else { ip }
}

/// Returns the local address, with port 0, and the remote address of a connect.
pub fn ends(device: &Device, connect: &Connect<'_>) -> (SocketAddr, SocketAddr) {
    let to = SocketAddr::new(destination(device, connect.address), port_of(connect.qualifier));
    (SocketAddr::new(device.place.address, 0), to)
}

/// Starts to connect `qp`.
pub fn connect(qp: &Arc<Qp>, connect: &Connect<'_>) -> Result<()> {
    let device = &qp.device;
    let (from, to) = ends(device, connect);
    let token = device.token();
    let id = CmId::new(RDMA_PS_TCP, &device.channel, token).map_err(|error| {
        log::warn!("endpoint: cannot connect: {error}");
        Error::lacking(&error)
    })?;
    let id = memory::arc(id)?;
    let deadline = connect.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    device.cm_owners.lock().room(1)?;
    {
        let mut state = qp.state.lock();
        state.phase = QpPhase::Connecting;
        state.cm = Some(id.clone());
        state.private_data = connect.private_data.to_vec();
        state.way = Some((from, to, deadline.unwrap_or_else(|| Instant::now() + DEFAULT_ROUTE_TIMEOUT)));
    }
    device.cm_owners.lock().insert(token, CmOwner::End(qp.clone()));
    let started = id.resolve_addr(from, to, NEIGHBOUR_TIMEOUT);
    device.command(|work| {
        if let Some(deadline) = deadline {
            work.timers.set_pruned(deadline, Arc::downgrade(qp), |qp| qp.strong_count() > 0);
        }
        if let Err(error) = started {
            log::debug!(target: host::diagnostics::CM, "endpoint: cannot reach {to}: {error}");
            work.reports.push_back((qp.clone(), ConnectionReport::Unreachable));
        }
    });
    Ok(())
}

/// Returns the remaining time of a connection attempt.
fn remaining(qp: &Qp) -> Duration {
    let way = qp.state.lock().way;
    way.map_or(DEFAULT_ROUTE_TIMEOUT, |(_, _, until)| until.saturating_duration_since(Instant::now()))
}

/// Queries the route for half of the remaining time, so that the attempt can repeat the query: older kernels do not
/// repeat a lost query. Adds 1 s, so that the adapter's timer ends the attempt before the last query ends.
fn query_route(qp: &Arc<Qp>, id: &CmId) -> io::Result<()> {
    id.resolve_route((remaining(qp) / 2 + Duration::from_secs(1)).min(MAX_ROUTE_TIMEOUT))
}

fn to_ready(qp: &Qp, id: &CmId, reads: (u8, u8)) -> std::io::Result<()> {
    for state in [ibv_qp_state::IBV_QPS_INIT, ibv_qp_state::IBV_QPS_RTR, ibv_qp_state::IBV_QPS_RTS] {
        let (mut attr, mut mask) = id.qp_attributes(state)?;
        match state {
            ibv_qp_state::IBV_QPS_INIT => {
                attr.qp_access_flags |= qp.device.limits.access();
                mask |= ibv_qp_attr_mask::IBV_QP_ACCESS_FLAGS.0 as i32;
            }
            ibv_qp_state::IBV_QPS_RTR => {
                attr.max_dest_rd_atomic = reads.0;
                attr.min_rnr_timer = RNR_TIMER;
            }
            _ => {
                attr.max_rd_atomic = reads.1;
                // 7 means without limit, because a receive may be posted late.
                attr.rnr_retry = 7;
                attr.retry_cnt = RETRIES;
                if qp.device.limits.quirks.loses_bursts {
                    // Soft-RoCE loses packets of bursts (Linux 6.1). rdma_cm's timeout for a retransmission is several
                    // seconds.
                    attr.timeout = attr.timeout.min(SOFT_ROCE_TIMEOUT);
                }
            }
        }
        qp.raw.modify(&mut attr, mask)?;
    }
    Ok(())
}

/// Handles an event of rdma_cm. Called by the progress thread, without a lock.
pub fn handle(device: &Arc<Device>, event: Event) {
    let owner = device.cm_owners.lock().get(&event.token).cloned();
    let qp = match (event.kind, owner) {
        (kind::RDMA_CM_EVENT_CONNECT_REQUEST, Some(CmOwner::Listener(qualifier, sink))) => {
            return request(device, event, qualifier, &sink);
        }
        (kind::RDMA_CM_EVENT_CONNECT_REQUEST, _) => {
            // The service point no longer exists, so this rejects the request.
            let _ = event.incoming.map(|id| id.reject(&[]));
            return;
        }
        (kind::RDMA_CM_EVENT_DEVICE_REMOVAL, _) => return device.lose(),
        (_, Some(CmOwner::Attempt(attempt))) => return attempt.handle(&event),
        (_, Some(CmOwner::End(qp))) => qp,
        _ => {
            if matches!(
                event.kind,
                kind::RDMA_CM_EVENT_DISCONNECTED | kind::RDMA_CM_EVENT_TIMEWAIT_EXIT | kind::RDMA_CM_EVENT_ESTABLISHED
            ) {
                // An ended connection's identifier can be destroyed now: the peer has confirmed the disconnect message,
                // or, after ESTABLISHED, gets one through the destruction.
                device.work.lock().leaving.move_to(Instant::now(), |id| id.token() == event.token);
            }
            return;
        }
    };
    log::debug!(target: host::diagnostics::CM, "queue pair {}: event {} status {}", qp.number(), event.kind, event.status);
    let phase = qp.phase();
    match (event.kind, phase) {
        (kind::RDMA_CM_EVENT_ADDR_RESOLVED, QpPhase::Connecting) => step(&qp, query_route),
        (kind::RDMA_CM_EVENT_ROUTE_ERROR, QpPhase::Connecting)
            if event.status == -libc::ETIMEDOUT && !remaining(&qp).is_zero() =>
        {
            step(&qp, query_route);
        }
        (kind::RDMA_CM_EVENT_ROUTE_RESOLVED, QpPhase::Connecting) if device.limits.quirks.blocks_in_connect => {
            request_in_thread(qp)
        }
        (kind::RDMA_CM_EVENT_ROUTE_RESOLVED, QpPhase::Connecting) => step(&qp, send_request),
        (kind::RDMA_CM_EVENT_ADDR_ERROR, QpPhase::Connecting) if event.status == -libc::ETIMEDOUT => {
            step(&qp, |qp, id| {
                let way = qp.state.lock().way;
                retry_lookup(&qp.device, way, id)
            });
        }
        (
            kind::RDMA_CM_EVENT_ADDR_ERROR | kind::RDMA_CM_EVENT_ROUTE_ERROR | kind::RDMA_CM_EVENT_UNREACHABLE,
            QpPhase::Connecting,
        ) => qp.give_up(ConnectionReport::Unreachable),
        (kind::RDMA_CM_EVENT_CONNECT_RESPONSE, QpPhase::Connecting) => answered(&qp, event),
        (kind::RDMA_CM_EVENT_ESTABLISHED, QpPhase::Connecting) => established(&qp, event.private_data),
        (kind::RDMA_CM_EVENT_ESTABLISHED, QpPhase::Accepting) => established(&qp, Vec::new()),
        (kind::RDMA_CM_EVENT_REJECTED, QpPhase::Connecting) => {
            qp.give_up(rejection::read(event.status, &event.private_data, device.limits.iwarp));
        }
        (kind::RDMA_CM_EVENT_CONNECT_ERROR, QpPhase::Connecting) => qp.give_up(ConnectionReport::NonPeerRejected),
        (
            kind::RDMA_CM_EVENT_REJECTED | kind::RDMA_CM_EVENT_UNREACHABLE | kind::RDMA_CM_EVENT_CONNECT_ERROR,
            QpPhase::Accepting,
        ) => {
            qp.begin_end(ConnectionReport::AcceptFailed);
        }
        // Before the establishment, the kernel has sent no disconnect message for the end, so this sends it now.
        (kind::RDMA_CM_EVENT_ESTABLISHED, QpPhase::Draining) => {
            let cm = qp.state.lock().cm.clone();
            cm.inspect(|cm| _ = cm.disconnect());
        }
        // A peer that ends before its side is established sends a rejection instead of a disconnect message.
        (kind::RDMA_CM_EVENT_DISCONNECTED, _) | (kind::RDMA_CM_EVENT_REJECTED, QpPhase::Connected) => {
            used_by_peer(&qp);
            qp.note_disconnect();
        }
        (other, phase) => {
            log::debug!(target: host::diagnostics::CM, "connection event {other} ignored in phase {phase:?}")
        }
    }
}

fn request(device: &Arc<Device>, event: Event, qualifier: u64, sink: &ListenerSink<Verbs>) {
    let Some(mut id) = event.incoming else { return };
    let datagrams = id.ps == RDMA_PS_UDP;
    let hello = Hello::read(&event.private_data).filter(|_| datagrams);
    if datagrams && hello.is_none() {
        // The request is not in the format of this transport. Dropping `id` rejects the request.
        return;
    }
    let requester = hello.map(|(hello, _)| hello);
    if requester.is_some_and(|hello| device.answers.repeat(&hello, &id)) {
        return;
    }
    let private_data = hello.map_or(&*event.private_data, |(_, data)| data).to_vec();
    id.set_token(device.token());
    // Without memory, dropping the identifier rejects the request.
    let Ok(id) = memory::arc(id) else { return };
    let remote_address = id.remote_address().unwrap_or_else(|| device.attributes.address.clone());
    let info = ConnectionRequestInfo {
        qualifier,
        remote_qualifier: remote_address.port().into(),
        remote_address,
        private_data,
        datagrams: requester.map(|hello| hello.endpoint),
    };
    let incoming = Incoming { id: Some(id), requester, device: device.clone(), reads: event.reads };
    // If core returns the request, the drop rejects it.
    let _ = sink.request(incoming, info);
}

/// Executes a step of an attempt, and ends the attempt if the step fails.
fn step(qp: &Arc<Qp>, next: impl FnOnce(&Arc<Qp>, &CmId) -> std::io::Result<()>) {
    let Some(id) = qp.state.lock().cm.clone() else { return };
    if let Err(error) = next(qp, &id) {
        log::debug!(target: host::diagnostics::CM, "queue pair {}: cannot connect: {error}", qp.number());
        drop(id);
        qp.give_up(ConnectionReport::of(&error));
    }
}

fn send_request(qp: &Arc<Qp>, id: &CmId) -> std::io::Result<()> {
    let private_data = std::mem::take(&mut qp.state.lock().private_data);
    id.connect(&terms(qp, qp.reads, &private_data))
}

/// Sends the request in a separate thread. Soft-iWARP (Linux 6.1, 6.12, 7.3) connects its TCP socket in the calling
/// thread. If the peer drops packets, that takes up to two minutes, in which the device destroys no queue pair.
fn request_in_thread(qp: Arc<Qp>) {
    let again = qp.clone();
    if thread::start(c"dat-verbs-ask", move || step(&qp, send_request)).is_err() {
        // Without resources for a thread, the progress thread connects, which delays other connections.
        step(&again, send_request);
    }
}

/// Returns the numbers of concurrent reads (in, out) that both ends permit. A peer that serves none counts as serving
/// one, so that a read fails instead of waiting indefinitely.
pub fn fewer(ours: (u8, u8), theirs: (u8, u8)) -> (u8, u8) {
    (ours.0.min(theirs.0), ours.1.min(theirs.1.max(1)))
}

/// Repeats a neighbour lookup that timed out. After the attempt's deadline, fails with EHOSTUNREACH.
pub fn retry_lookup(device: &Device, way: Option<(SocketAddr, SocketAddr, Instant)>, id: &CmId) -> std::io::Result<()> {
    match way {
        Some((from, to, until)) if Instant::now() < until && !device.is_gone() => {
            // The kernel also reports a timeout if there is no route; connecting a UDP socket then returns the error.
            UdpSocket::bind((from.ip(), 0))?.connect(to)?;
            id.resolve_addr(from, to, NEIGHBOUR_TIMEOUT)
        }
        _ => Err(std::io::Error::from_raw_os_error(libc::EHOSTUNREACH)),
    }
}

fn terms<'a>(qp: &Qp, reads: (u8, u8), private_data: &'a [u8]) -> Terms<'a> {
    Terms { qp_number: qp.raw.number(), srq: qp.srq.is_some(), reads, private_data }
}

fn answered(qp: &Arc<Qp>, event: Event) {
    let mut up = false;
    let reads = fewer(qp.reads, event.reads);
    step(qp, |qp, id| {
        // Locked, so that no thread abandons the attempt during these calls.
        let state = qp.state.lock();
        if state.phase == QpPhase::Connecting {
            to_ready(qp, id, reads)?;
            id.establish()?;
            up = true;
        }
        Ok(())
    });
    if up {
        established(qp, event.private_data);
    }
}

/// Reports an accepted connection as established, unless it was reported. Called when the peer has used or ended the
/// connection, which the kernel may report before the establishment, or instead.
pub fn used_by_peer(qp: &Arc<Qp>) {
    if qp.phase() == QpPhase::Accepting {
        established(qp, Vec::new());
    }
}

fn established(qp: &Arc<Qp>, private_data: Vec<u8>) {
    {
        let mut state = qp.state.lock();
        if !matches!(state.phase, QpPhase::Connecting | QpPhase::Accepting) {
            return;
        }
        state.phase = QpPhase::Connected;
    }
    qp.sink.connection(ConnectionReport::Established(private_data));
    // Ends the connection if it failed earlier: `begin_end` has no effect while connecting.
    qp.report();
}

#[cfg(test)]
mod tests;
