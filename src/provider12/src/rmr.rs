//! Remote memory regions.

use dat_core::error::Arg;
use dat_core::{Base, Handle, Lmr};
use dat_provider_common::handle::raw;
use dat_provider_common::ptr::{InPtr, OutPtr};
use dat_provider_common::rmr::{Bind, BindPositions, bind};
use dat_provider_common::{Face, Fault};
use dat_udat12::*;

use crate::Udat12;

/// The positions of the arguments of dat_rmr_bind.
const POSITIONS: BindPositions =
    BindPositions { triplet: 2, privileges: 3, context: 7, core: &[(Arg::Segments, 2), (Arg::Flags, 6)] };

/// Slot of dat_rmr_bind.
///
/// # Safety
/// `lmr_triplet` is NULL or readable, `context` NULL or writable.
pub unsafe extern "C" fn dat_rmr_bind<F: Face<Version = Udat12>>(
    rmr_handle: DAT_RMR_HANDLE,
    lmr_triplet: *const DAT_LMR_TRIPLET,
    mem_priv: DAT_MEM_PRIV_FLAGS,
    ep_handle: DAT_EP_HANDLE,
    user_cookie: DAT_RMR_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
    context: *mut DAT_RMR_CONTEXT,
) -> DAT_RETURN {
    let arguments = Bind {
        rmr: rmr_handle,
        // SAFETY: the caller's promise.
        triplet: unsafe { InPtr::new(lmr_triplet) },
        privileges: mem_priv,
        ep: ep_handle,
        cookie: user_cookie,
        flags: completion_flags,
        // SAFETY: the caller's promise.
        context: unsafe { OutPtr::new(context) },
    };
    bind::<F>(&arguments, &POSITIONS, |rmr, segment| {
        let handle: Option<Handle> = rmr.ia().lmrs.handle_of(segment.context);
        let lmr = handle.and_then(|handle| F::domain().get::<Lmr<F::Transport>>(raw(handle)));
        Ok((lmr.ok_or(Fault::Argument(POSITIONS.triplet))?, Base::Address))
    })
}
