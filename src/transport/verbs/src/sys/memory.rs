//! Protection zones, registered memory, memory windows.

use std::ffi::c_int;
use std::io;
use std::ptr;
use std::sync::Arc;

use host::memory;
use rdma_sys::*;

use super::Owned;
use super::device::Context;

/// A protection zone.
pub type Pd = Owned<ibv_pd, Arc<Context>>;
/// Registered memory. Local segments name it by its `lkey`, peers by its `rkey`.
pub type Mr = Owned<ibv_mr, Arc<Pd>>;
/// A memory window. Peers name it by its `rkey` after the last bind that was posted. A bind alone changes the field, under
/// the caller's lock.
pub type Mw = Owned<ibv_mw, Arc<Pd>>;
/// The permitted uses of registered memory: a set of the `IBV_ACCESS_*` bits.
pub type Access = c_int;

impl Pd {
    /// Makes a zone.
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let pd = Owned::made(context.clone(), |context| unsafe { ibv_alloc_pd(context.as_ptr()) })?;
        Ok(memory::arc(pd)?)
    }
}

impl Mr {
    /// Registers `len` bytes at `addr`. The kernel checks that they exist; the program, which registers them, promises
    /// that they may be used.
    pub fn new(pd: &Arc<Pd>, addr: u64, len: usize, access: Access) -> io::Result<Self> {
        // SAFETY: the kernel pins the pages or refuses; no memory is touched here.
        Owned::made(pd.clone(), |pd| unsafe { ibv_reg_mr(pd.as_ptr(), addr as *mut _, len, access) })
    }
}

impl Mw {
    /// Makes an unbound window. One of type 1 can be bound by any queue pair of its zone, any number of times, and all of
    /// them serve it. One of type 2 is bound once; the queue pair that binds it alone serves it, and is destroyed later.
    pub fn new(pd: &Arc<Pd>, kind: ibv_mw_type::Type) -> io::Result<Self> {
        // SAFETY: a live zone.
        Owned::made(pd.clone(), |pd| unsafe { ibv_alloc_mw(pd.as_ptr(), kind) }.unwrap_or(ptr::null_mut()))
    }

    /// A key for the one bind of a new window that serves one queue pair.
    pub fn next_key(&self) -> u32 {
        self.rkey & !0xff | u32::from((self.rkey as u8).wrapping_add(1))
    }
}
