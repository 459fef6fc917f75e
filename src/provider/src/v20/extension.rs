//! The extended operations: RDMA writes with immediate data, atomic operations, datagrams, and opening an adapter only
//! to query its attributes. [`crate::v20::counters`] contains the counters. Collective operations return
//! `DAT_NOT_IMPLEMENTED`.
//!
//! Positions of arguments count from the handle, the first argument of dat_extension_op.

mod query;

use std::sync::Arc;

use dat_core::error::{Arg, Error, Role};
use dat_core::transport::{AdapterAttributes, FabricKind, RemoteSegment};
use dat_core::{Ah, Change, Claim, Endpoint};
use dat_udat20::va_list::va_list;
use dat_udat20::*;
use host::va_list::VaList;

use crate::call::{fast, operation};
use crate::handle::find;
use crate::post::{Segments, completion_flags, remote};
use crate::ptr::{InPtr, Parameter};
use crate::v20::{Udat20, counters};
use crate::{Answer, At, Fault, Positions, Provider};

/// Returns whether an adapter offers the InfiniBand extension: not over iWARP, and only with immediate data or atomics.
pub(crate) fn extensions(limits: &AdapterAttributes) -> bool {
    limits.fabric.kind != FabricKind::Iwarp && (limits.immediate || limits.atomics)
}

/// Slot of dat_extension_op, and the function `dapl_extensions` of a provider library.
///
/// # Safety
/// The list has the arguments of the operation. Its pointers are NULL or valid, as the operation requires.
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "the promise of the caller covers each operation")]
pub unsafe fn dat_extension_op<F: Provider<Version = Udat20>>(
    handle: DAT_HANDLE,
    op: DAT_EXTENDED_OP,
    arguments: va_list,
) -> DAT_RETURN {
    // SAFETY: `arguments` is NULL or the list of this call.
    let Some(arguments) = (unsafe { arguments.cast::<VaList>().as_mut() }) else { return not_implemented::<F>(handle) };
    // SAFETY: the caller promises the arguments of `op`.
    unsafe {
        match op as u32 {
            DAT_IB_RDMA_WRITE_IMMED_OP => rdma_write_immed::<F>(handle, arguments),
            DAT_IB_FETCH_AND_ADD_OP => {
                let add = arguments.next_word();
                atomic::<F>(handle, Change::Add(add), arguments, FETCH_AND_ADD)
            }
            DAT_IB_CMP_AND_SWAP_OP => {
                let [expected, new] = arguments.next_words();
                atomic::<F>(handle, Change::Swap { expected, new }, arguments, CMP_AND_SWAP)
            }
            DAT_IB_UD_SEND_OP => send_datagram::<F>(handle, arguments),
            DAT_IB_UD_CM_FREE_OP => {
                let exchange = VaList::pointer(arguments.next_word());
                free_of_peer::<F>("dat_ib_ud_cm_free", handle, |_| Ok(exchange), Claim::Exchange)
            }
            DAT_IB_UD_AH_FREE_OP => {
                let ah = InPtr::of(VaList::pointer::<DAT_IB_ADDR_HANDLE>(arguments.next_word()));
                free_of_peer::<F>("dat_ib_ud_ah_free", handle, |position| handle_in(ah, position), Claim::Handle)
            }
            DAT_IB_QUERY_COUNTERS_OP => counters::query::<F>(handle, arguments),
            DAT_IB_PRINT_COUNTERS_OP => counters::print::<F>(handle, arguments),
            DAT_IB_START_COUNTERS_OP => counters::sample::<F>(handle, arguments, true),
            DAT_IB_STOP_COUNTERS_OP => counters::sample::<F>(handle, arguments, false),
            DAT_IB_OPEN_QUERY_OP => query::open::<F>(handle, arguments),
            DAT_IB_CLOSE_QUERY_OP => query::close::<F>(handle),
            _ => not_implemented::<F>(handle),
        }
    }
}

fn not_implemented<F: Provider<Version = Udat20>>(handle: DAT_HANDLE) -> DAT_RETURN {
    operation::<F>("dat_extension_op", handle, || Err(Fault::Core(Error::NotImplemented)))
}

const RDMA_WRITE_IMMED: Positions = &[(Arg::SegmentCount, 3), (Arg::Segments, 4), (Arg::Flags, 8)];
const FETCH_AND_ADD: Positions = &[(Arg::Segments, 4), (Arg::Remote, 6), (Arg::Flags, 7)];
const CMP_AND_SWAP: Positions = &[(Arg::Segments, 5), (Arg::Remote, 7), (Arg::Flags, 8)];
const SEND_UD: Positions = &[(Arg::SegmentCount, 3), (Arg::Segments, 4), (Arg::Remote, 5), (Arg::Flags, 7)];

/// Implements dat_ib_post_rdma_write_immed.
///
/// # Safety
/// The arguments are `DAT_COUNT`, `DAT_LMR_TRIPLET *` with that many elements, `DAT_DTO_COOKIE`,
/// `const DAT_RMR_TRIPLET *`, `DAT_UINT32` and `DAT_COMPLETION_FLAGS`.
unsafe fn rdma_write_immed<F: Provider<Version = Udat20>>(ep: DAT_EP_HANDLE, arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the caller promises these arguments.
    let [count, list, cookie, triplet, value, flags] = unsafe { arguments.next_words() };
    // The upper halves of short arguments are undefined.
    let (count, value, flags) = (count as DAT_COUNT, value as u32, flags as DAT_COMPLETION_FLAGS);
    // SAFETY: the caller promises `count` elements.
    let segments = unsafe { Segments::<Udat20>::new(count, VaList::pointer(list)) };
    // SAFETY: the caller promises NULL or a triplet.
    let triplet = unsafe { InPtr::of(VaList::pointer(triplet)) };
    fast::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep, Role::Ep)?;
        if !ep.ia().attributes().immediate {
            return Err(Fault::Core(Error::NotImplemented));
        }
        let remote =
            if count == 0 { RemoteSegment::default() } else { remote(triplet, &segments, RDMA_WRITE_IMMED, 6)? };
        ep.post_write_immediate(&segments, cookie, remote, value, completion_flags(flags)).at(RDMA_WRITE_IMMED)
    })
}

