//! Connections as libfabric makes them: the queue of events, requests, and endpoints that listen.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::{Arc, Weak};

use host::lock::Mutex;

use super::abi::{
    CM_DATA, EqAttr, EqCmEntry, EqErrEntry, FI_CONNECTED, FI_CONNREQ, FI_EAVAIL, FI_SHUTDOWN, FI_WAIT_FD, Fid, FidEp,
    FidEq, FidPep,
};
use super::{Fabric, FiError, OwnedInfo, bind, close, descriptor, listener, read_address, shared};

/// A connection request.
pub struct Info {
    pub(super) info: OwnedInfo,
    peer: Option<SocketAddr>,
    events: Weak<EventQueue>,
}

impl Drop for Info {
    fn drop(&mut self) {
        if let (Some(peer), Some(events)) = (self.peer, self.events.upgrade()) {
            events.endpoints.lock().asking.retain(|asking| *asking != peer);
        }
    }
}

/// What befell a connection, or an attempt at one.
pub enum CmEvent {
    /// A request has come to an endpoint that listens.
    Request {
        /// The request.
        info: Info,
        /// Bytes that came with it.
        data: Vec<u8>,
        /// The address of the peer.
        peer: Option<SocketAddr>,
        /// [`Passive::fid`] of the endpoint.
        passive: usize,
    },
    /// The endpoint of this number is connected.
    Connected {
        /// The number.
        ep: usize,
        /// Bytes that came with the acceptance.
        data: Vec<u8>,
    },
    /// The connection of the endpoint of this number has ended.
    Shutdown {
        /// The number.
        ep: usize,
    },
    /// The endpoint of this number does not become connected.
    Failed {
        /// The number.
        ep: usize,
        /// Why not.
        error: FiError,
        /// Bytes that came with a rejection.
        data: Vec<u8>,
    },
}

/// A queue of events on connections.
pub struct EventQueue {
    eq: *mut FidEq,
    fd: RawFd,
    fabric: Arc<Fabric>,
    /// Locked while events are read and endpoints are closed, because libfabric forgets the events of an endpoint that it
    /// closes, and another one may get its address.
    endpoints: Mutex<Endpoints>,
}

/// The endpoints of a queue.
#[derive(Default)]
struct Endpoints {
    /// The numbers of those that are open, by their addresses.
    numbers: HashMap<usize, Open>,
    /// The peers whose requests are not answered.
    asking: Vec<SocketAddr>,
    /// Those that listened and cannot be closed yet.
    retired: Vec<Retired>,
}

impl Endpoints {
    /// Closes those that listened and that no stranger can wake any more.
    fn close_retired(&mut self) {
        self.retired.retain(|retired| {
            let stays = retired.strangers.iter().any(listener::Stranger::is_here);
            if !stays {
                // SAFETY: it was taken over by `EventQueue::retire`, whose contract is this.
                unsafe { close_endpoint(retired.pep.cast()) };
            }
            stays
        });
    }
}

/// An open endpoint.
struct Open {
    ep: *mut FidEp,
    number: u64,
}

// SAFETY: libfabric's queues may be used by any thread.
unsafe impl Send for EventQueue {}
// SAFETY: as for Send.
unsafe impl Sync for EventQueue {}

impl EventQueue {
    /// Makes a queue.
    ///
    /// # Errors
    /// What libfabric says.
    pub fn open(fabric: &Arc<Fabric>) -> Result<Arc<EventQueue>, FiError> {
        let mut attr =
            EqAttr { size: 0, flags: 0, wait_obj: FI_WAIT_FD, signaling_vector: 0, wait_set: ptr::null_mut() };
        let mut eq = ptr::null_mut();
        let (attr, place) = (&raw mut attr, &raw mut eq);
        let (result, _) = fabric.descriptors.keep_pairs(|| {
            // SAFETY: an open fabric has its operations, and the places are as they should be.
            unsafe { ((*(*fabric.fabric).ops).eq_open)(fabric.fabric, attr, place, ptr::null_mut()) }
        });
        FiError::check(result as isize)?;
        // SAFETY: it was made with FI_WAIT_FD.
        match unsafe { descriptor(eq.cast()) } {
            Ok(fd) => {
                fabric.descriptors.keep(fd);
                shared(EventQueue { eq, fd, fabric: fabric.clone(), endpoints: Mutex::default() })
            }
            Err(error) => {
                // SAFETY: it is open, and nobody uses it.
                let _ = unsafe { close(eq.cast()) };
                Err(error)
            }
        }
    }

