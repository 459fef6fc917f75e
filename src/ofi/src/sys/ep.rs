//! Endpoints: one end of a connection of libfabric's.

use std::ffi::c_void;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dat_memory::user::{Source, Target};
use host::lock::Mutex;

use super::abi::{FI_COMPLETION, FI_ENABLE, FI_RECV, FI_SELECTIVE_COMPLETION, FI_TRANSMIT, FiMsg, FidEp};
use super::{Cq, EventQueue, Fabric, FiError, Info, OwnedInfo, Queues, bind, listener, native, read_address, socket};

/// An endpoint.
pub struct Ep {
    ep: *mut FidEp,
    events: Arc<EventQueue>,
    cq: Arc<Cq>,
    /// Its socket, once that is connected.
    socket: Mutex<Option<RawFd>>,
}

// SAFETY: the domain is opened with FI_THREAD_SAFE.
unsafe impl Send for Ep {}
// SAFETY: as for Send.
unsafe impl Sync for Ep {}

/// The most pieces of a message: what the provider tcp takes, which has the fewest.
pub const VECS: usize = 4;

/// What stands for no address in calls of a connected endpoint.
const NO_ADDRESS: u64 = 0;

impl Ep {
    /// An endpoint that connects. Events and completions name it by `number`.
    ///
    /// # Errors
    /// What libfabric says, here and in all other methods.
    pub fn active(fabric: &Arc<Fabric>, events: &Arc<EventQueue>, queues: &Queues, number: u64) -> Result<Ep, FiError> {
        Ep::new(fabric, events, queues, &fabric.info, number)
    }

    /// An endpoint that takes a request.
    ///
    /// # Errors
    /// As for [`Ep::active`]; then the request is as it was, unless its peer has gone.
    pub fn passive(
        fabric: &Arc<Fabric>,
        events: &Arc<EventQueue>,
        queues: &Queues,
        request: &Info,
        number: u64,
    ) -> Result<Ep, FiError> {
        Ep::new(fabric, events, queues, &request.info, number)
    }

    fn new(
        fabric: &Arc<Fabric>,
        events: &Arc<EventQueue>,
        queues: &Queues,
        info: &OwnedInfo,
        number: u64,
    ) -> Result<Ep, FiError> {
        let mut ep = ptr::null_mut::<FidEp>();
        // SAFETY: an open domain has its operations; the description is one of this provider.
        let result = unsafe { ((*(*fabric.domain).ops).endpoint)(fabric.domain, info.0, &raw mut ep, ptr::null_mut()) };
        FiError::check(result as isize)?;
        events.enter(ep, number);
        let cq = match queues.join() {
            Ok(cq) => cq,
            Err(error) => {
                // SAFETY: it is open, and nobody uses it.
                unsafe { events.close(ep.cast()) };
                return Err(error);
            }
        };
        let made = Ep { ep, events: events.clone(), cq: cq.clone(), socket: Mutex::default() };
        // SAFETY: all are open.
        unsafe {
            bind(ep.cast(), events.fid(), 0)?;
            bind(ep.cast(), cq.cq.cast(), FI_TRANSMIT | FI_SELECTIVE_COMPLETION)?;
            bind(ep.cast(), cq.cq.cast(), FI_RECV)?;
            let result = ((*(*ep).fid.ops).control)(ep.cast(), FI_ENABLE, ptr::null_mut());
            FiError::check(result as isize)?;
        }
        Ok(made)
    }

    /// Asks for a connection with these bytes for the peer.
    ///
    /// # Errors
    /// As for [`Ep::active`].
    pub fn connect(&self, to: SocketAddr, data: &[u8]) -> Result<(), FiError> {
        let (address, _) = native(to);
        let bytes = address.native().as_ptr();
        // SAFETY: an open endpoint has its operations; the address and the bytes are copied in the call.
        let result = unsafe { ((*(*self.ep).cm).connect)(self.ep, bytes.cast(), data.as_ptr().cast(), data.len()) };
        self.keep(Some(to), true);
        FiError::check(result as isize).map(|_| ())
    }

    /// Accepts the request that it was made for, with these bytes for the peer.
    ///
    /// # Errors
    /// As for [`Ep::active`].
    pub fn accept(&self, data: &[u8]) -> Result<(), FiError> {
        // SAFETY: an open endpoint has its operations; the bytes are copied in the call.
        let result = unsafe { ((*(*self.ep).cm).accept)(self.ep, data.as_ptr().cast(), data.len()) };
        self.keep(self.peer(), false);
        FiError::check(result as isize).map(|_| ())
    }

    /// Takes care of its socket, whose peer this is.
    fn keep(&self, peer: Option<SocketAddr>, asking: bool) {
        let mut socket = self.socket.lock();
        if let (None, Some(here), Some(peer)) = (*socket, self.local(), peer) {
            *socket = listener::between(here, peer, asking);
            self.cq.keep_these(socket.as_slice());
        }
    }

    /// Has the kernel tell what comes for the connection, which stands, and end it when the host of the peer is gone; false if
    /// nothing can be heard of it.
    pub fn watch(&self) -> bool {
        // The event may be handled before the call that has made the connection returns.
        self.keep(self.peer(), false);
        let socket = *self.socket.lock();
        socket.into_iter().for_each(socket::watch_peer);
        self.cq.fd.is_some() || socket.is_some_and(|socket| self.cq.watch(socket).is_ok())
    }

