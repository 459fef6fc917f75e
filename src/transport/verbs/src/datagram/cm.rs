//! UD exchanges with peers by rdma_cm (SIDR). The request contains the requester's address, the reply the responder's.
//! Neither side keeps an identifier afterwards.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dat_core::error::{Resource, Result};
use dat_core::transport::datagrams::Exchange;
use dat_core::transport::{Connect, ConnectionReport};
use host::lock::Mutex;
use host::memory::{self, Room};
use host::sysfs;
use rdma_sys::rdma_cm_event_type as kind;
use rdma_sys::rdma_port_space::RDMA_PS_UDP;

use super::hello::Hello;
use super::{UdPeer, UdQp};
use crate::Verbs;
use crate::cm::{self, CmOwner};
use crate::device::Device;
use crate::rejection;
use crate::status::exhausted;
use crate::sys::cm::{CmId, Event, Terms};

/// Status of a rejection in the SIDR reply.
const REJECTED: i32 = 2;

/// An exchange requested by this side.
pub struct Attempt {
    qp: Arc<UdQp>,
    id: Arc<CmId>,
    private_data: Box<[u8]>,
    /// Local address, remote address and deadline of the attempt.
    route: (SocketAddr, SocketAddr, Instant),
    /// `None` once the outcome is known.
    exchange: Mutex<Option<Exchange<Verbs>>>,
}

impl UdQp {
    pub(super) fn hello(&self, id: &CmId) -> Hello {
        // The low 32 bits of the token are enough: they do not recur while the kernel may repeat the request.
        Hello { endpoint: self.sink.number(), qp: self.number(), request: id.token() as u32, port: id.own_port() }
    }

    pub(super) fn terms<'a>(&self, private_data: &'a [u8]) -> Terms<'a> {
        Terms { qp_number: self.number(), srq: true, reads: (0, 0), private_data }
    }
}

impl Attempt {
    pub(super) fn start(qp: &Arc<UdQp>, connect: &Connect<'_>, exchange: Exchange<Verbs>) -> Result<()> {
        let device = &qp.device;
        device.check_device()?;
        let (from, to) = cm::ends(device, connect);
        let token = device.token();
        let id = CmId::new(RDMA_PS_UDP, &device.channel, token).map_err(exhausted(Resource::Memory))?;
        let attempt = memory::arc(Attempt {
            qp: qp.clone(),
            id: memory::arc(id)?,
            private_data: memory::copied(connect.private_data)?,
            route: (from, to, Instant::now() + cm::DEFAULT_ROUTE_TIMEOUT),
            exchange: Mutex::new(Some(exchange)),
        })?;
        {
            let (mut attempts, mut cm_owners) = (qp.attempts.lock(), device.cm_owners.lock());
            attempts.room(1)?;
            cm_owners.room(1)?;
            attempts.push(attempt.clone());
            cm_owners.insert(token, CmOwner::Attempt(attempt.clone()));
        }
        if let Err(error) = attempt.id.resolve_addr(from, to, cm::NEIGHBOUR_TIMEOUT) {
            log::debug!(target: host::diagnostics::CM, "endpoint: cannot reach {to}: {error}");
            device.command(|work| work.unreachable.push_back(attempt));
        }
        Ok(())
    }

