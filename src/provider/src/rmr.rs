//! Remote memory regions.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use std::sync::Arc;

use dat_core::error::Role;
use dat_core::transport::Scope;
use dat_core::{Base, Endpoint, Lmr, LocalSegment, Pz, Rights, Rmr};
use dat_udat::*;

use crate::attr::rights;
use crate::call::making;
use crate::handle::{find, find_in, give};
use crate::post::{completion_flags, word};
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, At, Fault, Positions, Provider, Version};

/// Defines the slot of dat_rmr_query of the version in scope. The lists set fields of the triplet and of the result
/// that only this version has. The values can use `$rmr`, and `$bound`, the binding of `$rmr`.
#[macro_export]
macro_rules! rmr_query {
    (|$rmr:ident, $bound:ident| { triplet { $($pad:ident: $zero:expr)? } $(, $field:ident: $value:expr)* $(,)? }) => {
        $crate::query_slot!(dat_rmr_query: Rmr as Rmr, DAT_RMR_PARAM_MASK, DAT_RMR_FIELD_ALL, DAT_RMR_PARAM, |$rmr| {
            let $bound = $rmr.status().unwrap_or_default();
            DAT_RMR_PARAM {
                ia_handle: $crate::ia::ia_handle::<F>($rmr.ia()),
                pz_handle: $crate::handle::handle_or_null($rmr.pz().as_ref()),
                lmr_triplet: DAT_LMR_TRIPLET {
                    lmr_context: $bound.segment.context,
                    virtual_address: $bound.segment.addr,
                    segment_length: $crate::Size::size($bound.segment.len),
                    $($pad: $zero,)?
                },
                mem_priv: $bound.rights.bits().into(),
                rmr_context: $bound.remote_key,
                $($field: $value,)*
            }
        });
    };
}

pub fn dat_rmr_create<F: Provider>(pz_handle: DAT_PZ_HANDLE, rmr_handle: OutPtr<DAT_RMR_HANDLE>) -> DAT_RETURN {
    making::<F>(|| create_rmr::<F>(pz_handle, rmr_handle, Scope::Zone))
}

/// Implements dat_rmr_create and dat_rmr_create_for_ep.
pub fn create_rmr<F: Provider>(
    pz_handle: DAT_PZ_HANDLE,
    rmr_handle: OutPtr<DAT_RMR_HANDLE>,
    scope: Scope,
) -> Answer<()> {
    let pz = find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
    let out = rmr_handle.required(2)?;
    give(out, &Rmr::create(&pz, scope).at(&[])?)
}

/// Common arguments of dat_rmr_bind. Only an unbind needs no `context`.
#[expect(missing_docs, reason = "the call describes them")]
pub struct Bind<V: Version> {
    pub rmr_handle: DAT_RMR_HANDLE,
    pub lmr_triplet: InPtr<V::LmrTriplet>,
    pub mem_priv: DAT_MEM_PRIV_FLAGS,
    pub ep_handle: DAT_EP_HANDLE,
    pub user_cookie: DAT_RMR_COOKIE,
    pub completion_flags: DAT_COMPLETION_FLAGS,
    pub context: OutPtr<DAT_RMR_CONTEXT>,
}

/// Implements dat_rmr_bind. `lmr` returns the LMR of a nonempty segment, and how peers address the segment.
///
/// The subtype of an error depends on the position of the wrong argument, which differs between the versions: the
/// triplet is argument `position`, the privileges are the next one, and the RMR context is argument `last`. `positions`
/// contains the positions of the arguments that core checks.
pub fn bind<F: Provider>(
    call: &Bind<F::Version>,
    [position, last]: [u32; 2],
    positions: Positions,
    lmr: impl FnOnce(&Rmr<F::Transport>, &LocalSegment) -> Answer<(Arc<Lmr<F::Transport>>, Base)>,
) -> Answer<()> {
    let rmr = find::<F, Rmr<F::Transport>>(call.rmr_handle, Role::Rmr)?;
    let ep = find_in::<F, _>(rmr.ia(), call.ep_handle, Role::Ep, Endpoint::ia)?;
    let segment = F::Version::local_segment(&call.lmr_triplet.required(position)?);
    let (lmr, base, rights) = if segment.len == 0 {
        (None, Base::Address, Rights::NONE)
    } else {
        call.context.required(last)?;
        let rights = rights::<F::Version>(call.mem_priv).ok_or(Fault::Argument(position + 1))?;
        let (lmr, base) = lmr(&rmr, &segment)?;
        (Some(lmr), base, rights.intersection(Rights::REMOTE))
    };
    let (cookie, flags) = (word(call.user_cookie), completion_flags(call.completion_flags));
    call.context.offer(ep.post_bind(&rmr, lmr.as_ref(), segment, rights, base, cookie, flags).at(positions)?);
    Ok(())
}

crate::simple_slot!(dat_rmr_free: Rmr as Rmr, free);