    /// The descriptor that is readable when there may be an event, after [`EventQueue::try_wait`].
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// Whether a thread can sleep on the descriptor now.
    pub fn try_wait(&self) -> bool {
        let mut fid = self.eq.cast();
        // SAFETY: both are open, and the list has one entry.
        unsafe { ((*(*self.fabric.fabric).ops).trywait)(self.fabric.fabric, &raw mut fid, 1) == 0 }
    }

    pub(super) fn fid(&self) -> *mut Fid {
        self.eq.cast()
    }

    pub(super) fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Enters an endpoint, which events name by `number` from now on.
    pub(super) fn enter(&self, ep: *mut FidEp, number: u64) {
        self.endpoints.lock().numbers.insert(ep.addr(), Open { ep, number });
    }

    /// Closes an endpoint; no event names it any more.
    ///
    /// # Safety
    /// It is open, and nobody uses it any more.
    pub(super) unsafe fn close(&self, ep: *mut Fid) {
        let mut endpoints = self.endpoints.lock();
        endpoints.numbers.remove(&ep.addr());
        // SAFETY: as the contract says.
        unsafe { close_endpoint(ep) };
    }

    /// Closes an endpoint that listened at an address, now or when no stranger can wake it any more ([`Retired`]).
    ///
    /// # Safety
    /// As for [`EventQueue::close`].
    unsafe fn retire(&self, pep: *mut FidPep, at: SocketAddr) {
        let mut endpoints = self.endpoints.lock();
        let Endpoints { numbers, asking, retired } = &mut *endpoints;
        let is_known = |peer| asking.contains(&peer) || numbers.values().any(|open| open.peer() == Some(peer));
        let strangers = listener::strangers(at, is_known);
        // Nobody answers them any more.
        strangers.iter().for_each(listener::Stranger::send_away);
        if strangers.is_empty() {
            // SAFETY: as the contract says.
            unsafe { close_endpoint(pep.cast()) };
        } else {
            listener::silence(at);
            retired.push(Retired { pep, strangers });
        }
        endpoints.close_retired();
    }

    /// How many endpoints that listened are kept.
    pub fn retired(&self) -> usize {
        self.endpoints.lock().retired.len()
    }

    /// The next event.
    pub fn next(self: &Arc<Self>) -> Option<CmEvent> {
        let mut endpoints = self.endpoints.lock();
        let event = self.read(&endpoints);
        if let Some(CmEvent::Request { peer: Some(peer), .. }) = &event {
            endpoints.asking.push(*peer);
        }
        endpoints.close_retired();
        event
    }

    fn read(self: &Arc<Self>, endpoints: &Endpoints) -> Option<CmEvent> {
        let number = |fid: *mut Fid| endpoints.numbers.get(&fid.addr()).map(|open| open.number as usize);
        loop {
            let mut entry = EqCmEntry { fid: ptr::null_mut(), info: ptr::null_mut(), data: [0; CM_DATA] };
            let mut event = 0;
            let (place, size) = ((&raw mut entry).cast(), size_of::<EqCmEntry>());
            // SAFETY: an open queue has its operations, and the entry has room for as many bytes as it says.
            let read =
                with_errno_clear(|| unsafe { ((*(*self.eq).ops).read)(self.eq, &raw mut event, place, size, 0) });
            let data = match FiError::check(read) {
                Ok(len) => {
                    let len = len.saturating_sub(std::mem::offset_of!(EqCmEntry, data));
                    entry.data[..len.min(CM_DATA)].to_vec()
                }
                Err(FiError(FI_EAVAIL)) => match self.failed(number) {
                    Some(Some(failed)) => return Some(failed),
                    Some(None) => continue,
                    None => return None,
                },
                Err(_) => return None,
            };
            match event {
                FI_CONNREQ if !entry.info.is_null() => {
                    let info = OwnedInfo(entry.info);
                    let (at, len) = (info.get().dest_addr, info.get().dest_addrlen);
                    // SAFETY: a request has the address of its peer, of this length.
                    let peer = unsafe { read_address(at.cast(), len) };
                    return Some(CmEvent::Request {
                        info: Info { info, peer, events: Arc::downgrade(self) },
                        data,
                        peer,
                        passive: entry.fid.addr(),
                    });
                }
                FI_CONNECTED => match number(entry.fid) {
                    Some(ep) => return Some(CmEvent::Connected { ep, data }),
                    None => continue,
                },
                FI_SHUTDOWN => match number(entry.fid) {
                    Some(ep) => return Some(CmEvent::Shutdown { ep }),
                    None => continue,
                },
                _ => continue,
            }
        }
    }

