//! Protection zones, registered memory, memory windows.

use std::ffi::c_int;
use std::io;
use std::sync::Arc;

use host::memory;
use rdma_sys::*;

use super::Owned;
use super::device::Context;

pub struct Pd {
    pub(super) raw: Owned<ibv_pd>,
    /// Kept open as long as the zone exists.
    _context: Arc<Context>,
}

impl Pd {
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let raw = Owned::made(|| unsafe { ibv_alloc_pd(context.raw.as_ptr()) })?;
        Ok(memory::arc(Pd { raw, _context: context.clone() })?)
    }
}

/// The permitted uses of registered memory: a set of the `IBV_ACCESS_*` bits.
pub type Access = c_int;

pub struct Mr {
    pub(super) raw: Owned<ibv_mr>,
    _pd: Arc<Pd>,
}

impl Mr {
    /// Registers `len` bytes at `addr`. The kernel checks that they exist; the program, which registers them, promises
    /// that they may be used.
    pub fn new(pd: &Arc<Pd>, addr: u64, len: usize, access: Access) -> io::Result<Self> {
        // SAFETY: the kernel pins the pages or refuses; no memory is touched here.
        let raw = Owned::made(|| unsafe { ibv_reg_mr(pd.raw.as_ptr(), addr as *mut _, len, access) })?;
        Ok(Mr { raw, _pd: pd.clone() })
    }

    /// Names the memory in local segments.
    pub fn lkey(&self) -> u32 {
        self.raw.lkey
    }

    /// Names the memory to peers.
    pub fn rkey(&self) -> u32 {
        self.raw.rkey
    }
}

pub struct Mw {
    pub(super) raw: Owned<ibv_mw>,
    _pd: Arc<Pd>,
}

impl Mw {
    /// Makes an unbound window. One of type 1 can be bound by any queue pair of its zone, any number of times, and all of
    /// them serve it. One of type 2 is bound once; the queue pair that binds it alone serves it, and is destroyed later.
    pub fn new(pd: &Arc<Pd>, kind: ibv_mw_type::Type) -> io::Result<Self> {
        // SAFETY: a live zone.
        let alloc = || unsafe { ibv_alloc_mw(pd.raw.as_ptr(), kind) };
        let raw = Owned::made(|| alloc().unwrap_or(std::ptr::null_mut()))?;
        Ok(Mw { raw, _pd: pd.clone() })
    }

    /// The key by which peers name it after the last bind that was posted.
    pub fn rkey(&self) -> u32 {
        // A bind alone changes the field, under the caller's lock.
        self.raw.rkey
    }

    /// A key for the one bind of a new window that serves one queue pair.
    pub fn next_key(&self) -> u32 {
        let key = self.rkey();
        key & !0xff | u32::from((key as u8).wrapping_add(1))
    }
}
