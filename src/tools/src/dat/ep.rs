//! Endpoints.

use std::net::IpAddr;
use std::time::Duration;

use dat_udat12::*;

use super::address::Native;
use super::error::Result;
use super::evd::timeout;
use super::{Attributes, Evd, Handle, Library, Pz, Remote, Segment, Srq};

/// The dispatchers of an endpoint.
#[derive(Clone, Debug)]
pub struct Evds {
    /// For the messages that it receives.
    pub recv: Evd,
    /// For its sends and RDMA operations.
    pub request: Evd,
    /// For its connection.
    pub connect: Evd,
}

/// An endpoint: one end of a connection.
#[derive(Debug)]
pub struct Ep {
    handle: Handle,
    library: Library,
    // What it uses stays until it is freed.
    _evds: Evds,
    _srq: Option<Srq>,
    _pz: Pz,
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

impl Ep {
    /// Makes an endpoint.
    ///
    /// # Parameters
    /// * `srq` - the queue that it takes its receive buffers from.
    /// * `attr` - its attributes, such as [`attributes`] makes.
    ///
    /// # Errors
    /// As dat_ep_create and dat_ep_create_with_srq.
    pub fn new(pz: &Pz, evds: &Evds, srq: Option<&Srq>, attr: &DAT_EP_ATTR) -> Result<Self> {
        let ia = pz.ia();
        let library = ia.library();
        let mut handle = Handle::NULL;
        let mut attr = *attr;
        let [recv, request, connect] = [&evds.recv, &evds.request, &evds.connect].map(Evd::raw);
        match srq {
            // SAFETY: all objects are there, and the places are this function's own.
            None => library.check("dat_ep_create", unsafe {
                (library.calls().dat_ep_create)(ia.raw(), pz.raw(), recv, request, connect, &mut attr, &mut handle.0)
            }),
            Some(srq) => {
                // The number of buffers that one endpoint may take at a time; the queue itself is the limit.
                attr.max_recv_dtos = DAT_HW_DEFAULT;
                // SAFETY: as above.
                library.check("dat_ep_create_with_srq", unsafe {
                    (library.calls().dat_ep_create_with_srq)(
                        ia.raw(),
                        pz.raw(),
                        recv,
                        request,
                        connect,
                        srq.raw(),
                        &mut attr,
                        &mut handle.0,
                    )
                })
            }
        }?;
        Ok(Self { handle, library, _evds: evds.clone(), _srq: srq.cloned(), _pz: pz.clone() })
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_EP_HANDLE {
        self.handle.0
    }

    /// Begins to connect; an event tells the outcome.
    ///
    /// # Parameters
    /// * `host` - the address of the peer.
    /// * `qualifier` - the number on which it listens.
    /// * `longest` - how long the attempt may take.
    /// * `private_data` - bytes for the peer.
    ///
    /// # Errors
    /// As dat_ep_connect.
    pub fn connect(&self, host: IpAddr, qualifier: u64, longest: Duration, private_data: &[u8]) -> Result<()> {
        let host = Native::of(host);
        // SAFETY: the address and the private data are read by the call alone, before it returns.
        let code = unsafe {
            (self.library.calls().dat_ep_connect)(
                self.raw(),
                host.as_ptr(),
                qualifier,
                timeout(longest),
                private_data.len() as DAT_COUNT,
                private_data.as_ptr().cast_mut().cast(),
                DAT_QOS_BEST_EFFORT,
                DAT_CONNECT_DEFAULT_FLAG,
            )
        };
        self.library.check("dat_ep_connect", code)
    }

    /// Begins to end the connection; an event tells when it has.
    ///
    /// # Errors
    /// As dat_ep_disconnect.
    pub fn disconnect(&self, how: DAT_CLOSE_FLAGS) -> Result<()> {
        // SAFETY: the handle is that of an endpoint.
        self.library.check("dat_ep_disconnect", unsafe { (self.library.calls().dat_ep_disconnect)(self.raw(), how) })
    }

    /// Posts a receive.
    ///
    /// # Errors
    /// As dat_ep_post_recv.
    #[inline]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        let mut iov = segment.0;
        // SAFETY: there is one segment, which the call reads.
        let code = unsafe {
            (self.library.calls().dat_ep_post_recv)(
                self.raw(),
                1,
                &mut iov,
                DAT_DTO_COOKIE { as_64: cookie },
                DAT_COMPLETION_DEFAULT_FLAG,
            )
        };
        self.library.check("dat_ep_post_recv", code)
    }

    /// Posts a send.
    ///
    /// # Errors
    /// As dat_ep_post_send.
    #[inline]
    pub fn post_send(&self, segment: Segment, cookie: u64, flags: DAT_COMPLETION_FLAGS) -> Result<()> {
        let mut iov = segment.0;
        // SAFETY: there is one segment, which the call reads.
        let code = unsafe {
            (self.library.calls().dat_ep_post_send)(self.raw(), 1, &mut iov, DAT_DTO_COOKIE { as_64: cookie }, flags)
        };
        self.library.check("dat_ep_post_send", code)
    }

    /// Posts an RDMA write of a segment to the first bytes of `remote`.
    ///
    /// # Errors
    /// As dat_ep_post_rdma_write.
    #[inline]
    pub fn post_rdma_write(
        &self,
        segment: Segment,
        remote: Remote,
        cookie: u64,
        flags: DAT_COMPLETION_FLAGS,
    ) -> Result<()> {
        let (mut iov, remote) = (segment.0, triplet(remote));
        // SAFETY: there is one segment on either side, which the call reads.
        let code = unsafe {
            (self.library.calls().dat_ep_post_rdma_write)(
                self.raw(),
                1,
                &mut iov,
                DAT_DTO_COOKIE { as_64: cookie },
                &remote,
                flags,
            )
        };
        self.library.check("dat_ep_post_rdma_write", code)
    }

    /// Posts an RDMA read of `remote` into a segment of the same length.
    ///
    /// # Errors
    /// As dat_ep_post_rdma_read.
    #[inline]
    pub fn post_rdma_read(
        &self,
        segment: Segment,
        remote: Remote,
        cookie: u64,
        flags: DAT_COMPLETION_FLAGS,
    ) -> Result<()> {
        let (mut iov, remote) = (segment.0, triplet(remote));
        // SAFETY: there is one segment on either side, which the call reads.
        let code = unsafe {
            (self.library.calls().dat_ep_post_rdma_read)(
                self.raw(),
                1,
                &mut iov,
                DAT_DTO_COOKIE { as_64: cookie },
                &remote,
                flags,
            )
        };
        self.library.check("dat_ep_post_rdma_read", code)
    }

    /// Its state, attributes and addresses.
    ///
    /// # Errors
    /// As dat_ep_query.
    pub fn query(&self) -> Result<Box<DAT_EP_PARAM>> {
        let mut param = Box::new(std::mem::MaybeUninit::<DAT_EP_PARAM>::zeroed());
        // SAFETY: the structure is this function's own.
        let code = unsafe { (self.library.calls().dat_ep_query)(self.raw(), DAT_EP_FIELD_ALL, param.as_mut_ptr()) };
        self.library.check("dat_ep_query", code)?;
        // SAFETY: the structure is of numbers and pointers, for which zeros are valid, and what the call filled.
        Ok(unsafe { param.assume_init() })
    }
}

impl Drop for Ep {
    fn drop(&mut self) {
        // SAFETY: the handle is that of an endpoint, which nobody else owns.
        unsafe { (self.library.calls().dat_ep_free)(self.handle.0) };
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
