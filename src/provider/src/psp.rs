//! Public service points.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Role};
use dat_core::{Evd, Ia, Psp, PspMode};
use dat_udat::*;

use crate::call::making;
use crate::handle::{find, give, handle_or_null};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::{Answer, At, Fault, Provider};

fn mode(flags: DAT_PSP_FLAGS) -> Answer<PspMode> {
    match flags {
        DAT_PSP_CONSUMER_FLAG => Ok(PspMode::Consumer),
        DAT_PSP_PROVIDER_FLAG => Ok(PspMode::Provider),
        _ => Err(Fault::Argument(4)),
    }
}

pub fn dat_psp_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    conn_qual: DAT_CONN_QUAL,
    evd_handle: DAT_EVD_HANDLE,
    psp_flags: DAT_PSP_FLAGS,
    psp_handle: OutPtr<DAT_PSP_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let out = psp_handle.required(5)?;
        give(out, &Psp::create(&ia, Some(conn_qual), &evd, mode(psp_flags)?).at(&[(Arg::Qualifier, 2)])?)
    })
}

pub fn dat_psp_create_any<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    conn_qual: OutPtr<DAT_CONN_QUAL>,
    evd_handle: DAT_EVD_HANDLE,
    psp_flags: DAT_PSP_FLAGS,
    psp_handle: OutPtr<DAT_PSP_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let qualifier = conn_qual.required(2)?;
        let out = psp_handle.required(5)?;
        let psp = Psp::create(&ia, None, &evd, mode(psp_flags)?).at(&[])?;
        qualifier.write(psp.point.qualifier());
        give(out, &psp)
    })
}

crate::query_slot!(dat_psp_query: Psp as Psp, DAT_PSP_PARAM_MASK, DAT_PSP_FIELD_ALL, DAT_PSP_PARAM, |psp| {
    DAT_PSP_PARAM {
        ia_handle: ia_handle::<F>(&psp.point.ia),
        conn_qual: psp.point.qualifier(),
        evd_handle: handle_or_null(psp.point.evd().as_ref()),
        psp_flags: psp.mode as DAT_PSP_FLAGS,
    }
});

crate::simple_slot!(dat_psp_free: Psp as Psp, free);
