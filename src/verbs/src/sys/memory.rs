//! Protection zones, registered memory, memory windows.

use std::ffi::c_int;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use host::memory;
use rdma_sys::*;

use super::device::Context;
use super::{give_back, made};

/// A protection zone.
pub struct Pd {
    raw: NonNull<ibv_pd>,
    /// Kept open as long as the zone exists.
    _context: Arc<Context>,
}

// SAFETY: see the module above: calls may come from any thread.
unsafe impl Send for Pd {}
// SAFETY: as above.
unsafe impl Sync for Pd {}

impl Pd {
    /// Makes a zone.
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let raw = made(|| unsafe { ibv_alloc_pd(context.raw()) })?;
        Ok(memory::arc(Pd { raw, _context: context.clone() })?)
    }

    pub(super) fn raw(&self) -> *mut ibv_pd {
        self.raw.as_ptr()
    }
}

impl Drop for Pd {
    fn drop(&mut self) {
        // SAFETY: everything made in the zone owned it and is gone.
        give_back("a protection zone stays", || unsafe { ibv_dealloc_pd(self.raw()) });
    }
}

/// The permitted uses of registered memory: a set of the `IBV_ACCESS_*` bits.
pub type Access = c_int;

/// Registered memory.
pub struct Mr {
    raw: NonNull<ibv_mr>,
    _pd: Arc<Pd>,
}

// SAFETY: see the module above: calls may come from any thread.
unsafe impl Send for Mr {}
// SAFETY: as above.
unsafe impl Sync for Mr {}

impl Mr {
    /// Registers `len` bytes at `addr`. The kernel checks that they exist; the program, which registers them, promises
    /// that they may be used.
    pub fn new(pd: &Arc<Pd>, addr: u64, len: usize, access: Access) -> io::Result<Self> {
        // SAFETY: the kernel pins the pages or refuses; no memory is touched here.
        let raw = made(|| unsafe { ibv_reg_mr(pd.raw(), addr as *mut _, len, access) })?;
        Ok(Mr { raw, _pd: pd.clone() })
    }

    pub(super) fn raw(&self) -> *mut ibv_mr {
        self.raw.as_ptr()
    }

    /// Names the memory in local segments.
    pub fn lkey(&self) -> u32 {
        // SAFETY: a live registration; the field never changes.
        unsafe { self.raw.as_ref().lkey }
    }

    /// Names the memory to peers.
    pub fn rkey(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.raw.as_ref().rkey }
    }
}

impl Drop for Mr {
    fn drop(&mut self) {
        // SAFETY: the memory was registered once; the core makes sure that no window is bound into it.
        give_back("memory stays registered", || unsafe { ibv_dereg_mr(self.raw()) });
    }
}

/// The queue pairs that a memory window serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MwKind {
    /// Type 1: any queue pair of its zone can bind it, any number of times, and all of them serve it.
    Zone,
    /// Type 2: the queue pair that binds it alone serves it. It is bound once, and freed before the queue pair.
    Single,
}

/// A memory window.
pub struct Mw {
    raw: NonNull<ibv_mw>,
    _pd: Arc<Pd>,
}

// SAFETY: see the module above; a thread that binds holds a lock of the window.
unsafe impl Send for Mw {}
// SAFETY: as above.
unsafe impl Sync for Mw {}

impl Mw {
    /// Makes an unbound window.
    pub fn new(pd: &Arc<Pd>, kind: MwKind) -> io::Result<Self> {
        let kind = match kind {
            MwKind::Zone => ibv_mw_type::IBV_MW_TYPE_1,
            MwKind::Single => ibv_mw_type::IBV_MW_TYPE_2,
        };
        // SAFETY: a live zone.
        let alloc = || unsafe { ibv_alloc_mw(pd.raw(), kind) };
        let raw = made(|| alloc().unwrap_or(std::ptr::null_mut()))?;
        Ok(Mw { raw, _pd: pd.clone() })
    }

    pub(super) fn raw(&self) -> *mut ibv_mw {
        self.raw.as_ptr()
    }

    /// The key by which peers name it after the last bind that was posted.
    pub fn rkey(&self) -> u32 {
        // SAFETY: a live window; only a bind changes the field, under the caller's lock.
        unsafe { self.raw.as_ref().rkey }
    }

    /// A key for the one bind of a new window that serves one queue pair.
    pub fn next_key(&self) -> u32 {
        let key = self.rkey();
        key & !0xff | u32::from((key as u8).wrapping_add(1))
    }
}

impl Drop for Mw {
    fn drop(&mut self) {
        // SAFETY: the window was allocated once; freeing unbinds it.
        give_back("a memory window stays", || unsafe { ibv_dealloc_mw(self.raw()) });
    }
}
