//! Remote memory regions.

use dat_core::error::Arg;
use dat_core::{Base, Handle, Lmr};
use dat_udat12::*;

use crate::call::slow;
use crate::handle::raw;
use crate::ptr::{InPtr, OutPtr};
use crate::rmr::{Bind, bind};
use crate::v12::Udat12;
use crate::{Fault, Positions, Provider};

crate::rmr_query!(|rmr, bound| { triplet { pad: 0 } });

const POSITIONS: Positions = &[(Arg::Segments, 2), (Arg::Flags, 6)];

/// Slot of dat_rmr_bind.
pub fn dat_rmr_bind<F: Provider<Version = Udat12>>(
    rmr_handle: DAT_RMR_HANDLE,
    lmr_triplet: InPtr<DAT_LMR_TRIPLET>,
    mem_priv: DAT_MEM_PRIV_FLAGS,
    ep_handle: DAT_EP_HANDLE,
    user_cookie: DAT_RMR_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
    context: OutPtr<DAT_RMR_CONTEXT>,
) -> DAT_RETURN {
    let call = Bind { rmr_handle, lmr_triplet, mem_priv, ep_handle, user_cookie, completion_flags, context };
    slow::<F>(|| {
        bind::<F>(&call, [2, 7], POSITIONS, |rmr, segment| {
            let handle: Option<Handle> = rmr.ia().lmrs.handle_of(segment.context);
            let lmr = handle.and_then(|handle| F::domain().get::<Lmr<F::Transport>>(raw(handle)));
            Ok((lmr.ok_or(Fault::Argument(2))?, Base::Address))
        })
    })
}
