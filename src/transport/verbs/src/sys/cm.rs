//! Connection management: identifiers and event channels of librdmacm.

use std::ffi::{c_int, c_void};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dat_core::addr::Address;
use host::memory;
use rdma_sys::*;

use super::datagram::Way;
use super::device::name_of;
use super::freeing::Freeing;
use super::{INITIALISED, Owned, again, check_room, made, with_fork_lock, zeroed};

/// Executes a call that returns 0, or -1 with errno, under the fork lock. Repeats it after EINTR or EAGAIN.
fn outcome(mut call: impl FnMut() -> c_int) -> io::Result<()> {
    again(|| once(&mut call))
}

/// Like [`outcome`], but never repeats the call, which may have done part of its work.
fn once(call: impl FnOnce() -> c_int) -> io::Result<()> {
    with_fork_lock(|| if call() == 0 { Ok(()) } else { Err(io::Error::last_os_error()) })
}

/// Bytes of memory for an identifier. The table of identifiers of librdmacm 44 grows by 8 KiB at every 1,024th. If it
/// cannot grow, librdmacm ignores that, and crashes when it destroys the identifier.
const ID_MEMORY: usize = 16 << 10;

pub type EventChannel = Owned<rdma_event_channel, Arc<Freeing>, 1>;

/// A copy of an acknowledged event.
pub struct Event {
    pub kind: rdma_cm_event_type::Type,
    /// Token of the identifier, or for a request, of the listener.
    pub token: u64,
    /// Zero, a negative errno, or the reason for a rejection.
    pub status: i32,
    /// The peer's private data, with padding.
    pub private_data: Vec<u8>,
    /// Of a request or reply for a connection: maximum concurrent reads by the peer, and by this end. 0 for datagrams.
    pub reads: (u8, u8),
    pub incoming: Option<CmId>,
    /// Of a reply for datagrams: the path to the peer, and its queue pair number.
    pub answer: Option<(Way, u32)>,
}

impl EventChannel {
    pub fn new(freeing: &Arc<Freeing>) -> io::Result<Arc<Self>> {
        check_room()?;
        // SAFETY: the call takes no arguments.
        let make = |_: &_| made(|| unsafe { rdma_create_event_channel() });
        let channel = Owned::with_descriptors(freeing.clone(), make, |raw| [raw.fd])?;
        INITIALISED.store(true, Ordering::Relaxed);
        Ok(memory::arc(channel)?)
    }

    pub fn next(self: &Arc<Self>) -> Option<Event> {
        with_fork_lock(|| {
            let mut raw = ptr::null_mut();
            // SAFETY: a live channel and a writable place.
            if unsafe { rdma_get_cm_event(self.as_ptr(), &raw mut raw) } != 0 {
                return None;
            }
            // SAFETY: the event lives until it is acknowledged.
            let event = unsafe { &*raw };
            let request = event.event == rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_REQUEST;
            let owner = if request { event.listen_id } else { event.id };
            // SAFETY: NULL, or an identifier, which lives until the event is acknowledged.
            let owner = unsafe { owner.as_ref() };
            let (data, len, reads, answer) = if owner.is_some_and(|owner| owner.ps == rdma_port_space::RDMA_PS_UDP) {
                // SAFETY: the port space selects this field of the union.
                let ud = unsafe { event.param.ud };
                let established = event.event == rdma_cm_event_type::RDMA_CM_EVENT_ESTABLISHED;
                let answer = established.then_some((Way(ud.ah_attr), ud.qp_num));
                (ud.private_data, ud.private_data_len, (0, 0), answer)
            } else {
                // SAFETY: the port space selects this field of the union.
                let conn = unsafe { event.param.conn };
                let reads = (conn.responder_resources, conn.initiator_depth);
                (conn.private_data, conn.private_data_len, reads, None)
            };
            let private_data = if data.is_null() {
                Vec::new()
            } else {
                // SAFETY: not NULL, so `len` bytes of the event.
                unsafe { slice::from_raw_parts(data.cast::<u8>(), len.into()) }.to_vec()
            };
            let event = Event {
                kind: event.event,
                token: owner.map_or(0, |owner| owner.context as u64),
                status: event.status,
                private_data,
                reads,
                incoming: NonNull::new(event.id).filter(|_| request).map(|raw| Owned::of(raw, self.clone())),
                answer,
            };
            // SAFETY: the event is acknowledged once, and no reference to it is left.
            unsafe { rdma_ack_cm_event(raw) };
            Some(event)
        })
    }
}