    /// Whether the host of the peer is gone without a word. To be asked when the connection has ended.
    pub fn is_silent(&self) -> bool {
        self.socket.lock().is_some_and(socket::is_silent)
    }

    /// The address of the peer, if it is connected.
    fn peer(&self) -> Option<SocketAddr> {
        let mut bytes = [0_u8; 28];
        let mut len = bytes.len();
        // SAFETY: an open endpoint has its operations, and there is room for any address.
        let result = unsafe { ((*(*self.ep).cm).getpeer)(self.ep, bytes.as_mut_ptr().cast(), &raw mut len) };
        // SAFETY: the bytes are there.
        (result == 0).then(|| unsafe { read_address(bytes.as_ptr(), bytes.len()) }).flatten()
    }

    /// The address of this end, if it has one already.
    pub fn local(&self) -> Option<SocketAddr> {
        let mut bytes = [0_u8; 28];
        let mut len = bytes.len();
        // SAFETY: an open endpoint has its operations, and there is room for any address.
        let result = unsafe { ((*(*self.ep).cm).getname)(self.ep.cast(), bytes.as_mut_ptr().cast(), &raw mut len) };
        // SAFETY: the bytes are there.
        (result == 0).then(|| unsafe { read_address(bytes.as_ptr(), bytes.len()) }).flatten()
    }

    /// Sends what was posted, as far as the system takes it at once, and ends the connection. From then on libfabric touches no
    /// memory of what was posted.
    pub fn shutdown(&self) {
        self.socket.lock().iter().for_each(|socket| self.cq.unwatch(*socket));
        // SAFETY: an open endpoint has its operations.
        unsafe { ((*(*self.ep).cm).shutdown)(self.ep, 0) };
    }

    /// Receives a message into `len` bytes at `place`.
    ///
    /// # Errors
    /// As for [`Ep::active`].
    ///
    /// # Safety
    /// The bytes stay writable, and nobody looks at them, until the completion has come or the endpoint is closed.
    pub unsafe fn recv(&self, place: *mut u8, len: usize, context: u64) -> Result<(), FiError> {
        let context = ptr::without_provenance_mut(context as usize);
        // SAFETY: an open endpoint has its operations; the memory is as the contract says.
        let result =
            unsafe { ((*(*self.ep).msg).recv)(self.ep, place.cast(), len, ptr::null_mut(), NO_ADDRESS, context) };
        self.cq.note_posted();
        FiError::check(result).map(|_| ())
    }

    /// Sends a message that libfabric copies, of no more than [`Fabric::inject_size`] bytes.
    ///
    /// # Errors
    /// As for [`Ep::active`].
    pub fn inject(&self, bytes: &[u8]) -> Result<(), FiError> {
        // The provider tcp does not check it, and would write behind its buffer.
        if bytes.len() > self.events.fabric().inject_size() {
            return Err(FiError(libc::EMSGSIZE));
        }
        // SAFETY: an open endpoint has its operations; the bytes are copied in the call.
        let result = unsafe { ((*(*self.ep).msg).inject)(self.ep, bytes.as_ptr().cast(), bytes.len(), NO_ADDRESS) };
        FiError::check(result).map(|_| ())
    }

    /// Receives a message into these pieces, no more than [`VECS`].
    ///
    /// # Errors
    /// As for [`Ep::active`].
    ///
    /// # Safety
    /// As for [`Ep::recv`]; a shutdown ends it as well.
    pub unsafe fn recv_into(&self, to: &[Target<'_>], context: u64) -> Result<(), FiError> {
        let message = message(Target::as_vecs(to), Some(context));
        // SAFETY: an open endpoint has its operations; the list is read in the call, the memory is as the contract says.
        let result = unsafe { ((*(*self.ep).msg).recvmsg)(self.ep, &raw const message, FI_COMPLETION) };
        self.cq.note_posted();
        FiError::check(result).map(|_| ())
    }

    /// Sends a message from these pieces, no more than [`VECS`]; with a context, there is a completion of it.
    ///
    /// # Errors
    /// As for [`Ep::active`].
    ///
    /// # Safety
    /// The bytes stay readable until libfabric has sent them, or the endpoint is shut down or closed.
    pub unsafe fn send(&self, from: &[Source<'_>], context: Option<u64>) -> Result<(), FiError> {
        let message = message(Source::as_vecs(from), context);
        let flags = if context.is_some() { FI_COMPLETION } else { 0 };
        // SAFETY: an open endpoint has its operations; the list is read in the call, the memory is as the contract says.
        let result = unsafe { ((*(*self.ep).msg).sendmsg)(self.ep, &raw const message, flags) };
        if context.is_some() {
            self.cq.note_posted();
        }
        FiError::check(result).map(|_| ())
    }
}

/// A message in these pieces.
fn message(pieces: &[libc::iovec], context: Option<u64>) -> FiMsg {
    FiMsg {
        msg_iov: pieces.as_ptr(),
        desc: ptr::null_mut(),
        iov_count: pieces.len(),
        addr: NO_ADDRESS,
        context: context.map_or(ptr::null_mut::<c_void>(), |context| ptr::without_provenance_mut(context as usize)),
        data: 0,
    }
}

impl Drop for Ep {
    fn drop(&mut self) {
        let socket = *self.socket.lock();
        socket.iter().for_each(|socket| self.cq.unwatch(*socket));
        self.cq.forget(socket.as_slice());
        self.cq.endpoints.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { self.events.close(self.ep.cast()) };
    }
}
