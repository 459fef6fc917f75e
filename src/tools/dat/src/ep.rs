//! Endpoints and shared receive queues.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use dat_udat20::*;
use socket2::SockAddr;

use crate::abi::{Own, by_version, short};
use crate::evd::microseconds;
use crate::object::{Object, object};
use crate::{Attributes, Cno, EpId, Evd, Ia, Pz, Remote, Result, Segment};

/// The dispatchers of an endpoint.
pub struct Evds {
    /// Receives.
    pub recv: Evd,
    /// Sends and RDMA operations.
    pub request: Evd,
    /// Events of the connection.
    pub connect: Evd,
}

impl Evds {
    /// Creates dispatchers for up to `lengths` queued events, in the order of the fields. Events trigger `cno`.
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

macro_rules! post {
    ($object:ident, $call:ident, $segment:ident, $cookie:ident $(, $remote:ident)? $(; $flags:ident)?) => {{
        let (library, cookie) = ($object.library(), DAT_DTO_COOKIE { as_64: $cookie });
        // SAFETY: the object is live, and the call reads one local segment, and one remote segment if it has the
        // argument.
        let code = unsafe {
            by_version!(library, |calls, udat| (calls.$call)(
                $object.raw(), 1, &mut $segment.into(), cookie $(, &$remote.into())? $(, $flags)?
            ))
        };
        library.check(stringify!($call), code)
    }};
}

impl Ep {
    /// Creates an endpoint for transfers of one segment of up to `largest` bytes. `counts` has the maximum number of
    /// posted receives (without effect with `srq`), then of posted sends and RDMA operations.
    pub fn new(
        pz: &Pz,
        evds: &Evds,
        srq: Option<&Srq>,
        adapter: &Attributes,
        largest: u64,
        counts: [usize; 2],
    ) -> Result<Self> {
        let (ia, calls) = (pz.ia(), pz.ia().library().calls());
        let objects = [&evds.recv, &evds.request, &evds.connect];
        let [recv, request, connect] = objects.map(|evd| evd.raw());
        let uses = objects.map(|evd| &evd.0).into_iter().chain(srq.map(|srq| &srq.0)).chain([&pz.0]);
        let name = if srq.is_none() { "dat_ep_create" } else { "dat_ep_create_with_srq" };
        let [receives, requests] = counts.map(|count| DAT_COUNT::try_from(count).unwrap_or(DAT_COUNT::MAX));
        // With an SRQ, only the length of the SRQ limits the posted receives.
        let receives = if srq.is_some() { DAT_HW_DEFAULT } else { receives };
        Object::new(ia, name, calls.common.dat_ep_free, uses.cloned().collect(), |handle| {
            let (ia, pz) = (ia.raw(), pz.raw());
            // Creates the endpoint with the types of the crate `$udat`. `$length` converts a length to its type there.
            macro_rules! create {
                ($calls:ident, $udat:ident, $length:expr) => {
                    // SAFETY: all objects are live, the attributes are local and may be zeros, and the caller provides
                    // the handle's place.
                    unsafe {
                        let mut attr = $udat::DAT_EP_ATTR {
                            service_type: DAT_SERVICE_TYPE_RC,
                            max_message_size: $length(largest),
                            max_rdma_size: $length(largest),
                            qos: DAT_QOS_BEST_EFFORT,
                            recv_completion_flags: DAT_COMPLETION_DEFAULT_FLAG,
                            request_completion_flags: DAT_COMPLETION_DEFAULT_FLAG,
                            max_recv_dtos: receives,
                            max_request_dtos: requests,
                            max_recv_iov: 1,
                            max_request_iov: 1,
                            max_rdma_read_in: requests.min(adapter.ia.max_rdma_read_per_ep_in),
                            max_rdma_read_out: requests.min(adapter.ia.max_rdma_read_per_ep_out),
                            srq_soft_hw: DAT_HW_DEFAULT,
                            max_rdma_read_iov: 1,
                            max_rdma_write_iov: 1,
                            // No attributes that are specific to a transport or provider.
                            ..std::mem::zeroed()
                        };
                        match srq {
                            None => ($calls.dat_ep_create)(ia, pz, recv, request, connect, &mut attr, handle),
                            Some(srq) => {
                                let (create, srq) = ($calls.dat_ep_create_with_srq, srq.raw());
                                create(ia, pz, recv, request, connect, srq, &mut attr, handle)
                            }
                        }
                    }
                };
            }
            match &calls.own {
                Own::V12(calls) => create!(calls, dat_udat12, u64::from),
                Own::V20(calls) => create!(calls, dat_udat20, short),
            }
        })
        .map(Self)
    }

