//! Reserved service points.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Error, Role};
use dat_core::{Endpoint, Evd, Ia, Rsp};
use dat_udat::*;

use crate::call::making;
use crate::handle::{find, find_in, give, handle_of, handle_or_null};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::{At, Fault, Provider};

pub fn dat_rsp_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    conn_qual: DAT_CONN_QUAL,
    ep_handle: DAT_EP_HANDLE,
    evd_handle: DAT_EVD_HANDLE,
    rsp_handle: OutPtr<DAT_RSP_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        if ep_handle.is_null() {
            return Err(Fault::Core(Error::ModelNotSupported));
        }
        let ep = find_in::<F, _>(&ia, ep_handle, Role::Ep, Endpoint::ia)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let out = rsp_handle.required(5)?;
        give(
            out,
            &Rsp::create(&ia, conn_qual, &ep, &evd).at(&[(Arg::Qualifier, 2)]).map_err(|fault| match fault {
                Fault::Core(Error::QualifierInUse) => Fault::ReservedQualifierInUse,
                other => other,
            })?,
        )
    })
}

crate::query_slot!(dat_rsp_query: Rsp as Rsp, DAT_RSP_PARAM_MASK, DAT_RSP_FIELD_ALL, DAT_RSP_PARAM, |rsp| {
    DAT_RSP_PARAM {
        ia_handle: ia_handle::<F>(&rsp.point.ia),
        conn_qual: rsp.point.qualifier(),
        evd_handle: handle_or_null(rsp.point.evd().as_ref()),
        ep_handle: handle_of(&*rsp.ep),
    }
});

crate::simple_slot!(dat_rsp_free: Rsp as Rsp, free);
