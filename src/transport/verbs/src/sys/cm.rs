//! Connection management: identifiers, and the channel on which their events arrive.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dat_core::addr::Address;
use host::memory;
use rdma_sys::*;

use super::datagram::Way;
use super::device::name_of;
use super::{Owned, SET_UP, again, check_room, made, with_fork_lock};

/// The result of a call that returns 0 on success, or -1 and sets errno.
/// The call, which takes locks of the library, falls into no fork.
fn outcome(mut call: impl FnMut() -> c_int) -> io::Result<()> {
    again(|| once(&mut call))
}

/// The result of a call that is made once, because it may have done a part of its work when it fails.
fn once(call: impl FnOnce() -> c_int) -> io::Result<()> {
    with_fork_lock(|| if call() == 0 { Ok(()) } else { Err(io::Error::last_os_error()) })
}

/// A channel on which events of identifiers arrive.
pub type EventChannel = Owned<rdma_event_channel, (), 1>;

/// An event, copied and already acknowledged, so that nothing waits for its handling.
pub struct Event {
    pub kind: rdma_cm_event_type::Type,
    /// The token of the identifier; for a request, that of the listener.
    pub token: u64,
    /// Zero, a negative errno, or the reason of a rejection.
    pub status: i32,
    /// The peer's private data, with the padding that the wire adds.
    pub private_data: Vec<u8>,
    /// For a request or an answer: reads that this side is to serve at a time, and that the peer serves.
    pub reads: (u8, u8),
    /// For a request: its identifier.
    pub incoming: Option<CmId>,
    /// For the answer to a request for datagrams: the way to the peer, and the number of its queue pair.
    pub answer: Option<(Way, u32)>,
}

/// Bytes that came with an event.
///
/// # Safety
/// The event has so many there, or the pointer is NULL.
unsafe fn bytes(at: *const c_void, len: u8) -> Vec<u8> {
    if at.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at.cast::<u8>(), len.into()) }.to_vec()
}

impl EventChannel {
    /// Makes a channel whose descriptor does not block.
    pub fn new() -> io::Result<Arc<Self>> {
        check_room()?;
        // SAFETY: the call takes no arguments.
        let make = |_: &()| made(|| unsafe { rdma_create_event_channel() });
        let channel = Owned::with_descriptors((), make, |raw| [raw.fd])?;
        SET_UP.store(true, Ordering::Relaxed);
        Ok(memory::arc(channel)?)
    }

    /// The next event, if there is one.
    pub fn next(self: &Arc<Self>) -> Option<Event> {
        with_fork_lock(|| {
            let mut raw = ptr::null_mut();
            // SAFETY: the place is writable; the descriptor does not block.
            if unsafe { rdma_get_cm_event(self.as_ptr(), &raw mut raw) } != 0 {
                return None;
            }
            // SAFETY: the event is not acknowledged yet, and its identifiers are not destroyed before it is. Its parameters
            // are those of datagrams in their space of ports, and otherwise those of a connection.
            let event = unsafe {
                let event = &*raw;
                let request = event.event == rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_REQUEST;
                let owner = if request { event.listen_id } else { event.id };
                let datagrams = owner.as_ref().is_some_and(|owner| owner.ps == rdma_port_space::RDMA_PS_UDP);
                let established = event.event == rdma_cm_event_type::RDMA_CM_EVENT_ESTABLISHED;
                let (private_data, reads, answer) = if datagrams {
                    let ud = event.param.ud;
                    let answer = established.then_some((Way(ud.ah_attr), ud.qp_num));
                    (bytes(ud.private_data, ud.private_data_len), (0, 0), answer)
                } else {
                    let conn = event.param.conn;
                    let reads = (conn.responder_resources, conn.initiator_depth);
                    (bytes(conn.private_data, conn.private_data_len), reads, None)
                };
                let incoming = NonNull::new(event.id).filter(|_| request);
                Event {
                    kind: event.event,
                    token: if owner.is_null() { 0 } else { (*owner).context as u64 },
                    status: event.status,
                    private_data,
                    reads,
                    incoming: incoming.map(|raw| Owned::of(raw, self.clone())),
                    answer,
                }
            };
            // SAFETY: the event comes from rdma_get_cm_event and is acknowledged once; nothing refers to it.
            unsafe { rdma_ack_cm_event(raw) };
            Some(event)
        })
    }
}

/// A listener or one end of a connection. Its events carry its token.
pub type CmId = Owned<rdma_cm_id, Arc<EventChannel>>;

