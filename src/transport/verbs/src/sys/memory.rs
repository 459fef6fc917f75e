//! Protection zones, registered memory, memory windows.

use std::ffi::c_int;
use std::io;
use std::ptr;
use std::sync::Arc;

use dat_core::Rights;
use host::memory;
use rdma_sys::*;

use super::Owned;
use super::device::Context;

pub type Pd = Owned<ibv_pd, Arc<Context>>;
/// Registered memory. Local segments use its `lkey`, peers its `rkey`.
pub type Mr = Owned<ibv_mr, Arc<Pd>>;
/// A memory window. [`RawQp::post_bind`](super::qp::RawQp::post_bind) changes its `rkey`, under a lock.
pub type Mw = Owned<ibv_mw, Arc<Pd>>;
/// `IBV_ACCESS_*` bits.
pub type Access = c_int;

pub const LOCAL_WRITE: Access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 as Access;
pub const REMOTE_WRITE: Access = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0 as Access;
pub const REMOTE_ATOMIC: Access = ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC.0 as Access;
pub const MW_BIND: Access = ibv_access_flags::IBV_ACCESS_MW_BIND.0 as Access;

pub fn remote_access(rights: Rights) -> Access {
    let grants = [
        (Rights::REMOTE_READ, ibv_access_flags::IBV_ACCESS_REMOTE_READ.0 as Access),
        (Rights::REMOTE_WRITE, REMOTE_WRITE),
        (Rights::REMOTE_ATOMIC, REMOTE_ATOMIC),
    ];
    grants.into_iter().filter(|(right, _)| rights.contains(*right)).fold(0, |all, (_, access)| all | access)
}

impl Pd {
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let pd = Owned::made(context.clone(), |context| unsafe { ibv_alloc_pd(context.as_ptr()) })?;
        Ok(memory::arc(pd)?)
    }
}

impl Mr {
    /// Registers `len` bytes at `addr`. The kernel checks that the bytes are mapped. The program must permit the device
    /// to access them until the drop.
    pub fn new(pd: &Arc<Pd>, addr: u64, len: usize, access: Access) -> io::Result<Self> {
        // SAFETY: the kernel pins the pages or fails; the call accesses no memory.
        Owned::made(pd.clone(), |pd| unsafe { ibv_reg_mr(pd.as_ptr(), addr as *mut _, len, access) })
    }
}

impl Mw {
    /// Creates an unbound window. Every queue pair of the zone can bind a type 1 window, repeatedly, and serve it. A
    /// type 2 window is bound once; only the queue pair that bound it serves it, and must outlive it.
    pub fn new(pd: &Arc<Pd>, kind: ibv_mw_type::Type) -> io::Result<Self> {
        // SAFETY: a live zone.
        Owned::made(pd.clone(), |pd| unsafe { ibv_alloc_mw(pd.as_ptr(), kind) }.unwrap_or(ptr::null_mut()))
    }

    /// Returns the key for the bind of a new type 2 window.
    pub fn next_key(&self) -> u32 {
        self.rkey & !0xff | u32::from((self.rkey as u8).wrapping_add(1))
    }
}
