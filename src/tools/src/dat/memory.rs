//! Protection zones, and memory that is registered with an adapter.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use anyhow::{Context, Result};
use dat_udat12::*;

use super::object::{Handle, Object, object};
use super::{Ia, Pattern};

/// Alignment of registered memory: whole pages.
const PAGE: usize = 4096;

/// The most memory that a peer may have this process take: half of that of the machine.
#[allow(clippy::useless_conversion, reason = "the types differ between processors")]
pub fn most_for_peers() -> u64 {
    let system = rustix::system::sysinfo();
    u64::from(system.totalram).saturating_mul(u64::from(system.mem_unit)) / 2
}

object! {
    /// A protection zone: which memory goes with which endpoints.
    Pz
}

impl Pz {
    pub fn new(ia: &Ia) -> Result<Self> {
        let calls = ia.library().calls();
        // SAFETY: the adapter is open, and the place is the object's own.
        let make = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_pz_create)(ia.raw(), handle) };
        Object::new(ia, "dat_pz_create", calls.dat_pz_free, Vec::new(), make).map(Self)
    }
}

/// Makes a part of a region visible.
macro_rules! sync {
    ($region:ident, $call:ident, $offset:ident, $length:ident) => {{
        let (ia, segment) = ($region.pz.ia(), $region.segment($offset, $length));
        // SAFETY: there is one segment, which the call reads.
        ia.library().check(stringify!($call), unsafe { (ia.library().calls().$call)(ia.raw(), &segment.0, 1) })
    }};
}

/// Memory of this process, in whole pages, that is registered with an adapter as a local memory region.
///
/// The adapter, and with remote privileges the peer, may write it at any time, so there are no references into it: it is read
/// and written by copies, and looked at with [`load`](Self::load).
pub struct Region {
    base: NonNull<u8>,
    layout: Layout,
    handle: Handle,
    lmr_context: DAT_LMR_CONTEXT,
    rmr_context: DAT_RMR_CONTEXT,
    pz: Pz,
}

// SAFETY: the memory belongs to the region, and is read and written by copies alone, as memory that others write.
unsafe impl Send for Region {}
// SAFETY: as above; of copies that threads make at the same time the bytes may be of either.
unsafe impl Sync for Region {}

/// A part of a region, for a post.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Segment(pub(super) DAT_LMR_TRIPLET);

/// Memory of the peer, for an RDMA operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// The memory as the peer named it.
    pub context: DAT_RMR_CONTEXT,
    /// The address of its first byte there.
    pub address: u64,
    pub length: u64,
}

impl Region {
    /// Takes memory, filled with zeros, and registers it.
    ///
    /// # Parameters
    /// * `length` - bytes; at least one is registered.
    /// * `privileges` - bits of `DAT_MEM_PRIV_ALL_FLAG`.
    ///
    /// # Errors
    /// There is not so much memory, or as dat_lmr_create.
    pub fn new(pz: &Pz, length: usize, privileges: DAT_MEM_PRIV_FLAGS) -> Result<Self> {
        let none = || format!("there is no memory for {length} bytes");
        let layout = Layout::from_size_align(length.max(1), PAGE).with_context(none)?;
        // SAFETY: the length is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).with_context(none)?;
        let mut region = Region { base, layout, handle: Handle::NULL, lmr_context: 0, rmr_context: 0, pz: pz.clone() };
        // SAFETY: the memory is of this length and lives until the region is freed; the places for results are its own.
        let code = unsafe {
            (pz.ia().library().calls().dat_lmr_create)(
                pz.ia().raw(),
                DAT_MEM_TYPE_VIRTUAL,
                DAT_REGION_DESCRIPTION { for_va: base.as_ptr().cast() },
                layout.size() as u64,
                pz.raw(),
                privileges,
                &mut region.handle.0,
                &mut region.lmr_context,
                &mut region.rmr_context,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        // On failure the region has no handle, and dropping it only gives its memory back.
        pz.ia().library().check("dat_lmr_create", code)?;
        Ok(region)
    }

    /// Bytes in it.
    pub fn length(&self) -> usize {
        self.layout.size()
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the part is not within the region.
    #[inline]
    pub fn segment(&self, offset: usize, length: usize) -> Segment {
        Segment(DAT_LMR_TRIPLET {
            lmr_context: self.lmr_context,
            pad: 0,
            virtual_address: self.place(offset, length) as u64,
            segment_length: length as u64,
        })
    }

    /// A part of it, as the peer names it.
    ///
    /// # Panics
    /// If the part is not within the region.
    pub fn remote(&self, offset: usize, length: usize) -> Remote {
        Remote { context: self.rmr_context, address: self.place(offset, length) as u64, length: length as u64 }
    }

    /// Copies bytes into it.
    ///
    /// # Panics
    /// If they do not fit behind `offset`.
    #[inline]
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        // SAFETY: the bytes are within the region, and no reference to its memory exists.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.place(offset, bytes.len()), bytes.len()) };
    }

    /// Copies bytes out of it.
    ///
    /// # Panics
    /// If there are not as many behind `offset`.
    #[inline]
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(self.place(offset, bytes.len()), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Writes the bytes of a transfer into a part.
    ///
    /// # Panics
    /// As all that follow: if the part is not within the region.
    pub fn stamp(&self, offset: usize, length: usize, pattern: Pattern) {
        let mut bytes = [0; PAGE];
        for from in (0..length).step_by(PAGE) {
            let bytes = &mut bytes[..PAGE.min(length - from)];
            bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = pattern.at(from + at));
            self.write(offset + from, bytes);
        }
    }

    /// The place of the first byte of a part that is not that of the transfer.
    pub fn first_difference(&self, offset: usize, length: usize, pattern: Pattern) -> Option<usize> {
        let mut bytes = [0; PAGE];
        (0..length).step_by(PAGE).find_map(|from| {
            let bytes = &mut bytes[..PAGE.min(length - from)];
            self.read(offset + from, bytes);
            let wrong = bytes.iter().enumerate().position(|(at, &byte)| byte != pattern.at(from + at));
            wrong.map(|at| from + at)
        })
    }

    /// Looks at one byte, which a peer may be about to write.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u8 {
        // SAFETY: the byte is within the region; the processor reads it in one piece.
        unsafe { self.place(offset, 1).read_volatile() }
    }

    /// Makes what peers wrote by RDMA visible to this processor, where that is needed.
    pub fn sync_rdma_write(&self, offset: usize, length: usize) -> Result<()> {
        sync!(self, dat_lmr_sync_rdma_write, offset, length)
    }

    /// Makes what this processor wrote visible to peers that read by RDMA, where that is needed.
    pub fn sync_rdma_read(&self, offset: usize, length: usize) -> Result<()> {
        sync!(self, dat_lmr_sync_rdma_read, offset, length)
    }

    /// The address of a part.
    #[inline(always)]
    fn place(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length);
        assert!(
            end.is_some_and(|end| end <= self.layout.size()),
            "{length} bytes at {offset} are not within the region"
        );
        // SAFETY: the place is within the memory of the region, or at its end.
        unsafe { self.base.as_ptr().add(offset) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let library = self.pz.ia().library();
        // SAFETY: the handle is null or that of the region.
        let freed =
            self.handle == Handle::NULL || unsafe { (library.calls().dat_lmr_free)(self.handle.0) } == DAT_SUCCESS;
        // Memory that is still registered may still be written by others, so the process keeps it.
        if freed {
            // SAFETY: the memory was taken with this layout, and nobody else uses it.
            unsafe { dealloc(self.base.as_ptr(), self.layout) };
        }
    }
}
