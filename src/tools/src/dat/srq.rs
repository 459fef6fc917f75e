//! Shared receive queues.

use std::sync::Arc;

use dat_udat12::*;

use super::error::Result;
use super::object::Object;
use super::{Pz, Segment};

/// A shared receive queue: receive buffers for several endpoints.
#[derive(Clone, Debug)]
pub struct Srq(Arc<SrqInner>);

#[derive(Debug)]
struct SrqInner {
    object: Object,
    _pz: Pz,
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
        let object = Object::new(ia, "dat_srq_create", calls.dat_srq_free, make)?;
        Ok(Self(Arc::new(SrqInner { object, _pz: pz.clone() })))
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_SRQ_HANDLE {
        self.0.object.raw()
    }

    /// Posts a buffer.
    #[inline]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        let library = self.0.object.library();
        let mut iov = segment.0;
        // SAFETY: there is one segment, which the call reads.
        let code =
            unsafe { (library.calls().dat_srq_post_recv)(self.raw(), 1, &mut iov, DAT_DTO_COOKIE { as_64: cookie }) };
        library.check("dat_srq_post_recv", code)
    }
}