    /// Reads an event of a failure; `None` if there is none, and nothing inside if it is of no open endpoint.
    fn failed(&self, number: impl Fn(*mut Fid) -> Option<usize>) -> Option<Option<CmEvent>> {
        let mut bytes = [0_u8; CM_DATA];
        let mut entry = EqErrEntry {
            fid: ptr::null_mut(),
            context: ptr::null_mut(),
            data: 0,
            err: 0,
            prov_errno: 0,
            err_data: bytes.as_mut_ptr().cast(),
            err_data_size: bytes.len(),
        };
        // SAFETY: an open queue has its operations, and the entry is one of theirs, with room for bytes.
        let read = unsafe { ((*(*self.eq).ops).readerr)(self.eq, &raw mut entry, 0) };
        if !FiError::check(read).is_ok_and(|len| len > 0) {
            return None;
        }
        let data = if entry.err_data == bytes.as_mut_ptr().cast() {
            bytes[..entry.err_data_size.min(CM_DATA)].to_vec()
        } else {
            Vec::new()
        };
        Some(number(entry.fid).map(|ep| CmEvent::Failed { ep, error: FiError(entry.err), data }))
    }
}

/// Calls `f` with no error of an earlier call around, which libfabric takes for that of a read that has met the end of a
/// connection. With `EAGAIN` it would wait for ever for the rest of a greeting.
fn with_errno_clear<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: it gives a place of this thread.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: only this thread uses the place.
    let before = unsafe { place.replace(0) };
    let result = f();
    // SAFETY: as above.
    unsafe { place.write(before) };
    result
}

impl Open {
    /// The address of the peer, if the endpoint is connected.
    fn peer(&self) -> Option<SocketAddr> {
        let mut bytes = [0_u8; 28];
        let mut len = bytes.len();
        // SAFETY: an open endpoint has its operations, and there is room for any address.
        let result = unsafe { ((*(*self.ep).cm).getpeer)(self.ep, bytes.as_mut_ptr().cast(), &raw mut len) };
        // SAFETY: the bytes are there.
        (result == 0).then(|| unsafe { read_address(bytes.as_ptr(), bytes.len()) }).flatten()
    }
}

/// An endpoint that listened, of a port that is free again. The provider tcp up to 1.17 and beyond asks it what to do with
/// the greeting of a connection that it has accepted, even if it is closed. So it stays until all that it had accepted are
/// gone, but for those that have an endpoint of their own, or until the queue is closed, which handles greetings.
struct Retired {
    pep: *mut FidPep,
    strangers: Vec<listener::Stranger>,
}

/// Closes an endpoint.
///
/// # Safety
/// It is open, and nobody uses it any more.
unsafe fn close_endpoint(ep: *mut Fid) {
    // SAFETY: as the contract says.
    if let Err(error) = unsafe { close(ep) } {
        log::warn!("libfabric does not close an endpoint: {error}");
    }
}

