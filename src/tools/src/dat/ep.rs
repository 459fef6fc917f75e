//! Endpoints and shared receive queues.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::Result;
use dat_udat12::*;
use socket2::SockAddr;

use super::evd::timeout;
use super::object::{Object, object};
use super::{Attributes, Cno, Evd, Ia, Pz, Remote, Segment};

/// The dispatchers of an endpoint.
#[derive(Clone)]
pub struct Evds {
    /// For the messages that it receives.
    pub recv: Evd,
    /// For its sends and RDMA operations.
    pub request: Evd,
    /// For its connection.
    pub connect: Evd,
}

impl Evds {
    /// Makes the dispatchers.
    ///
    /// # Parameters
    /// * `lengths` - events that each of them can hold, in the order of the fields.
    /// * `cno` - the notification object that events trigger.
    pub fn new(ia: &Ia, lengths: [usize; 3], cno: Option<&Cno>) -> Result<Self> {
        let [recv, request, connect] = lengths;
        Ok(Self {
            recv: Evd::new(ia, recv, DAT_EVD_DTO_FLAG, cno)?,
            request: Evd::new(ia, request, DAT_EVD_DTO_FLAG, cno)?,
            connect: Evd::new(ia, connect, DAT_EVD_CONNECTION_FLAG, cno)?,
        })
    }
}

object! {
    /// An endpoint: one end of a connection.
    Ep
}

/// The attributes of an endpoint whose transfers have one segment each.
///
/// # Parameters
/// * `adapter` - what the adapter can do.
/// * `largest` - bytes of the longest transfer.
/// * `receives` - receives that may be posted at a time; of no matter with a shared receive queue.
/// * `requests` - sends and RDMA operations that may be posted at a time.
pub fn attributes(adapter: &Attributes, largest: u64, receives: usize, requests: usize) -> DAT_EP_ATTR {
    let count = |count: usize| DAT_COUNT::try_from(count).unwrap_or(DAT_COUNT::MAX);
    DAT_EP_ATTR {
        service_type: DAT_SERVICE_TYPE_RC,
        max_message_size: largest,
        max_rdma_size: largest,
        qos: DAT_QOS_BEST_EFFORT,
        recv_completion_flags: DAT_COMPLETION_DEFAULT_FLAG,
        request_completion_flags: DAT_COMPLETION_DEFAULT_FLAG,
        max_recv_dtos: count(receives),
        max_request_dtos: count(requests),
        max_recv_iov: 1,
        max_request_iov: 1,
        max_rdma_read_in: count(requests).min(adapter.ia.max_rdma_read_per_ep_in),
        max_rdma_read_out: count(requests).min(adapter.ia.max_rdma_read_per_ep_out),
        srq_soft_hw: DAT_HW_DEFAULT,
        max_rdma_read_iov: 1,
        max_rdma_write_iov: 1,
        ep_transport_specific_count: 0,
        ep_transport_specific: std::ptr::null_mut(),
        ep_provider_specific_count: 0,
        ep_provider_specific: std::ptr::null_mut(),
    }
}

/// A post of one segment, whose completion is an ordinary one.
macro_rules! post {
    ($ep:ident, $call:ident, $segment:ident, $cookie:ident $(, $remote:expr)?) => {{
        let (library, mut iov) = ($ep.library(), $segment.0);
        let cookie = DAT_DTO_COOKIE { as_64: $cookie };
        // SAFETY: there is one segment on either side, which the call reads.
        let code = unsafe {
            (library.calls().$call)($ep.raw(), 1, &mut iov, cookie, $($remote,)? DAT_COMPLETION_DEFAULT_FLAG)
        };
        library.check(stringify!($call), code)
    }};
}

