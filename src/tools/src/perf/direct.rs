//! Objects as the measuring loop calls them: the handle beside the functions, which from the object itself are some loads
//! away that would be measured too.

use std::mem::MaybeUninit;

use dat_udat12::*;

use crate::dat::library::Calls;
use crate::dat::{Library, Segment};

/// An event dispatcher or a shared receive queue. The object behind it must outlive it.
#[derive(Clone, Copy)]
pub struct Direct {
    calls: &'static Calls,
    handle: DAT_HANDLE,
}

impl Direct {
    /// For an object of the library.
    pub fn new(library: Library, handle: DAT_HANDLE) -> Self {
        Self { calls: library.calls(), handle }
    }

    /// As dat_evd_dequeue; the structure is written on `DAT_SUCCESS`.
    #[inline(always)]
    pub fn dequeue(self, event: &mut MaybeUninit<DAT_EVENT>) -> DAT_RETURN {
        // SAFETY: the place is the caller's, and the library checks the handle.
        unsafe { (self.calls.dat_evd_dequeue)(self.handle, event.as_mut_ptr()) }
    }

    /// As dat_evd_wait; the structure is written on `DAT_SUCCESS`.
    #[inline(always)]
    pub fn wait(self, timeout: DAT_TIMEOUT, event: &mut MaybeUninit<DAT_EVENT>) -> DAT_RETURN {
        let mut more = 0;
        // SAFETY: both places are the caller's and this function's own, and the library checks the handle.
        unsafe { (self.calls.dat_evd_wait)(self.handle, timeout, 1, event.as_mut_ptr(), &mut more) }
    }

    /// As dat_srq_post_recv, of one segment.
    #[inline(always)]
    pub fn post_recv(self, segment: Segment, cookie: u64) -> DAT_RETURN {
        let mut iov = segment.triplet();
        // SAFETY: there is one segment, which the call reads, and the library checks the handle.
        unsafe { (self.calls.dat_srq_post_recv)(self.handle, 1, &mut iov, DAT_DTO_COOKIE { as_64: cookie }) }
    }
}