/// The identifier of a listener, connection or UD exchange.
pub type CmId = Owned<rdma_cm_id, Arc<EventChannel>>;

#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub qp_number: u32,
    /// Set if the queue pair receives from an SRQ.
    pub srq: bool,
    /// See [`Event::reads`].
    pub reads: (u8, u8),
    pub private_data: &'a [u8],
}

/// Maximum number of retransmissions. With 7, the maximum value, some devices retry indefinitely.
pub const RETRIES: u8 = 6;

impl Terms<'_> {
    fn param(&self) -> rdma_conn_param {
        let mut param: rdma_conn_param = zeroed();
        param.private_data = self.private_data.as_ptr().cast::<c_void>();
        param.private_data_len = u8::try_from(self.private_data.len()).unwrap_or(u8::MAX);
        (param.responder_resources, param.initiator_depth) = self.reads;
        param.flow_control = 1;
        param.retry_count = RETRIES;
        param.rnr_retry_count = 7;
        param.srq = self.srq.into();
        param.qp_num = self.qp_number;
        param
    }
}

impl CmId {
    pub fn new(space: rdma_port_space::Type, channel: &Arc<EventChannel>, token: u64) -> io::Result<Self> {
        memory::probe(ID_MEMORY)?;
        let mut raw = ptr::null_mut();
        // SAFETY: a live channel and a writable place; the library does not dereference the token.
        outcome(|| unsafe { rdma_create_id(channel.as_ptr(), &raw mut raw, token as *mut c_void, space) })?;
        let raw = NonNull::new(raw).ok_or_else(io::Error::last_os_error)?;
        Ok(Owned::of(raw, channel.clone()))
    }

    pub fn token(&self) -> u64 {
        self.context as u64
    }

    pub fn set_token(&mut self, token: u64) {
        // SAFETY: `self` is the only owner, and the library does not use the field.
        unsafe { (*self.as_ptr()).context = token as *mut c_void };
    }

    /// Creates a bound identifier. For port 0, the kernel selects a port.
    pub fn bound(
        space: rdma_port_space::Type,
        channel: &Arc<EventChannel>,
        token: u64,
        address: SocketAddr,
    ) -> io::Result<Self> {
        let mut native = native(address);
        // A failed attempt may leave its identifier bound, so each attempt has a new identifier.
        again(|| {
            let id = CmId::new(space, channel, token)?;
            // SAFETY: a live identifier, and a whole socket address.
            once(|| unsafe { rdma_bind_addr(id.as_ptr(), (&raw mut native).cast()) })?;
            Ok(id)
        })
    }

    pub fn device(&self) -> Option<(String, u8)> {
        // SAFETY: the identifier is live, and librdmacm never closes its device contexts.
        let context = unsafe { self.verbs.as_ref() }?;
        Some((name_of(context.device), self.port_num))
    }

    pub fn listen(&self, backlog: c_int) -> io::Result<()> {
        let mut interrupted = false;
        again(|| {
            // SAFETY: a live identifier.
            let answer = once(|| unsafe { rdma_listen(self.as_ptr(), backlog) });
            match answer.as_ref().err().and_then(io::Error::raw_os_error) {
                // The identifier listens already: the signal interrupted only the library's query of the address, after
                // the kernel's listen.
                Some(libc::EINVAL) if interrupted => return Ok(()),
                Some(_) => interrupted = true,
                None => {}
            }
            answer
        })
    }

    pub fn resolve_addr(&self, from: SocketAddr, to: SocketAddr, limit: Duration) -> io::Result<()> {
        let (mut from, mut to) = (native(from), native(to));
        // SAFETY: a live identifier, and two whole socket addresses.
        outcome(|| unsafe {
            rdma_resolve_addr(self.as_ptr(), (&raw mut from).cast(), (&raw mut to).cast(), millis(limit))
        })
    }

