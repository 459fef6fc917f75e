//! Connections: asking for them, listening for them, and their ends, as libfabric tells of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dat_core::addr::{Address, port_of};
use dat_core::error::{AddressFault, Error, Resource, Result};
use dat_core::transport::{Connect, ConnectionReport, ConnectionRequestInfo, ListenerSink, Poll, Rejection};
use host::memory::Room;

use crate::Ofi;
use crate::conn::{Conn, Phase, Terms};
use crate::device::{Device, no_memory};
use crate::hello::{self, Word};
use crate::link::Link;
use crate::record::End;
use crate::sys::{CmEvent, Ep, FiError, Info, Passive};

/// A service point as the adapter's thread knows it.
pub struct Service {
    qualifier: u64,
    sink: ListenerSink<Ofi>,
}

/// A service point that listens; dropped to stop.
pub struct Listener {
    device: Arc<Device>,
    passive: Passive,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let gone = self.device.services.lock().remove(&self.passive.fid());
        drop(gone);
    }
}

/// A connection request not yet answered; dropped to refuse.
pub struct Incoming {
    device: Arc<Device>,
    info: Option<Info>,
    extended: bool,
    datagrams: u32,
    reads_in: u8,
    reads_out: u8,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.refuse(Rejection::Provider, &[]);
    }
}

impl Incoming {
    /// Refuses the request.
    pub fn refuse(&mut self, why: Rejection, private_data: &[u8]) {
        let word = match why {
            Rejection::Consumer => Word::Rejected,
            Rejection::Provider => Word::Refused,
        };
        if let Some(info) = self.info.take() {
            self.device.rejector.reject(info, &hello::encode(word, private_data));
        }
    }

    /// Accepts the request with `conn`.
    ///
    /// # Errors
    /// There is no memory; the request stays as it was.
    pub fn accept(incoming: &mut Option<Self>, conn: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let Some(info) = request.info.as_ref() else { return Err(Error::Internal) };
        let device = conn.device();
        device.expect()?;
        let ep =
            Ep::passive(&device.fabric, &device.events, &device.queues, info, conn.number()).map_err(no_endpoint)?;
        let link = Link::new(device, ep, conn.number(), conn.terms().zone)?;
        conn.note_peer(request.extended, request.datagrams, fewer(request.reads_in));
        if conn.shift(Phase::Idle, Phase::Accepting) {
            device.unsettled.fetch_add(1, Ordering::AcqRel);
        }
        conn.tie(&link);
        let terms = conn.terms();
        let reads_in = terms.reads_in.min(request.reads_out);
        let Terms { extended, datagrams, reads_out, .. } = terms;
        let word = Word::Terms { extended, datagrams, reads_in, reads_out };
        let accepted = link.ep().accept(&hello::encode(word, private_data));
        // libfabric's endpoint has the request.
        if let Some(mut request) = incoming.take() {
            request.info = None;
        }
        if let Err(error) = accepted {
            // The peer has given up.
            log::debug!(target: host::diagnostics::CM, "a request could not be accepted: {error}");
            device.command(|work| work.reports.push((conn.clone(), ConnectionReport::AcceptFailed)));
        } else {
            device.bell.ring();
        }
        Ok(())
    }
}

/// Questions that can be asked of a peer that serves so many: one at least, because it fails where none is served.
fn fewer(reads_in: u8) -> u8 {
    reads_in.max(1)
}

/// libfabric makes no endpoint.
fn no_endpoint(error: FiError) -> Error {
    log::warn!("libfabric makes no endpoint: {error}");
    no_memory()
}

/// Listens on `qualifier`, or on a port that the kernel chooses.
pub fn listen(device: &Arc<Device>, qualifier: Option<u64>, sink: ListenerSink<Ofi>) -> Result<(Listener, u64)> {
    let at = SocketAddr::new(device.place.address, qualifier.map_or(0, port_of));
    let failed = |error: FiError| match error.0 {
        libc::EADDRINUSE if qualifier.is_some() => {
            log::debug!(target: host::diagnostics::CM, "cannot listen: {at} is in use");
            Error::QualifierInUse
        }
        libc::EADDRINUSE | libc::EADDRNOTAVAIL if qualifier.is_none() => Error::QualifierUnavailable,
        libc::EACCES => {
            log::warn!("ports below 1024 need a privilege");
            Error::QualifierInUse
        }
        _ => {
            log::warn!("cannot listen: {error}");
            Error::InsufficientResources(Resource::Memory)
        }
    };
    let mut services = device.services.lock();
    services.room(1)?;
    // Requests are looked up under the same lock, so that none is missed.
    let (passive, bound) = Passive::listen(&device.fabric, &device.events, at).map_err(failed)?;
    let qualifier = qualifier.unwrap_or_else(|| bound.port().into());
    services.insert(passive.fid(), Service { qualifier, sink });
    drop(services);
    device.bell.ring();
    Ok((Listener { device: device.clone(), passive }, qualifier))
}

/// Checks that an address is of the family of this adapter's.
///
/// # Errors
/// [`AddressFault::Unsupported`] if it is not.
pub fn check_address(device: &Device, address: &Address) -> Result<()> {
    if address.ip().is_ipv4() == device.place.address.is_ipv4() {
        Ok(())
    } else {
        Err(Error::InvalidAddress(AddressFault::Unsupported))
    }
}

