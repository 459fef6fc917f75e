//! How lanes come about: an endpoint asks a service point by rdma_cm's service for datagrams, and the answer has the way to
//! the other endpoint. That one finds its way back from what the request says. Neither keeps an identifier afterwards,
//! because there is no connection.

use std::sync::Arc;
use std::time::Instant;

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{Connect, ConnectionReport};
use host::memory::{self, Room};
use host::sysfs;
use rdma_sys::rdma_cm_event_type as kind;
use rdma_sys::rdma_port_space::RDMA_PS_UDP;

use super::hello::Hello;
use super::{Lane, LanePhase};
use crate::cm::{self, CmOwner, Incoming};
use crate::device::Device;
use crate::rejection;
use crate::status::exhausted;
use crate::sys::cm::{CmId, Event, Terms};
use crate::sys::datagram::{AddressHandle, Way};

/// The status of an answer that turns a request down, as the service for datagrams has it.
const REJECTED: i32 = 2;

impl Lane {
    /// Starts to ask a peer.
    pub fn connect(self: &Arc<Self>, connect: &Connect<'_>) -> Result<()> {
        let device = self.device();
        let (from, to) = cm::ends(device, connect);
        let token = device.token();
        let id = CmId::new(RDMA_PS_UDP, &device.channel, token).map_err(exhausted(Resource::Memory))?;
        let id = memory::arc(id)?;
        device.cm_owners.lock().room(1)?;
        {
            let mut state = self.state.lock();
            state.phase = LanePhase::Connecting;
            state.cm = Some(id.clone());
            state.private_data = connect.private_data.to_vec();
            state.way = Some((from, to, Instant::now() + cm::NO_LIMIT));
        }
        device.cm_owners.lock().insert(token, CmOwner::Lane(self.clone()));
        if let Err(error) = id.resolve_addr(from, to, cm::PATIENCE) {
            log::debug!(target: host::diagnostics::CM, "no way to {to}: {error}");
            device.command(|work| work.refused_lanes.push_back((self.clone(), ConnectionReport::Unreachable)));
        }
        Ok(())
    }

    /// Handles an event of the identifier with which the peer is asked. Called without a lock.
    pub fn handle(self: &Arc<Self>, event: &Event) {
        log::debug!(target: host::diagnostics::CM, "lane on {}: event {} status {}", self.shared.number(), event.kind, event.status);
        if self.phase() != LanePhase::Connecting {
            return;
        }
        match event.kind {
            kind::RDMA_CM_EVENT_ADDR_RESOLVED => self.step(|_, id| id.resolve_route(cm::NO_LIMIT)),
            kind::RDMA_CM_EVENT_ROUTE_RESOLVED => self.step(Lane::ask),
            kind::RDMA_CM_EVENT_ADDR_ERROR if event.status == -libc::ETIMEDOUT => {
                self.step(|lane, id| {
                    let way = lane.state.lock().way;
                    cm::look_again(lane.device(), way, id)
                });
            }
            kind::RDMA_CM_EVENT_ESTABLISHED => self.answered(event),
            // The kernel reports each answer that turns the request down in this way.
            kind::RDMA_CM_EVENT_UNREACHABLE if event.status > 0 => {
                let report = match event.status {
                    REJECTED => rejection::read(rejection::REJECTED_BY_APPLICATION, &event.private_data, false),
                    _ => ConnectionReport::NonPeerRejected,
                };
                self.give_up(report);
            }
            kind::RDMA_CM_EVENT_UNREACHABLE | kind::RDMA_CM_EVENT_ADDR_ERROR | kind::RDMA_CM_EVENT_ROUTE_ERROR => {
                self.give_up(ConnectionReport::Unreachable);
            }
            kind::RDMA_CM_EVENT_REJECTED | kind::RDMA_CM_EVENT_CONNECT_ERROR => {
                self.give_up(ConnectionReport::NonPeerRejected);
            }
            _ => {}
        }
    }