    pub fn resolve_route(&self, limit: Duration) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_resolve_route(self.as_ptr(), millis(limit)) })
    }

    /// Returns attributes and mask for a queue pair's transition to `state`.
    pub fn qp_attributes(&self, state: ibv_qp_state::Type) -> io::Result<(ibv_qp_attr, c_int)> {
        let mut attr: ibv_qp_attr = zeroed();
        attr.qp_state = state;
        let mut mask = 0;
        // SAFETY: a live identifier, and two writable places.
        outcome(|| unsafe { rdma_init_qp_attr(self.as_ptr(), &raw mut attr, &raw mut mask) })?;
        Ok((attr, mask))
    }

    pub fn connect(&self, terms: &Terms<'_>) -> io::Result<()> {
        let mut param = terms.param();
        // SAFETY: a live identifier; the parameters outlive the call.
        outcome(|| unsafe { rdma_connect(self.as_ptr(), &raw mut param) })
    }

    /// Confirms the peer's reply.
    pub fn establish(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_establish(self.as_ptr()) })
    }

    pub fn accept(&self, terms: &Terms<'_>) -> io::Result<()> {
        let mut param = terms.param();
        // SAFETY: a live identifier; the parameters outlive the call.
        outcome(|| unsafe { rdma_accept(self.as_ptr(), &raw mut param) })
    }

    pub fn reject(&self, private_data: &[u8]) -> io::Result<()> {
        let len = u8::try_from(private_data.len()).unwrap_or(u8::MAX);
        // SAFETY: a live identifier; the private data outlive the call.
        outcome(|| unsafe { rdma_reject(self.as_ptr(), private_data.as_ptr().cast(), len) })
    }

    pub fn disconnect(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_disconnect(self.as_ptr()) })
    }

    /// Notifies the kernel that the peer's data arrived before the connection was established.
    pub fn established_by_data(&self) {
        // SAFETY: a live identifier.
        let _ = outcome(|| unsafe { rdma_notify(self.as_ptr(), ibv_event_type::IBV_EVENT_COMM_EST) });
    }

    pub fn local_port(&self) -> u16 {
        // SAFETY: a live identifier.
        u16::from_be(unsafe { rdma_get_src_port(self.as_ptr()) })
    }

    pub fn remote_address(&self) -> Option<Address> {
        // SAFETY: the identifier is live, its union has at least 28 bytes, and any bytes are valid.
        let bytes: [u8; 28] = unsafe { ptr::read((&raw const self.route.addr.dst_addr_union).cast()) };
        Address::from_native(&bytes)
    }
}

/// Descriptors of librdmacm's device context. The device's removal waits until they are closed, but librdmacm closes
/// them only when it detects a new device.
#[derive(Clone, Copy, Debug)]
pub struct Retained {
    command: RawFd,
    events: RawFd,
    device: libc::dev_t,
}

impl Retained {
    /// Returns the descriptors of a bound identifier's context.
    pub fn behind(id: &CmId) -> Option<Self> {
        // SAFETY: the identifier is live, and librdmacm never closes its device contexts.
        let (command, events) = unsafe { id.verbs.as_ref() }.map(|verbs| (verbs.cmd_fd, verbs.async_fd))?;
        Some(Retained { command, events, device: device_behind(command)? })
    }

    /// Replaces the descriptors' files by /dev/null; librdmacm will close the descriptors. The caller has destroyed its
    /// identifiers, but keeps the device open, so that the device's number is not reused.
    pub fn release(&self) {
        if device_behind(self.command) != Some(self.device) {
            return;
        }
        let Ok(nothing) = std::fs::File::open("/dev/null") else { return };
        for fd in [self.command, self.events] {
            // SAFETY: the context is unused, and dup3 replaces the file atomically.
            if unsafe { libc::dup3(nothing.as_raw_fd(), fd, libc::O_CLOEXEC) } < 0 {
                log::warn!(
                    "device: cannot release its files, so the system cannot remove it: {}",
                    io::Error::last_os_error()
                );
            }
        }
    }
}

/// Returns the device number of a character device's descriptor.
fn device_behind(fd: RawFd) -> Option<libc::dev_t> {
    let mut stat: libc::stat = zeroed();
    // SAFETY: the place is writable, and the call rejects closed descriptors.
    let failed = unsafe { libc::fstat(fd, &raw mut stat) } != 0;
    (!failed && stat.st_mode & libc::S_IFMT == libc::S_IFCHR).then_some(stat.st_rdev)
}

fn millis(limit: Duration) -> c_int {
    c_int::try_from(limit.as_millis().max(1)).unwrap_or(c_int::MAX)
}

fn native(address: SocketAddr) -> libc::sockaddr_storage {
    let mut storage: libc::sockaddr_storage = zeroed();
    let bytes = *Address::new(address).native();
    // SAFETY: the storage has more than 28 bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut storage).cast::<u8>(), bytes.len()) };
    storage
}