    /// Handles an event of the attempt's identifier. Called without a lock.
    pub fn handle(&self, event: &Event) {
        log::debug!(target: host::diagnostics::CM, "datagrams on {}: event {} status {}", self.qp.number(), event.kind, event.status);
        if self.exchange.lock().is_none() {
            return;
        }
        match event.kind {
            kind::RDMA_CM_EVENT_ADDR_RESOLVED => self.step(self.id.resolve_route(cm::DEFAULT_ROUTE_TIMEOUT / 2)),
            kind::RDMA_CM_EVENT_ROUTE_ERROR if event.status == -libc::ETIMEDOUT && Instant::now() < self.route.2 => {
                self.step(self.id.resolve_route(cm::DEFAULT_ROUTE_TIMEOUT / 2));
            }
            kind::RDMA_CM_EVENT_ROUTE_RESOLVED => {
                let request = self.qp.hello(&self.id).write(&self.private_data);
                self.step(self.id.connect(&self.qp.terms(&request)));
            }
            kind::RDMA_CM_EVENT_ADDR_ERROR if event.status == -libc::ETIMEDOUT => {
                self.step(cm::retry_lookup(&self.qp.device, Some(self.route), &self.id));
            }
            kind::RDMA_CM_EVENT_ESTABLISHED => self.answered(event),
            // The kernel reports a rejection as this event, with the positive status of the SIDR reply.
            kind::RDMA_CM_EVENT_UNREACHABLE if event.status > 0 => self.give_up(match event.status {
                REJECTED => rejection::read(rejection::REJECTED_BY_APPLICATION, &event.private_data, false),
                _ => ConnectionReport::NonPeerRejected,
            }),
            kind::RDMA_CM_EVENT_UNREACHABLE | kind::RDMA_CM_EVENT_ADDR_ERROR | kind::RDMA_CM_EVENT_ROUTE_ERROR => {
                self.give_up(ConnectionReport::Unreachable);
            }
            kind::RDMA_CM_EVENT_REJECTED | kind::RDMA_CM_EVENT_CONNECT_ERROR => {
                self.give_up(ConnectionReport::NonPeerRejected);
            }
            _ => {}
        }
    }

    fn step(&self, taken: std::io::Result<()>) {
        if let Err(error) = taken {
            log::debug!(target: host::diagnostics::CM, "datagrams on {}: no reply: {error}", self.qp.number());
            self.give_up(ConnectionReport::of(&error));
        }
    }

    fn answered(&self, event: &Event) {
        let (Some((hello, private_data)), Some((way, number))) = (Hello::read(&event.private_data), &event.answer)
        else {
            log::debug!(target: host::diagnostics::CM, "datagrams on {}: the reply is of another protocol", self.qp.number());
            return self.give_up(ConnectionReport::NonPeerRejected);
        };
        match UdPeer::new(&self.qp.pd, way, *number) {
            Ok(peer) => {
                if let Some(exchange) = self.conclude() {
                    exchange.established(peer, hello.endpoint, private_data.to_vec());
                }
            }
            Err(_) => self.give_up(ConnectionReport::Unreachable),
        }
    }

    /// Ends the attempt. Returns the exchange to report, or `None` if the attempt had ended.
    pub(super) fn conclude(&self) -> Option<Exchange<Verbs>> {
        self.qp.attempts.lock().retain(|attempt| !std::ptr::eq(&**attempt, self));
        self.qp.device.forget_owner(&self.id);
        self.exchange.lock().take()
    }

    /// Ends the attempt and reports the failure, unless it had ended. Called without a lock.
    pub fn give_up(&self, report: ConnectionReport) {
        if let Some(exchange) = self.conclude() {
            exchange.failed(report);
        }
    }
}

/// Returns the index of `gid` in the GID table of the adapter's port; 0 if it is missing. An Ethernet port may have the
/// GID once per RoCE version; like the kernel, this prefers the routable RoCE v2.
pub(super) fn own_index(device: &Device, gid: &[u8; 16]) -> u8 {
    let found = device.context.gid_indices(device.place.port, gid);
    let types =
        format!("{}/class/infiniband/{}/ports/{}/gid_attrs/types", sysfs::ROOT, device.place.name, device.place.port);
    let is_routable = |index: &&u8| {
        let kind = std::fs::read_to_string(format!("{types}/{index}"));
        kind.is_ok_and(|kind| kind.trim() == "RoCE v2")
    };
    let preferred = if found.len() > 1 { found.iter().find(is_routable) } else { None };
    preferred.or(found.first()).copied().unwrap_or(0)
}
