//! Structures of the interface that the program points to or passes by value: segments, contexts,
//! addresses, descriptions of memory, agents. Nothing here panics, nothing but the name of shared
//! memory allocates, and reads ask for no alignment.

use arrayvec::ArrayVec;
use dat_core::addr::Address;
use dat_core::error::AddressFault;
use dat_core::transport::MAX_SEGMENTS;
use dat_core::{LocalSegment, Memory};
use dat_face::{Answer, Fault};
use dat_udat12::*;

/// The segments of a post.
pub(crate) type Segments = ArrayVec<LocalSegment, MAX_SEGMENTS>;

/// Appends the `count` segments of a post. The count is the second argument of every post and the
/// list the third. The room is the caller's, for to return it would be to copy it.
///
/// # Errors
/// The second argument is invalid if it is negative or above what any endpoint can have,
/// the third if it is NULL and the count is not 0.
///
/// # Safety
/// `list` is NULL, or `count` triplets there can be read.
#[inline(always)]
pub(crate) unsafe fn read_segments(
    segments: &mut Segments,
    count: DAT_COUNT,
    list: *const DAT_LMR_TRIPLET,
) -> Answer<()> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > segments.remaining_capacity() {
        return Err(Fault::Argument(2));
    }
    if list.is_null() && count > 0 {
        return Err(Fault::Argument(3));
    }
    for index in 0..count {
        // SAFETY: index is below count, and the caller promises that many.
        let triplet = unsafe { list.add(index).read_unaligned() };
        // SAFETY: the room was enough for count elements before the first.
        unsafe { segments.push_unchecked(local_segment(&triplet)) };
    }
    Ok(())
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
pub(crate) unsafe fn long_list(list: *const DAT_LMR_TRIPLET, count: DAT_VLEN) -> impl Iterator<Item = LocalSegment> {
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
                return Err(Fault::Argument(3));
            }
            // SAFETY: not NULL, so readable as the caller promises.
            let name = unsafe { shared.shared_memory_id.read_unaligned() };
            let name = name.map(|byte| byte.to_ne_bytes()[0]);
            Ok(Memory::Shared(shared.virtual_address.addr() as u64, Box::new(name)))
        }
        _ => Err(Fault::Argument(2)),
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