/// Starts to connect `conn`.
pub fn connect(conn: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
    let device = conn.device();
    device.expect()?;
    let ep = Ep::active(&device.fabric, &device.events, &device.queues, conn.number()).map_err(no_endpoint)?;
    let link = Link::new(device, ep, conn.number(), conn.terms().zone)?;
    let ip = match connect.address.ip() {
        any if any.is_unspecified() => device.place.address,
        ip => ip,
    };
    let to = SocketAddr::new(ip, port_of(connect.qualifier));
    let deadline = connect.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let Terms { extended, datagrams, reads_in, reads_out, .. } = conn.terms();
    let word = Word::Terms { extended, datagrams, reads_in, reads_out };
    conn.shift(Phase::Idle, Phase::Connecting);
    conn.tie(&link);
    let started = link.ep().connect(to, &hello::encode(word, connect.private_data));
    conn.note_port(&link);
    device.command(|work| {
        if let Some(deadline) = deadline {
            work.timers.set(deadline, conn.clone());
        }
        if let Err(error) = started {
            log::debug!(target: host::diagnostics::CM, "no way to {to}: {error}");
            work.reports.push((conn.clone(), failure(error, &[])));
        }
    });
    Ok(())
}

/// What the failure of an attempt means, which came with these bytes.
fn failure(error: FiError, data: &[u8]) -> ConnectionReport {
    match (error.0, hello::decode(data)) {
        (_, Some((Word::Rejected, private_data))) => ConnectionReport::PeerRejected(private_data),
        (libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EADDRNOTAVAIL | libc::ENETDOWN | libc::EHOSTDOWN, _) => {
            ConnectionReport::Unreachable
        }
        (libc::ETIMEDOUT, _) => ConnectionReport::Unreachable,
        _ => ConnectionReport::NonPeerRejected,
    }
}

/// Handles an event. Called without a lock.
pub fn handle(device: &Arc<Device>, event: CmEvent) {
    match event {
        CmEvent::Request { info, data, peer, passive } => request(device, info, &data, peer, passive),
        CmEvent::Connected { ep, data } => {
            if let Some(conn) = device.conn(ep as u64) {
                connected(&conn, &data);
            }
        }
        CmEvent::Shutdown { ep } => ended(device, ep, None),
        CmEvent::Failed { ep, error, data } => ended(device, ep, Some((error, data))),
    }
}

fn connected(conn: &Arc<Conn>, data: &[u8]) {
    if !conn.watch() {
        log::warn!("nothing can be heard of connection {}", conn.number());
        return match conn.phase() {
            Phase::Connecting => conn.give_up(ConnectionReport::Unreachable),
            _ => conn.peer_left(End::Broken(None)),
        };
    }
    match conn.phase() {
        // It is established once the peer knows of it, which its first record tells.
        Phase::Accepting => {}
        Phase::Connecting => match hello::decode(data) {
            Some((Word::Terms { extended, datagrams, reads_in, .. }, private_data)) => {
                conn.note_peer(extended, datagrams, fewer(reads_in));
                conn.greet();
                conn.established(private_data);
                // libfabric may have read more than one record, of which its descriptor does not tell.
                conn.device().poll_once(Poll::IfFree);
            }
            // It is somebody else that listens there.
            _ => conn.give_up(ConnectionReport::NonPeerRejected),
        },
        phase => log::debug!(target: host::diagnostics::CM, "connection {}: connected in {phase:?}", conn.number()),
    }
}

fn ended(device: &Arc<Device>, ep: usize, why: Option<(FiError, Vec<u8>)>) {
    let Some(conn) = device.conn(ep as u64) else { return device.let_go(ep as u64) };
    if conn.phase() == Phase::Connecting {
        let report = why.map_or(ConnectionReport::NonPeerRejected, |(error, data)| failure(error, &data));
        return conn.give_up(report);
    }
    // What came before the end is handled before it.
    device.poll_once(Poll::Complete);
    device.settle();
    conn.peer_left(if conn.is_silent() { End::Broken(None) } else { End::Disconnected });
    // Where this side has ended it before, it need not wait any more.
    device.let_go(ep as u64);
}

fn request(device: &Arc<Device>, info: Info, data: &[u8], peer: Option<SocketAddr>, passive: usize) {
    let service = device.services.lock().get(&passive).map(|service| (service.qualifier, service.sink.clone()));
    let terms = hello::decode(data);
    // The service point may be gone; and who says something else is a stranger, or an end of another version.
    let (Some((qualifier, sink)), Some((Word::Terms { extended, datagrams, reads_in, reads_out }, private_data))) =
        (service, terms)
    else {
        device.rejector.reject(info, &hello::encode(Word::Refused, &[]));
        return;
    };
    let remote_address = peer.map_or_else(|| Address::new(SocketAddr::new(device.place.address, 0)), Address::new);
    let about = ConnectionRequestInfo {
        qualifier,
        remote_qualifier: remote_address.port().into(),
        remote_address,
        private_data,
        datagrams: Some(datagrams).filter(|number| *number != 0),
    };
    let incoming = Incoming { device: device.clone(), info: Some(info), extended, datagrams, reads_in, reads_out };
    // A request that comes back is refused when it is dropped.
    let _ = sink.request(incoming, about);
}
