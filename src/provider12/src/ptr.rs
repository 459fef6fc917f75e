//! The program's pointers: the only place where they are read or written through.
//!
//! A slot wraps its pointer arguments in its first lines, which is where it says that they are
//! the caller's promise; from then on its code is safe. Nothing here panics or allocates
//! except [`bytes`], which is for private data. Reads and writes ask for no alignment.

use std::mem::MaybeUninit;
use std::slice;

use dat_core::addr::Address;
use dat_core::error::AddressFault;
use dat_core::transport::MAX_SEGMENTS;
use dat_core::{LocalSegment, Memory};
use dat_udat12::*;

use crate::error::{Answer, invalid_arg};

/// A pointer to something that the program gives; NULL or readable.
pub(crate) struct InPtr<V>(pub(crate) *const V);

impl<V> Clone for InPtr<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for InPtr<V> {}

impl<V: Copy> InPtr<V> {
    /// Wraps an argument.
    ///
    /// # Safety
    /// For the time of the call `pointer` is NULL or readable.
    #[inline]
    pub(crate) unsafe fn new(pointer: *const V) -> Self {
        InPtr(pointer)
    }

    /// Whether it points to nothing.
    #[inline]
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// What it points to; `None` if it is NULL.
    #[inline]
    pub(crate) fn get(self) -> Option<V> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not NULL, so readable as promised to `new`.
        Some(unsafe { self.0.read_unaligned() })
    }

    /// What it points to; the argument at `position` is invalid if it is NULL.
    #[inline]
    pub(crate) fn required(self, position: u32) -> Answer<V> {
        self.get().ok_or_else(|| invalid_arg(position))
    }
}

/// Reads one field of a structure behind an [`InPtr`], and no other byte of it. `None` if the
/// pointer is NULL.
macro_rules! read_field {
    ($pointer:expr, $($field:ident).+) => {{
        let pointer = $pointer.0;
        if pointer.is_null() {
            None
        } else {
            // SAFETY: not NULL, so readable as promised to InPtr::new.
            Some(unsafe { (&raw const (*pointer).$($field).+).read_unaligned() })
        }
    }};
}
pub(crate) use read_field;

/// A pointer to where a result is to go; NULL or writable.
pub(crate) struct OutPtr<V>(*mut V);

impl<V> OutPtr<V> {
    /// Wraps an argument.
    ///
    /// # Safety
    /// For the time of the call `pointer` is NULL or writable.
    #[inline]
    pub(crate) unsafe fn new(pointer: *mut V) -> Self {
        OutPtr(pointer)
    }

    /// A place that can be written to; the argument at `position` is invalid if it is NULL.
    #[inline]
    pub(crate) fn required(self, position: u32) -> Answer<Out<V>> {
        if self.0.is_null() { Err(invalid_arg(position)) } else { Ok(Out(self.0)) }
    }

    /// A place that can be written to; `None` if it is NULL.
    #[inline]
    pub(crate) fn optional(self) -> Option<Out<V>> {
        if self.0.is_null() { None } else { Some(Out(self.0)) }
    }
}

/// A place in the program's memory that can be written to.
pub(crate) struct Out<V>(*mut V);

impl<V> Out<V> {
    /// Writes the result.
    #[inline]
    pub(crate) fn write(self, value: V) {
        // SAFETY: made by OutPtr from a pointer that is not NULL, so writable as promised there.
        unsafe { self.0.write_unaligned(value) };
    }
}

impl<V: Copy> Out<V> {
    /// What the program wrote there before the call.
    pub(crate) fn read(&self) -> V {
        // SAFETY: arguments of this kind are both in and out, so the caller has filled them.
        unsafe { self.0.read_unaligned() }
    }
}

/// Room for the segments of a post.
pub(crate) struct Room([MaybeUninit<LocalSegment>; MAX_SEGMENTS]);

impl Room {
    /// Empty room.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; MAX_SEGMENTS])
    }

    /// Reads `count` segments. The count is the second argument of every post and the
    /// list the third.
    ///
    /// # Errors
    /// The second argument is invalid if it is negative or above what any endpoint can have,
    /// the third if it is NULL and the count is not 0.
    ///
    /// # Safety
    /// `list` is NULL, or `count` triplets there can be read.
    #[inline(always)]
    pub(crate) unsafe fn read(&mut self, count: DAT_COUNT, list: *const DAT_LMR_TRIPLET) -> Answer<&[LocalSegment]> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let Some(room) = self.0.get_mut(..count) else { return Err(invalid_arg(2)) };
        if list.is_null() && count > 0 {
            return Err(invalid_arg(3));
        }
        for (index, place) in room.iter_mut().enumerate() {
            // SAFETY: index is below count, and the caller promises that many.
            let triplet = unsafe { list.add(index).read_unaligned() };
            place.write(local_segment(&triplet));
        }
        // SAFETY: the loop has written every element of `room`, and MaybeUninit changes no layout.
        Ok(unsafe { slice::from_raw_parts(room.as_ptr().cast(), room.len()) })
    }
}

/// A triplet in the terms of the core.
#[inline]
pub(crate) fn local_segment(triplet: &DAT_LMR_TRIPLET) -> LocalSegment {
    LocalSegment { context: triplet.lmr_context, addr: triplet.virtual_address, len: triplet.segment_length }
}

