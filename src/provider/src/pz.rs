//! Protection zones.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::Role;
use dat_core::{Ia, Pz};
use dat_udat::{DAT_IA_HANDLE, DAT_PZ_FIELD_ALL, DAT_PZ_HANDLE, DAT_PZ_PARAM, DAT_PZ_PARAM_MASK, DAT_RETURN};

use crate::call::making;
use crate::handle::{find, give};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::{At, Provider};

pub fn dat_pz_create<F: Provider>(ia_handle: DAT_IA_HANDLE, pz_handle: OutPtr<DAT_PZ_HANDLE>) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let out = pz_handle.required(2)?;
        give(out, &Pz::create(&ia).at(&[])?)
    })
}

crate::query_slot!(dat_pz_query: Pz as Pz, DAT_PZ_PARAM_MASK, DAT_PZ_FIELD_ALL, DAT_PZ_PARAM, |pz| {
    DAT_PZ_PARAM { ia_handle: ia_handle::<F>(pz.ia()) }
});

crate::simple_slot!(dat_pz_free: Pz as Pz, free);