/// The terms that both ends agree upon.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub qp_number: u32,
    /// Whether it takes its buffers from a shared queue.
    pub srq: bool,
    /// The peer's reads served at a time, and own ones outstanding.
    pub reads: (u8, u8),
    /// Bytes for the peer.
    pub private_data: &'a [u8],
}

/// The number of times that a device repeats what was not acknowledged. 7 is the largest number on the wire, but some
/// devices take it for "without end".
pub const RETRIES: u8 = 6;

impl Terms<'_> {
    fn param(&self) -> rdma_conn_param {
        // SAFETY: the structure is plain data, for which zero is a valid value.
        let mut param: rdma_conn_param = unsafe { mem::zeroed() };
        param.private_data = self.private_data.as_ptr().cast::<c_void>();
        param.private_data_len = u8::try_from(self.private_data.len()).unwrap_or(u8::MAX);
        (param.responder_resources, param.initiator_depth) = self.reads;
        param.flow_control = 1;
        param.retry_count = RETRIES;
        // 7 means without end.
        param.rnr_retry_count = 7;
        param.srq = self.srq.into();
        param.qp_num = self.qp_number;
        param
    }
}

impl CmId {
    /// Makes an identifier in a space of ports.
    pub fn new(space: rdma_port_space::Type, channel: &Arc<EventChannel>, token: u64) -> io::Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the channel is live, the place is writable, and the token is not dereferenced.
        outcome(|| unsafe { rdma_create_id(channel.as_ptr(), &raw mut raw, token as *mut c_void, space) })?;
        let raw = NonNull::new(raw).ok_or_else(io::Error::last_os_error)?;
        Ok(Owned::of(raw, channel.clone()))
    }

    pub fn token(&self) -> u64 {
        self.context as u64
    }

    /// Gives the identifier of a request its token, before other threads know the identifier.
    pub fn set_token(&mut self, token: u64) {
        // SAFETY: no other value has the identifier; the field belongs to its owner.
        unsafe { (*self.as_ptr()).context = token as *mut c_void };
    }

    /// Makes an identifier with a local address; with port 0 the system chooses the port.
    pub fn bound(
        space: rdma_port_space::Type,
        channel: &Arc<EventChannel>,
        token: u64,
        address: SocketAddr,
    ) -> io::Result<Self> {
        let mut native = native(address);
        // The identifier may have its address after a failure, and then it takes none.
        again(|| {
            let id = CmId::new(space, channel, token)?;
            // SAFETY: the storage holds a whole socket address.
            once(|| unsafe { rdma_bind_addr(id.as_ptr(), (&raw mut native).cast()) })?;
            Ok(id)
        })
    }

    /// Name and port of the device that the local address belongs to, once that is known.
    pub fn device(&self) -> Option<(String, u8)> {
        // SAFETY: the identifier is live; the device context belongs to the library and lives as long as the process.
        let context = unsafe { self.verbs.as_ref() }?;
        Some((name_of(context.device), self.port_num))
    }

    /// Waits for requests.
    pub fn listen(&self, backlog: c_int) -> io::Result<()> {
        let mut interrupted = false;
        again(|| {
            // SAFETY: a live identifier.
            let answer = once(|| unsafe { rdma_listen(self.as_ptr(), backlog) });
            match answer.as_ref().err().and_then(io::Error::raw_os_error) {
                // The library asks for the address afterwards, and may have been interrupted there: the identifier
                // listens already.
                Some(libc::EINVAL) if interrupted => return Ok(()),
                Some(_) => interrupted = true,
                None => {}
            }
            answer
        })
    }

    /// Starts to resolve the way from one address to another.
    pub fn resolve_addr(&self, from: SocketAddr, to: SocketAddr, limit: Duration) -> io::Result<()> {
        let (mut from, mut to) = (native(from), native(to));
        // SAFETY: both storages hold whole socket addresses.
        outcome(|| unsafe {
            rdma_resolve_addr(self.as_ptr(), (&raw mut from).cast(), (&raw mut to).cast(), millis(limit))
        })
    }

    /// Starts to resolve the route.
    pub fn resolve_route(&self, limit: Duration) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_resolve_route(self.as_ptr(), millis(limit)) })
    }

    /// The attributes with which a queue pair goes to `state`, and their mask.
    pub fn qp_attributes(&self, state: ibv_qp_state::Type) -> io::Result<(ibv_qp_attr, c_int)> {
        // SAFETY: the structure is plain data, for which zero is a valid value.
        let mut attr: ibv_qp_attr = unsafe { mem::zeroed() };
        attr.qp_state = state;
        let mut mask = 0;
        // SAFETY: both places are writable.
        outcome(|| unsafe { rdma_init_qp_attr(self.as_ptr(), &raw mut attr, &raw mut mask) })?;
        Ok((attr, mask))
    }

    /// Sends the request.
    pub fn connect(&self, terms: &Terms<'_>) -> io::Result<()> {
        let mut param = terms.param();
        // SAFETY: the parameters and the private data live through the call.
        outcome(|| unsafe { rdma_connect(self.as_ptr(), &raw mut param) })
    }

    /// Confirms to the peer that this side is ready too.
    pub fn establish(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_establish(self.as_ptr()) })
    }

    pub fn accept(&self, terms: &Terms<'_>) -> io::Result<()> {
        let mut param = terms.param();
        // SAFETY: the parameters and the private data live through the call.
        outcome(|| unsafe { rdma_accept(self.as_ptr(), &raw mut param) })
    }

    pub fn reject(&self, private_data: &[u8]) -> io::Result<()> {
        let len = u8::try_from(private_data.len()).unwrap_or(u8::MAX);
        // SAFETY: the private data live through the call.
        outcome(|| unsafe { rdma_reject(self.as_ptr(), private_data.as_ptr().cast(), len) })
    }

    pub fn disconnect(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        outcome(|| unsafe { rdma_disconnect(self.as_ptr()) })
    }

    /// Reports that data came before the connection was announced.
    pub fn established_by_data(&self) {
        // SAFETY: a live identifier.
        let _ = outcome(|| unsafe { rdma_notify(self.as_ptr(), ibv_event_type::IBV_EVENT_COMM_EST) });
    }

    /// The local port; 0 if there is none.
    pub fn local_port(&self) -> u16 {
        // SAFETY: a live identifier.
        u16::from_be(unsafe { rdma_get_src_port(self.as_ptr()) })
    }

    /// The address of the peer, with the port.
    pub fn remote_address(&self) -> Option<Address> {
        // SAFETY: the identifier is live; these are the bytes of a socket address, for which any values are valid.
        let bytes: [u8; 28] = unsafe { ptr::read((&raw const self.route.addr.dst_addr_union).cast()) };
        Address::from_native(&bytes)
    }
}

