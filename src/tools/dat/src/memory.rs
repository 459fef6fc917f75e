//! Protection zones, and memory that is registered with an adapter.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};

use dat_udat20::*;

use crate::abi::{Own, V12, V20, by_version};
use crate::object::{Handle, Object, object};
use crate::{Error, Ia, Result};

/// Alignment of registered memory.
const PAGE: usize = 4096;

object! {
    /// A protection zone: a set of regions, and of the endpoints and SRQs that can use only these regions.
    #[derive(Clone)]
    Pz
}

impl Pz {
    /// Creates a zone.
    pub fn new(ia: &Ia) -> Result<Self> {
        let calls = &ia.library().calls().common;
        // SAFETY: the adapter is open, and the caller provides the handle's place.
        let create = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_pz_create)(ia.raw(), handle) };
        Object::new(ia, "dat_pz_create", calls.dat_pz_free, Vec::new(), create).map(Self)
    }
}

/// Page-aligned memory of this process, registered with an adapter as a local memory region.
///
/// The adapter, and with remote privileges the peer, may write the memory at any time. So no references to it exist:
/// the functions copy bytes, or read a single byte.
pub struct Region {
    base: NonNull<u8>,
    layout: Layout,
    /// `None` until the memory is registered.
    handle: Option<Handle>,
    lmr_context: DAT_LMR_CONTEXT,
    rmr_context: DAT_RMR_CONTEXT,
    pz: Pz,
}

// SAFETY: the region owns the memory, and only copies and volatile reads access it.
unsafe impl Send for Region {}

/// A part of a region, for a post.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub(crate) address: u64,
    pub(crate) length: u64,
    pub(crate) context: DAT_LMR_CONTEXT,
}

/// Memory of the peer, for an RDMA operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// Address of the first byte in the peer.
    pub address: u64,
    /// Number of bytes.
    pub length: u64,
    /// The peer's RMR context.
    pub context: DAT_RMR_CONTEXT,
}

macro_rules! sync {
    ($region:ident, $call:ident, $offset:ident, $length:ident) => {{
        let (ia, segment) = ($region.pz.ia(), $region.segment($offset, $length));
        // SAFETY: the adapter is open, and the call reads one segment.
        let code = unsafe { by_version!(ia.library(), |calls, udat| (calls.$call)(ia.raw(), &segment.into(), 1)) };
        ia.library().check(stringify!($call), code)
    }};
}

impl Region {
    /// Allocates and registers `length` zeroed bytes, at least one. `privileges` are bits of `DAT_MEM_PRIV_ALL_FLAG`.
    pub fn new(pz: &Pz, length: usize, privileges: DAT_MEM_PRIV_FLAGS) -> Result<Self> {
        let none = || Error::new(format!("cannot allocate {length} bytes"));
        let layout = Layout::from_size_align(length.max(1), PAGE).map_err(|_| none())?;
        // SAFETY: the length is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(none)?;
        let mut region = Region { base, layout, handle: None, lmr_context: 0, rmr_context: 0, pz: pz.clone() };
        let (ia, size, mut handle) = (pz.ia(), layout.size() as u64, DAT_HANDLE_NULL);
        let (address, lmr, rmr) = (base.as_ptr().cast(), &mut region.lmr_context, &mut region.rmr_context);
        let (va, virt, null) = (DAT_REGION_DESCRIPTION { for_va: address }, DAT_MEM_TYPE_VIRTUAL, ptr::null_mut);
        let (raw, zone, handle_place) = (ia.raw(), pz.raw(), &mut handle);
        // SAFETY: the memory has this length and outlives the region; other pointers are to local variables or fields.
        #[expect(clippy::multiple_unsafe_ops_per_block, reason = "the same condition covers both functions")]
        let code = unsafe {
            match &ia.library().calls().own {
                Own::V12(V12 { dat_lmr_create: create, .. }) => {
                    create(raw, virt, va, size, zone, privileges, handle_place, lmr, rmr, null(), null())
                }
                Own::V20(V20 { dat_lmr_create: create, .. }) => {
                    let va_type = DAT_VA_TYPE_VA;
                    create(raw, virt, va, size, zone, privileges, va_type, handle_place, lmr, rmr, null(), null())
                }
            }
        };
        ia.library().check("dat_lmr_create", code)?;
        region.handle = Some(Handle::new(handle, ia.owner()));
        Ok(region)
    }

    /// Returns the number of bytes.
    pub fn length(&self) -> usize {
        self.layout.size()
    }

    /// Returns `length` bytes of the region at `offset`, for a post.
    ///
    /// # Panics
    /// If the bytes are not in the region. The other functions with an offset panic likewise.
    #[inline]
    pub fn segment(&self, offset: usize, length: usize) -> Segment {
        Segment { address: self.place(offset, length) as u64, length: length as u64, context: self.lmr_context }
    }

    /// Returns `length` bytes of the region at `offset`, for RDMA operations of the peer.
    pub fn remote(&self, offset: usize, length: usize) -> Remote {
        Remote { address: self.place(offset, length) as u64, length: length as u64, context: self.rmr_context }
    }

    /// Copies bytes into the region, to `offset`.
    #[inline]
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        // SAFETY: the bytes are in the region, without references to them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.place(offset, bytes.len()), bytes.len()) };
    }

    /// Copies bytes out of the region, from `offset`.
    #[inline]
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: the bytes are in the region, without references to them.
        unsafe { ptr::copy_nonoverlapping(self.place(offset, bytes.len()), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Returns the byte at `offset`, which a peer may be writing.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u8 {
        // SAFETY: the byte is in the region; a volatile read of a byte is one access.
        unsafe { self.place(offset, 1).read_volatile() }
    }

    /// Ensures that this process reads the bytes that peers have written by RDMA.
    pub fn sync_rdma_write(&self, offset: usize, length: usize) -> Result<()> {
        sync!(self, dat_lmr_sync_rdma_write, offset, length)
    }

    /// Ensures that later RDMA reads of peers read the bytes that this process has written.
    pub fn sync_rdma_read(&self, offset: usize, length: usize) -> Result<()> {
        sync!(self, dat_lmr_sync_rdma_read, offset, length)
    }

    #[inline(always)]
    fn place(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.layout.size()), "{length} bytes at {offset} are not in the region");
        self.base.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let free = self.pz.ia().library().calls().common.dat_lmr_free;
        // SAFETY: the region is registered under this handle.
        let freed = self.handle.is_none_or(|lmr| lmr.is_usable() && unsafe { free(lmr.raw()) } == DAT_SUCCESS);
        // The adapter may write memory that is still registered, so keep it.
        if freed {
            // SAFETY: allocated with this layout, and no longer used.
            unsafe { dealloc(self.base.as_ptr(), self.layout) };
        }
    }
}
