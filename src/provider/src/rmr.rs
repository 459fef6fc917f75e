//! Remote memory regions.

use std::sync::Arc;

use dat_core::error::Role;
use dat_core::transport::Scope;
use dat_core::{Base, Endpoint, Lmr, LocalSegment, Pz, Rights, Rmr};
use dat_udat::*;

use crate::attr::rights;
use crate::call::{making, slow};
use crate::handle::{find, handle_of, same_ia};
use crate::post::{completion_flags, word};
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, At, Face, Fault, Positions, Version};

/// What dat_rmr_query tells in the form of a face.
type RmrParam<F> = <<F as Face>::Version as Version>::RmrParam;

/// Slot of dat_rmr_create.
///
/// # Safety
/// `rmr_handle` is NULL or writable.
pub unsafe extern "C" fn dat_rmr_create<F: Face>(
    pz_handle: DAT_PZ_HANDLE,
    rmr_handle: *mut DAT_RMR_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    unsafe { create_for::<F>(pz_handle, rmr_handle, Scope::Zone) }
}

/// Does the work of dat_rmr_create and of dat_rmr_create_for_ep.
///
/// # Safety
/// `rmr_handle` is NULL or writable.
pub unsafe fn create_for<F: Face>(
    pz_handle: DAT_PZ_HANDLE,
    rmr_handle: *mut DAT_RMR_HANDLE,
    scope: Scope,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rmr_handle = unsafe { OutPtr::new(rmr_handle) };
    making::<F>(|| {
        let pz = find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
        let out = rmr_handle.required(2)?;
        let rmr = Rmr::create(&pz, scope).at(&[])?;
        out.write(handle_of(&*rmr));
        Ok(())
    })
}

/// Slot of dat_rmr_query.
///
/// # Safety
/// `rmr_param` is NULL or writable.
pub unsafe extern "C" fn dat_rmr_query<F: Face>(
    rmr_handle: DAT_RMR_HANDLE,
    rmr_param_mask: DAT_RMR_PARAM_MASK,
    rmr_param: *mut RmrParam<F>,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rmr_param = unsafe { OutPtr::new(rmr_param) };
    slow::<F>(|| {
        let rmr = find::<F, Rmr<F::Transport>>(rmr_handle, Role::Rmr)?;
        if rmr_param_mask & !F::Version::RMR_FIELDS != 0 {
            return Err(Fault::Argument(2));
        }
        let out = rmr_param.required(3)?;
        out.write(F::Version::rmr_param::<F>(&rmr));
        Ok(())
    })
}

/// The arguments of dat_rmr_bind.
pub struct Bind<V: Version> {
    /// The region to bind, the first argument.
    pub rmr: DAT_RMR_HANDLE,
    /// The memory.
    pub triplet: InPtr<V::LmrTriplet>,
    /// What peers may do there.
    pub privileges: DAT_MEM_PRIV_FLAGS,
    /// The endpoint that binds.
    pub ep: DAT_EP_HANDLE,
    /// What the completion brings back.
    pub cookie: DAT_RMR_COOKIE,
    /// How it completes.
    pub flags: DAT_COMPLETION_FLAGS,
    /// The place for the context, required unless the call unbinds.
    pub context: OutPtr<DAT_RMR_CONTEXT>,
}

/// The positions of the arguments of dat_rmr_bind that can be wrong.
pub struct BindPositions {
    /// Of the memory.
    pub triplet: u32,
    /// Of the rights.
    pub privileges: u32,
    /// Of the place for the context.
    pub context: u32,
    /// Those of the arguments that the core checks.
    pub core: Positions,
}

/// Does the work of dat_rmr_bind. `lmr` finds the memory region that a segment with bytes lies in, and how peers name the
/// first of them.
pub fn bind<F: Face>(
    arguments: &Bind<F::Version>,
    positions: &BindPositions,
    lmr: impl FnOnce(&Rmr<F::Transport>, &LocalSegment) -> Answer<(Arc<Lmr<F::Transport>>, Base)>,
) -> DAT_RETURN {
    slow::<F>(|| {
        let rmr = find::<F, Rmr<F::Transport>>(arguments.rmr, Role::Rmr)?;
        let ep = find::<F, Endpoint<F::Transport>>(arguments.ep, Role::Ep)?;
        same_ia(rmr.ia(), ep.ia(), Role::Ep)?;
        let segment = F::Version::local_segment(&arguments.triplet.required(positions.triplet)?);
        let unbind = segment.len == 0;
        let context = arguments.context;
        let out = if unbind { context.optional() } else { Some(context.required(positions.context)?) };
        let (lmr, base, rights) = if unbind {
            (None, Base::Address, Rights::NONE)
        } else {
            let rights = rights::<F::Version>(arguments.privileges).ok_or(Fault::Argument(positions.privileges))?;
            let (lmr, base) = lmr(&rmr, &segment)?;
            (Some(lmr), base, rights.intersection(Rights::REMOTE))
        };
        let flags = completion_flags(arguments.flags);
        let cookie = word(arguments.cookie);
        let key = ep.post_bind(&rmr, lmr.as_ref(), segment, rights, base, cookie, flags).at(positions.core)?;
        if let Some(out) = out {
            out.write(key);
        }
        Ok(())
    })
}

/// Slot of dat_rmr_free.
pub extern "C" fn dat_rmr_free<F: Face>(rmr_handle: DAT_RMR_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        find::<F, Rmr<F::Transport>>(rmr_handle, Role::Rmr)?.free();
        Ok(())
    })
}