/// The triplets of an array whose length is counted in 64 bits, one at a time.
///
/// # Safety
/// `list` is NULL, or `count` triplets there can be read as long as the iterator is used.
pub(crate) unsafe fn segments(list: *const DAT_LMR_TRIPLET, count: DAT_VLEN) -> impl Iterator<Item = LocalSegment> {
    let count = if list.is_null() { 0 } else { usize::try_from(count).unwrap_or(usize::MAX) };
    (0..count).map(move |index| {
        // SAFETY: index is below count, and the caller promises that many. An array that the
        // program could have does not wrap around.
        let triplet = unsafe { list.wrapping_add(index).read_unaligned() };
        local_segment(&triplet)
    })
}

/// The bits of a cookie or context.
#[inline]
pub(crate) fn word(context: DAT_CONTEXT) -> u64 {
    // SAFETY: all members are 8 bytes of which any value is a number.
    unsafe { context.as_64 }
}

/// A cookie or context of these bits.
#[inline]
pub(crate) fn context(word: u64) -> DAT_CONTEXT {
    DAT_CONTEXT { as_64: word }
}

/// A copy of `len` bytes of the program's.
///
/// # Safety
/// `data` is not NULL, and `len` bytes there can be read.
pub(crate) unsafe fn bytes(data: *const u8, len: usize) -> Vec<u8> {
    let mut copy: Vec<u8> = Vec::with_capacity(len);
    // SAFETY: readable as the caller promises; the vector has room for it.
    unsafe { copy.as_mut_ptr().copy_from_nonoverlapping(data, len) };
    // SAFETY: the line above has filled the first `len` bytes.
    unsafe { copy.set_len(len) };
    copy
}

/// The socket address of a peer; `None` if the pointer is NULL.
///
/// # Errors
/// [`AddressFault::Unsupported`] for a family other than IPv4 and IPv6.
///
/// # Safety
/// `address` is NULL, or points to a socket address that is complete for its family.
pub(crate) unsafe fn address(address: *const DAT_SOCK_ADDR) -> Option<Result<Address, AddressFault>> {
    if address.is_null() {
        return None;
    }
    // SAFETY: the family is the first field of every socket address.
    let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
    let Some(len) = Address::native_len(family) else { return Some(Err(AddressFault::Unsupported)) };
    let mut native = [0; 28];
    let Some(room) = native.get_mut(..len) else { return Some(Err(AddressFault::Unsupported)) };
    // SAFETY: an address of this family has that many bytes, and the caller promises a whole one.
    unsafe { room.as_mut_ptr().copy_from_nonoverlapping(address.cast(), len) };
    Some(Address::from_native(&native).ok_or(AddressFault::Unsupported))
}

/// What memory a description of `kind` stands for, where that is not the memory of another
/// region. The description is the third argument, the kind the second.
///
/// # Safety
/// For shared memory the name is NULL, or its 40 bytes can be read.
pub(crate) unsafe fn memory(kind: DAT_MEM_TYPE, region: DAT_REGION_DESCRIPTION) -> Answer<Memory> {
    match kind {
        DAT_MEM_TYPE_VIRTUAL => {
            // SAFETY: for this kind the program has filled this member.
            let start = unsafe { region.for_va };
            Ok(Memory::Virtual(start.addr() as u64))
        }
        DAT_MEM_TYPE_SHARED_VIRTUAL => {
            // SAFETY: as above.
            let shared = unsafe { region.for_shared_memory };
            if shared.shared_memory_id.is_null() {
                return Err(invalid_arg(3));
            }
            // SAFETY: not NULL, so readable as the caller promises.
            let name = unsafe { shared.shared_memory_id.read_unaligned() };
            let name = name.map(|byte| byte.to_ne_bytes()[0]);
            Ok(Memory::Shared(shared.virtual_address.addr() as u64, name))
        }
        _ => Err(invalid_arg(2)),
    }
}

/// The region that a description names.
pub(crate) fn source_region(region: DAT_REGION_DESCRIPTION) -> DAT_LMR_HANDLE {
    // SAFETY: for the kind of memory that this is called for, the program has filled this member;
    // any value of it is only compared.
    unsafe { region.for_lmr_handle }
}

/// The agent function at an address.
///
/// # Safety
/// A program gave a function of this type as an agent, and this is its address.
pub(crate) unsafe fn agent_function(function: usize) -> DAT_AGENT_FUNC {
    let function = std::ptr::with_exposed_provenance::<()>(function);
    // SAFETY: the caller's promise; the option of a function pointer has the layout of a pointer.
    unsafe { std::mem::transmute::<*const (), DAT_AGENT_FUNC>(function) }
}

/// Calls an agent of the program's.
///
/// # Safety
/// As for [`agent_function`].
pub(crate) unsafe fn call_agent(function: usize, data: DAT_PVOID, evd: DAT_EVD_HANDLE) {
    // SAFETY: the caller's promise.
    if let Some(function) = unsafe { agent_function(function) } {
        // SAFETY: an agent takes its own data and a handle or NULL.
        unsafe { function(data, evd) };
    }
}