    /// Returns the identity of the endpoint in events.
    #[inline(always)]
    pub fn id(&self) -> EpId {
        EpId::of(self.raw())
    }

    /// Starts to connect to connection qualifier `qualifier` of `host`. An event reports the outcome within `timeout`.
    pub fn connect(&self, host: IpAddr, qualifier: u64, timeout: Duration, private_data: &[u8]) -> Result<()> {
        let host = SockAddr::from(SocketAddr::new(host, 0));
        // SAFETY: the endpoint is live; the call reads the address and the private data before it returns.
        let code = unsafe {
            (self.library().calls().common.dat_ep_connect)(
                self.raw(),
                host.as_ptr().cast::<DAT_SOCK_ADDR>().cast_mut(),
                qualifier,
                microseconds(timeout),
                private_data.len() as DAT_COUNT,
                private_data.as_ptr().cast_mut().cast(),
                DAT_QOS_BEST_EFFORT,
                DAT_CONNECT_DEFAULT_FLAG,
            )
        };
        self.library().check("dat_ep_connect", code)
    }

    /// Starts to disconnect, with `DAT_CLOSE_GRACEFUL_FLAG` or `DAT_CLOSE_ABRUPT_FLAG`. An event reports the end.
    pub fn disconnect(&self, flags: DAT_CLOSE_FLAGS) -> Result<()> {
        // SAFETY: the endpoint is live.
        let code = unsafe { (self.library().calls().common.dat_ep_disconnect)(self.raw(), flags) };
        self.library().check("dat_ep_disconnect", code)
    }

    /// Posts a receive.
    #[inline(always)]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_recv, segment, cookie; DAT_COMPLETION_DEFAULT_FLAG)
    }

    /// Posts a send.
    #[inline(always)]
    pub fn post_send(&self, segment: Segment, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_send, segment, cookie; DAT_COMPLETION_DEFAULT_FLAG)
    }

    /// Posts an RDMA write to the beginning of `remote`.
    #[inline(always)]
    pub fn post_rdma_write(&self, segment: Segment, remote: Remote, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_rdma_write, segment, cookie, remote; DAT_COMPLETION_DEFAULT_FLAG)
    }

    /// Posts an RDMA read of `remote` into a segment of the same length.
    #[inline(always)]
    pub fn post_rdma_read(&self, segment: Segment, remote: Remote, cookie: u64) -> Result<()> {
        post!(self, dat_ep_post_rdma_read, segment, cookie, remote; DAT_COMPLETION_DEFAULT_FLAG)
    }
}

object! {
    /// A shared receive queue: receive buffers for several endpoints.
    Srq
}

impl Srq {
    /// Creates a queue for `buffers` receives of one segment.
    pub fn new(pz: &Pz, buffers: usize) -> Result<Self> {
        let mut attr = DAT_SRQ_ATTR {
            max_recv_dtos: DAT_COUNT::try_from(buffers).unwrap_or(DAT_COUNT::MAX),
            max_recv_iov: 1,
            low_watermark: DAT_SRQ_LW_DEFAULT,
        };
        let (ia, calls) = (pz.ia(), &pz.ia().library().calls().common);
        // SAFETY: adapter and zone are live, the attributes are local, and the caller provides the handle's place.
        let create = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_srq_create)(ia.raw(), pz.raw(), &mut attr, handle) };
        Object::new(ia, "dat_srq_create", calls.dat_srq_free, vec![pz.0.clone()], create).map(Self)
    }

    /// Posts a receive for any endpoint of the queue.
    #[inline(always)]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        post!(self, dat_srq_post_recv, segment, cookie)
    }
}