/// The descriptors of the context that librdmacm opens of a device for its identifiers and keeps while the process
/// lives. When the device is removed the system waits until they are closed; but librdmacm closes them only when it
/// hears of another new device.
#[derive(Clone, Copy, Debug)]
pub struct Retained {
    command: RawFd,
    events: RawFd,
    device: libc::dev_t,
}

impl Retained {
    /// The context behind an identifier that is bound to a device.
    pub fn behind(id: &CmId) -> Option<Self> {
        // SAFETY: the identifier is live; the context belongs to librdmacm and lives at least as long.
        let (command, events) = unsafe { id.verbs.as_ref() }.map(|verbs| (verbs.cmd_fd, verbs.async_fd))?;
        Some(Retained { command, events, device: device_behind(command)? })
    }

    /// Closes the files behind the descriptors, whose numbers stay taken until librdmacm closes them. The caller has
    /// destroyed its identifiers, and has the device still open, so that no other device has its number.
    pub fn release(&self) {
        if device_behind(self.command) != Some(self.device) {
            return;
        }
        let Ok(nothing) = std::fs::File::open("/dev/null") else { return };
        for fd in [self.command, self.events] {
            // SAFETY: the number belongs to a context that is no longer used. It stays taken all the time.
            if unsafe { libc::dup3(nothing.as_raw_fd(), fd, libc::O_CLOEXEC) } < 0 {
                log::warn!("the system waits for this process: {}", io::Error::last_os_error());
            }
        }
    }
}

/// The number of the device behind the descriptor of a character device.
fn device_behind(fd: RawFd) -> Option<libc::dev_t> {
    // SAFETY: the structure is plain data, for which zero is a valid value.
    let mut stat: libc::stat = unsafe { mem::zeroed() };
    // SAFETY: the place is writable; the call refuses a descriptor that is not open.
    let failed = unsafe { libc::fstat(fd, &raw mut stat) } != 0;
    (!failed && stat.st_mode & libc::S_IFMT == libc::S_IFCHR).then_some(stat.st_rdev)
}

fn millis(limit: Duration) -> c_int {
    c_int::try_from(limit.as_millis().max(1)).unwrap_or(c_int::MAX)
}

/// The native form of a socket address, in a structure that is large enough for any.
fn native(address: SocketAddr) -> libc::sockaddr_storage {
    // SAFETY: the structure is plain data, for which zero is a valid value.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let bytes = *Address::new(address).native();
    // SAFETY: the storage is larger than the 28 bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut storage).cast::<u8>(), bytes.len()) };
    storage
}