/// Implements dat_ib_post_send_ud.
///
/// # Safety
/// The arguments are `DAT_COUNT`, `DAT_LMR_TRIPLET *` with that many elements, `DAT_IB_ADDR_HANDLE *`, `DAT_DTO_COOKIE`
/// and `DAT_COMPLETION_FLAGS`.
unsafe fn send_datagram<F: Provider<Version = Udat20>>(ep: DAT_EP_HANDLE, arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the caller promises these arguments.
    let [count, list, ah, cookie, flags] = unsafe { arguments.next_words() };
    // SAFETY: the caller promises `count` elements.
    let segments = unsafe { Segments::<Udat20>::new(count as DAT_COUNT, VaList::pointer(list)) };
    // SAFETY: the caller promises NULL or an address handle.
    let ah = unsafe { InPtr::of(VaList::pointer(ah)) };
    let flags = completion_flags(flags as DAT_COMPLETION_FLAGS);
    let sent = || {
        let ep = F::domain().enter::<Endpoint<F::Transport>>(ep).filter(|ep| ep.has_datagrams())?;
        let to = F::domain().enter::<Ah<F::Transport>>(handle_in(ah, 5).ok()?)?;
        ep.post_one_datagram(&segments, cookie, &to, flags).then_some(DAT_SUCCESS)
    };
    if let Some(code) = sent() {
        return code;
    }
    fast::<F>(|| {
        let ep = for_datagrams::<F>(ep)?;
        let to = F::domain().get::<Ah<F::Transport>>(handle_in(ah, 5)?);
        ep.post_datagram(&segments, cookie, to.as_deref(), flags).at(SEND_UD)
    })
}

/// Returns the peer's handle from the program's `DAT_IB_ADDR_HANDLE`, the argument at `position`.
fn handle_in(ah: InPtr<DAT_IB_ADDR_HANDLE>, position: u32) -> Answer<DAT_HANDLE> {
    Ok(ah.required(position)?.ah.cast())
}

/// Returns the endpoint, which must be for datagrams. Callers read an address handle only after this check.
fn for_datagrams<F: Provider<Version = Udat20>>(ep: DAT_EP_HANDLE) -> Answer<Arc<Endpoint<F::Transport>>> {
    let ep = find::<F, Endpoint<F::Transport>>(ep, Role::Ep)?;
    match ep.has_datagrams() {
        true => Ok(ep),
        false if ep.ia().attributes().datagrams => Err(Fault::Core(Error::InvalidHandle(Role::Ep))),
        false => Err(Fault::Core(Error::NotImplemented)),
    }
}

/// Frees a claim on a peer. `read` receives the position of the argument that names the peer, and returns the peer's
/// handle.
fn free_of_peer<F: Provider<Version = Udat20>>(
    name: &str,
    ep: DAT_EP_HANDLE,
    read: impl FnOnce(u32) -> Answer<DAT_HANDLE>,
    claim: Claim,
) -> DAT_RETURN {
    operation::<F>(name, ep, || {
        let ep = for_datagrams::<F>(ep)?;
        let ah = F::domain().get::<Ah<F::Transport>>(read(3)?).ok_or(Fault::Argument(3))?;
        ep.free_peer(&ah, claim).at(&[(Arg::Remote, 3)])
    })
}

/// Implements dat_ib_post_fetch_and_add and dat_ib_post_cmp_and_swap. The caller has read the arguments that describe
/// the change.
///
/// # Safety
/// The next arguments are `DAT_LMR_TRIPLET *` with one element, `DAT_DTO_COOKIE`, `const DAT_RMR_TRIPLET *` and
/// `DAT_COMPLETION_FLAGS`.
unsafe fn atomic<F: Provider<Version = Udat20>>(
    ep: DAT_EP_HANDLE,
    change: Change,
    arguments: &mut VaList,
    positions: Positions,
) -> DAT_RETURN {
    // SAFETY: the caller promises these arguments.
    let [list, cookie, triplet, flags] = unsafe { arguments.next_words() };
    // SAFETY: the caller promises one element.
    let segments = unsafe { Segments::<Udat20>::new(1, VaList::pointer(list)) };
    // SAFETY: the caller promises NULL or a triplet.
    let triplet = unsafe { InPtr::of(VaList::pointer(triplet)) };
    let remote_position = positions.iter().find(|(arg, _)| *arg == Arg::Remote).map_or(0, |(_, position)| *position);
    fast::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep, Role::Ep)?;
        if !ep.ia().attributes().atomics {
            return Err(Fault::Core(Error::NotImplemented));
        }
        let remote = remote(triplet, &segments, positions, remote_position)?;
        let flags = completion_flags(flags as DAT_COMPLETION_FLAGS);
        ep.post_atomic(&segments, cookie, remote, change, flags).at(positions)
    })
}