impl Ep {
    /// Makes an endpoint.
    ///
    /// # Parameters
    /// * `srq` - the queue that it takes its receive buffers from.
    /// * `attr` - its attributes, such as [`attributes`] makes.
    pub fn new(pz: &Pz, evds: &Evds, srq: Option<&Srq>, attr: &DAT_EP_ATTR) -> Result<Self> {
        let (ia, calls) = (pz.ia(), pz.ia().library().calls());
        let mut attr = *attr;
        let of_events = [&evds.recv, &evds.request, &evds.connect];
        let [recv, request, connect] = of_events.map(|evd| evd.raw());
        let uses = of_events.map(|evd| &evd.0).into_iter().chain(srq.map(|srq| &srq.0)).chain([&pz.0]);
        let name = if srq.is_none() { "dat_ep_create" } else { "dat_ep_create_with_srq" };
        Object::new(ia, name, calls.dat_ep_free, uses.cloned().collect(), |handle| {
            let (ia, pz) = (ia.raw(), pz.raw());
            // SAFETY: all objects are there, and the places are this function's and the object's own.
            unsafe {
                match srq.map(|srq| srq.raw()) {
                    None => (calls.dat_ep_create)(ia, pz, recv, request, connect, &mut attr, handle),
                    Some(srq) => {
                        // The number of buffers that one endpoint may take at a time; the queue itself is the limit.
                        attr.max_recv_dtos = DAT_HW_DEFAULT;
                        (calls.dat_ep_create_with_srq)(ia, pz, recv, request, connect, srq, &mut attr, handle)
                    }
                }
            }
        })
        .map(Self)
    }

    /// Begins to connect; an event has the outcome.
    ///
    /// # Parameters
    /// * `host` - the address of the peer.
    /// * `qualifier` - the number on which it listens.
    /// * `longest` - how long the attempt may take.
    /// * `private_data` - bytes for the peer.
    pub fn connect(&self, host: IpAddr, qualifier: u64, longest: Duration, private_data: &[u8]) -> Result<()> {
        // The calls take a qualifier, and no port.
        let host = SockAddr::from(SocketAddr::new(host, 0));
        // SAFETY: the address and the private data are read by the call alone, before it returns.
        let code = unsafe {
            (self.library().calls().dat_ep_connect)(
                self.raw(),
                host.as_ptr().cast::<DAT_SOCK_ADDR>().cast_mut(),
                qualifier,
                timeout(longest),
                private_data.len() as DAT_COUNT,
                private_data.as_ptr().cast_mut().cast(),
                DAT_QOS_BEST_EFFORT,
                DAT_CONNECT_DEFAULT_FLAG,
            )
        };
        self.library().check("dat_ep_connect", code)
    }

    /// Begins to disconnect; an event follows.
    pub fn disconnect(&self, how: DAT_CLOSE_FLAGS) -> Result<()> {
        // SAFETY: the handle is that of an endpoint.
        let code = unsafe { (self.library().calls().dat_ep_disconnect)(self.raw(), how) };
        self.library().check("dat_ep_disconnect", code)
    }

    #[inline]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_recv, segment, cookie)
    }

    #[inline]
    pub fn post_send(&self, segment: Segment, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_send, segment, cookie)
    }

    /// Posts an RDMA write of a segment to the first bytes of `remote`.
    #[inline]
    pub fn post_rdma_write(&self, segment: Segment, remote: Remote, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_rdma_write, segment, cookie, &triplet(remote))
    }

    /// Posts an RDMA read of `remote` into a segment of the same length.
    #[inline]
    pub fn post_rdma_read(&self, segment: Segment, remote: Remote, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_rdma_read, segment, cookie, &triplet(remote))
    }
}

#[inline(always)]
fn triplet(remote: Remote) -> DAT_RMR_TRIPLET {
    DAT_RMR_TRIPLET {
        rmr_context: remote.context,
        pad: 0,
        target_address: remote.address,
        segment_length: remote.length,
    }
}

object! {
    /// A shared receive queue: receive buffers for several endpoints.
    Srq
}

impl Srq {
    /// Makes a queue for buffers of one segment each.
    pub fn new(pz: &Pz, buffers: usize) -> Result<Self> {
        let mut attr = DAT_SRQ_ATTR {
            max_recv_dtos: DAT_COUNT::try_from(buffers).unwrap_or(DAT_COUNT::MAX),
            max_recv_iov: 1,
            low_watermark: DAT_SRQ_LW_DEFAULT,
        };
        let (ia, calls) = (pz.ia(), pz.ia().library().calls());
        // SAFETY: adapter and zone are there, and both places are this function's and the object's own.
        let make = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_srq_create)(ia.raw(), pz.raw(), &mut attr, handle) };
        Object::new(ia, "dat_srq_create", calls.dat_srq_free, vec![pz.0.clone()], make).map(Self)
    }

    #[inline]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        let (mut iov, cookie) = (segment.0, DAT_DTO_COOKIE { as_64: cookie });
        // SAFETY: there is one segment, which the call reads.
        let code = unsafe { (self.library().calls().dat_srq_post_recv)(self.raw(), 1, &mut iov, cookie) };
        self.library().check("dat_srq_post_recv", code)
    }
}