impl Drop for EventQueue {
    fn drop(&mut self) {
        for retired in std::mem::take(&mut self.endpoints.lock().retired) {
            // SAFETY: it is open, and nobody reads events any more.
            unsafe { close_endpoint(retired.pep.cast()) };
        }
        self.fabric.descriptors.forget_all();
        // SAFETY: it is open, and the endpoints that were bound to it are closed, as they keep it alive.
        let _ = unsafe { close(self.eq.cast()) };
    }
}

/// An endpoint that listens.
pub struct Passive {
    pep: *mut FidPep,
    events: Arc<EventQueue>,
    /// Where it listens.
    at: Option<SocketAddr>,
    /// Its socket.
    sockets: Vec<RawFd>,
}

// SAFETY: libfabric's passive endpoints may be used by any thread.
unsafe impl Send for Passive {}
// SAFETY: as for Send.
unsafe impl Sync for Passive {}

impl Passive {
    /// Listens at an address, whose port may be 0; gives the address with its port.
    ///
    /// # Errors
    /// What libfabric says.
    pub fn listen(
        fabric: &Arc<Fabric>,
        events: &Arc<EventQueue>,
        at: SocketAddr,
    ) -> Result<(Passive, SocketAddr), FiError> {
        let mut passive = Passive::silent(fabric, events, at)?;
        let bound = passive.local().unwrap_or(at);
        // SAFETY: an open endpoint has its operations.
        let result = unsafe { ((*(*passive.pep).cm).listen)(passive.pep) };
        FiError::check(result as isize)?;
        passive.at = Some(bound);
        listener::limit_greetings(bound);
        Ok((passive, bound))
    }

    /// An endpoint that does not listen, and can reject all requests.
    ///
    /// # Errors
    /// What libfabric says.
    pub fn silent(fabric: &Arc<Fabric>, events: &Arc<EventQueue>, at: SocketAddr) -> Result<Passive, FiError> {
        let mut info = OwnedInfo::copy(Some(&fabric.info))?;
        info.set_source(at)?;
        let mut pep = ptr::null_mut();
        // SAFETY: an open fabric has its operations; the description is one of this provider.
        let result =
            unsafe { ((*(*fabric.fabric).ops).passive_ep)(fabric.fabric, info.0, &raw mut pep, ptr::null_mut()) };
        FiError::check(result as isize)?;
        let mut passive = Passive { pep, events: events.clone(), at: None, sockets: Vec::new() };
        if let Some(at) = passive.local() {
            passive.sockets = listener::unconnected(at);
            fabric.descriptors.keep_these(&passive.sockets);
        }
        // SAFETY: both are open.
        unsafe { bind(pep.cast(), events.fid(), 0)? };
        Ok(passive)
    }

    /// What names it in events.
    pub fn fid(&self) -> usize {
        self.pep.addr()
    }

    fn local(&self) -> Option<SocketAddr> {
        let mut bytes = [0_u8; 28];
        let mut len = bytes.len();
        // SAFETY: an open endpoint has its operations, and there is room for any address.
        let result = unsafe { ((*(*self.pep).cm).getname)(self.pep.cast(), bytes.as_mut_ptr().cast(), &raw mut len) };
        // SAFETY: the bytes are there.
        (result == 0).then(|| unsafe { read_address(bytes.as_ptr(), bytes.len()) }).flatten()
    }

    /// Rejects a request, with these bytes for the peer.
    pub fn reject(&self, request: Info, data: &[u8]) {
        let handle = request.info.get().handle;
        // SAFETY: an open endpoint has its operations; the request was not answered, and is not used again.
        let result = unsafe { ((*(*self.pep).cm).reject)(self.pep, handle, data.as_ptr().cast(), data.len()) };
        if let Err(error) = FiError::check(result as isize) {
            log::debug!(target: host::diagnostics::CM, "a rejection was not sent: {error}");
        }
    }
}

impl Drop for Passive {
    fn drop(&mut self) {
        self.events.fabric.descriptors.forget(&self.sockets);
        // SAFETY: it is open, and nobody uses it any more.
        unsafe {
            match self.at {
                Some(at) => self.events.retire(self.pep, at),
                None => self.events.close(self.pep.cast()),
            }
        }
    }
}
