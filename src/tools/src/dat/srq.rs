//! Shared receive queues.

use std::sync::Arc;

use dat_udat12::*;

use super::error::Result;
use super::{Handle, Ia, Pz, Segment};

/// A shared receive queue: receive buffers for several endpoints.
#[derive(Clone, Debug)]
pub struct Srq(Arc<SrqInner>);

#[derive(Debug)]
struct SrqInner {
    handle: Handle,
    pz: Pz,
}

impl Srq {
    /// Makes a queue for buffers of one segment each.
    ///
    /// # Errors
    /// As dat_srq_create.
    pub fn new(pz: &Pz, buffers: usize) -> Result<Self> {
        let mut attr = DAT_SRQ_ATTR {
            max_recv_dtos: DAT_COUNT::try_from(buffers).unwrap_or(DAT_COUNT::MAX),
            max_recv_iov: 1,
            low_watermark: DAT_SRQ_LW_DEFAULT,
        };
        let mut handle = Handle::NULL;
        let ia = pz.ia();
        // SAFETY: adapter and zone are there, and both places are this function's own.
        let code = unsafe { (ia.library().calls().dat_srq_create)(ia.raw(), pz.raw(), &mut attr, &mut handle.0) };
        ia.library().check("dat_srq_create", code)?;
        Ok(Self(Arc::new(SrqInner { handle, pz: pz.clone() })))
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_SRQ_HANDLE {
        self.0.handle.0
    }

    /// Posts a buffer.
    ///
    /// # Errors
    /// As dat_srq_post_recv.
    #[inline]
    pub fn post_recv(&self, segment: Segment, cookie: u64) -> Result<()> {
        let library = self.ia().library();
        let mut iov = segment.0;
        // SAFETY: there is one segment, which the call reads.
        let code =
            unsafe { (library.calls().dat_srq_post_recv)(self.raw(), 1, &mut iov, DAT_DTO_COOKIE { as_64: cookie }) };
        library.check("dat_srq_post_recv", code)
    }

    /// Its attributes and counters.
    ///
    /// # Errors
    /// As dat_srq_query.
    pub fn query(&self) -> Result<DAT_SRQ_PARAM> {
        let library = self.ia().library();
        let mut param = std::mem::MaybeUninit::<DAT_SRQ_PARAM>::zeroed();
        // SAFETY: the structure is this function's own.
        let code = unsafe { (library.calls().dat_srq_query)(self.raw(), DAT_SRQ_FIELD_ALL, param.as_mut_ptr()) };
        library.check("dat_srq_query", code)?;
        // SAFETY: the structure is of numbers and pointers, for which zeros are valid, and what the call filled.
        Ok(unsafe { param.assume_init() })
    }

    fn ia(&self) -> &Ia {
        self.0.pz.ia()
    }
}

impl Drop for SrqInner {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a queue, of which this was the last owner.
        unsafe { (self.pz.ia().library().calls().dat_srq_free)(self.handle.0) };
    }
}
