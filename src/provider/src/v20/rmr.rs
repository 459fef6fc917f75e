//! Remote memory regions.

use dat_core::error::{Arg, Role};
use dat_core::transport::Scope;
use dat_core::{Base, Lmr};
use dat_udat20::*;

use crate::call::{making, slow};
use crate::handle::find_in;
use crate::ptr::{InPtr, OutPtr};
use crate::rmr::{Bind, bind, create_rmr};
use crate::v20::Udat20;
use crate::{Answer, Fault, Positions, Provider};

crate::rmr_query!(|rmr, bound| {
    triplet {},
    rmr_scope: rmr.scope as DAT_RMR_SCOPE,
    va_type: bound.base as DAT_VA_TYPE,
});

const POSITIONS: Positions = &[(Arg::Segments, 3), (Arg::Endpoint, 6), (Arg::Flags, 8)];

/// Parses the addressing mode in argument `position`.
pub(crate) fn base(va_type: DAT_VA_TYPE, position: u32) -> Answer<Base> {
    match va_type {
        DAT_VA_TYPE_VA => Ok(Base::Address),
        DAT_VA_TYPE_ZB => Ok(Base::Zero),
        _ => Err(Fault::Argument(position)),
    }
}

/// Slot of dat_rmr_create_for_ep.
pub fn dat_rmr_create_for_ep<F: Provider<Version = Udat20>>(
    pz_handle: DAT_PZ_HANDLE,
    rmr_handle: OutPtr<DAT_RMR_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| create_rmr::<F>(pz_handle, rmr_handle, Scope::Endpoint))
}

/// Slot of dat_rmr_bind.
pub fn dat_rmr_bind<F: Provider<Version = Udat20>>(
    rmr_handle: DAT_RMR_HANDLE,
    lmr_handle: DAT_LMR_HANDLE,
    lmr_triplet: InPtr<DAT_LMR_TRIPLET>,
    mem_priv: DAT_MEM_PRIV_FLAGS,
    va_type: DAT_VA_TYPE,
    ep_handle: DAT_EP_HANDLE,
    user_cookie: DAT_RMR_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
    context: OutPtr<DAT_RMR_CONTEXT>,
) -> DAT_RETURN {
    let call = Bind { rmr_handle, lmr_triplet, mem_priv, ep_handle, user_cookie, completion_flags, context };
    slow::<F>(|| {
        bind::<F>(&call, [3, 9], POSITIONS, |rmr, segment| {
            let lmr = find_in::<F, _>(rmr.ia(), lmr_handle, Role::Lmr, Lmr::ia)?;
            if segment.context != lmr.context {
                return Err(Fault::Argument(3));
            }
            Ok((lmr, base(va_type, 5)?))
        })
    })
}
