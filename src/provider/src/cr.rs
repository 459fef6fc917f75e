//! Connection requests. Each version has its own slot for rejects.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Role};
use dat_core::{Cr, Endpoint};
use dat_udat::*;

use crate::attr::address_ptr;
use crate::call::{making, slow};
use crate::ep::connect;
use crate::handle::{find, find_in_or_null, handle_or_null};
use crate::ptr::c_bytes;
use crate::{At, Provider};

crate::query_slot!(dat_cr_query: Cr as Cr, DAT_CR_PARAM_MASK, DAT_CR_FIELD_ALL, DAT_CR_PARAM, |cr| {
    let (private_data_size, private_data) = c_bytes(&cr.private_data);
    DAT_CR_PARAM {
        remote_ia_address_ptr: address_ptr(&cr.remote_address),
        remote_port_qual: cr.remote_qualifier,
        private_data_size,
        private_data,
        local_ep_handle: handle_or_null(cr.ep.as_ref()),
    }
});

/// # Safety
/// `private_data` is NULL or has `private_data_size` bytes.
pub unsafe fn dat_cr_accept<F: Provider>(
    cr_handle: DAT_CR_HANDLE,
    ep_handle: DAT_EP_HANDLE,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
) -> DAT_RETURN {
    making::<F>(|| {
        let cr = find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?;
        let ep = find_in_or_null::<F, _>(cr.ia(), ep_handle, Role::Ep, Endpoint::ia)?;
        let max = cr.ia().attributes().max_private_data;
        // SAFETY: the caller promises NULL or `private_data_size` bytes.
        let private_data = unsafe { connect::private_data(private_data_size, private_data, max, 3) }?;
        cr.accept(ep.as_ref(), &private_data).at(&[])
    })
}

pub fn dat_cr_handoff<F: Provider>(cr_handle: DAT_CR_HANDLE, handoff: DAT_CONN_QUAL) -> DAT_RETURN {
    slow::<F>(|| find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?.handoff(handoff).at(&[(Arg::Qualifier, 2)]))
}