    /// Takes the next step of an attempt, which ends if that fails.
    fn step(self: &Arc<Self>, next: impl FnOnce(&Lane, &CmId) -> std::io::Result<()>) {
        let Some(id) = self.state.lock().cm.clone() else { return };
        if let Err(error) = next(self, &id) {
            log::debug!(target: host::diagnostics::CM, "lane on {}: no answer: {error}", self.shared.number());
            drop(id);
            self.give_up(cm::report_on(&error));
        }
    }

    /// Sends the request.
    fn ask(&self, id: &CmId) -> std::io::Result<()> {
        let private_data = std::mem::take(&mut self.state.lock().private_data);
        id.connect(&self.terms(&self.hello(id).write(&private_data)))
    }

    fn hello(&self, id: &CmId) -> Hello {
        // No token is used twice before the kernel has repeated a request for the last time.
        Hello { endpoint: self.endpoint, qp: self.shared.number(), request: id.token() as u32, port: id.own_port() }
    }

    fn terms<'a>(&self, private_data: &'a [u8]) -> Terms<'a> {
        Terms { qp_number: self.shared.number(), srq: true, reads: (0, 0), private_data }
    }

    /// The peer has answered.
    fn answered(self: &Arc<Self>, event: &Event) {
        let (Some((hello, private_data)), Some((way, number))) = (Hello::read(&event.private_data), &event.answer)
        else {
            log::debug!(target: host::diagnostics::CM, "lane on {}: an answer of another kind", self.shared.number());
            return self.give_up(ConnectionReport::NonPeerRejected);
        };
        if let Err(error) = self.direct(way, *number, &hello) {
            log::warn!("no way for datagrams: {error}");
            return self.give_up(ConnectionReport::Unreachable);
        }
        let cm = self.state.lock().cm.take();
        if let Some(cm) = cm {
            self.device().cm_owners.lock().remove(&cm.token());
        }
        self.come_up(LanePhase::Connecting, private_data);
    }

    /// Sets where the lane leads.
    fn direct(&self, way: &Way, number: u32, hello: &Hello) -> std::io::Result<()> {
        let _ = self.to.set((AddressHandle::new(&self.shared.pd, way)?, number));
        self.peer.store(hello.endpoint, std::sync::atomic::Ordering::Release);
        Ok(())
    }

    /// Reports that the lane can be used, unless it has left `from`. Called without a lock.
    fn come_up(self: &Arc<Self>, from: LanePhase, private_data: &[u8]) {
        {
            let mut state = self.state.lock();
            if state.phase != from {
                return;
            }
            state.phase = LanePhase::Up;
        }
        self.sink.connection(ConnectionReport::Established(private_data.to_vec()));
    }

    /// Reports that the peer was answered.
    pub fn accepted(self: &Arc<Self>) {
        self.come_up(LanePhase::Accepting, &[]);
    }

    /// Accepts a request with this lane.
    pub fn accept(self: &Arc<Self>, incoming: &mut Option<Incoming>, private_data: &[u8]) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let (Some(id), Some(asker)) = (request.id.clone(), request.asker) else { return Err(Error::Internal) };
        let device = self.device();
        let from = own_index(device, &id.own_port().gid);
        let way = Way::new(device.place.port, from, &asker.port, device.limits.ethernet);
        self.direct(&way, asker.qp, &asker).map_err(exhausted(Resource::Endpoint))?;
        self.state.lock().phase = LanePhase::Accepting;
        let answer = self.hello(&id).write(private_data);
        let accepted = id.accept(&self.terms(&answer));
        if accepted.is_ok() {
            device.answers.note(&asker, Some(self.shared.number()), &answer);
        }
        if let Some(mut request) = incoming.take() {
            request.id = None;
        }
        device.command(|work| match accepted {
            Ok(()) => work.accepted.push_back(self.clone()),
            Err(error) => {
                log::debug!(target: host::diagnostics::CM, "a request could not be accepted: {error}");
                work.refused_lanes.push_back((self.clone(), ConnectionReport::AcceptFailed));
            }
        });
        Ok(())
    }
}

/// The index of one of the global addresses of the adapter's port. Ethernet may have it more than once, for two kinds of
/// packets, of which the kernel's connection management prefers those that routers know.
fn own_index(device: &Device, gid: &[u8; 16]) -> u8 {
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
