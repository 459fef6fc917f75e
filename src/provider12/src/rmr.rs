//! Remote memory regions.

use dat_core::error::{Arg, Role};
use dat_core::{Endpoint, Handle, Lmr, LocalSegment, Pz, Rights, Rmr};
use dat_face::call::{making, slow};
use dat_face::handle::{find, handle_of, handle_or_null, raw, same_ia};
use dat_face::ptr::{InPtr, OutPtr};
use dat_face::{At, Face, Fault};
use dat_udat12::{
    DAT_COMPLETION_FLAGS, DAT_EP_HANDLE, DAT_LMR_TRIPLET, DAT_MEM_PRIV_FLAGS, DAT_PZ_HANDLE, DAT_RETURN,
    DAT_RMR_CONTEXT, DAT_RMR_COOKIE, DAT_RMR_FIELD_ALL, DAT_RMR_HANDLE, DAT_RMR_PARAM, DAT_RMR_PARAM_MASK,
};

use crate::attr::{c_rights, rights};
use crate::post::{completion_flags, local_segment, word};

/// Slot of dat_rmr_create.
///
/// # Safety
/// `rmr_handle` is NULL or writable.
pub unsafe extern "C" fn dat_rmr_create<F: Face>(
    pz_handle: DAT_PZ_HANDLE,
    rmr_handle: *mut DAT_RMR_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rmr_handle = unsafe { OutPtr::new(rmr_handle) };
    making::<F>(|| {
        let pz = find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
        let out = rmr_handle.required(2)?;
        let rmr = Rmr::create(&pz).at(&[])?;
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
    rmr_param: *mut DAT_RMR_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rmr_param = unsafe { OutPtr::new(rmr_param) };
    slow::<F>(|| {
        let rmr = find::<F, Rmr<F::Transport>>(rmr_handle, Role::Rmr)?;
        if rmr_param_mask & !DAT_RMR_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        let out = rmr_param.required(3)?;
        let bound = rmr.status();
        let segment = bound.map_or(LocalSegment { context: 0, addr: 0, len: 0 }, |bound| bound.segment);
        out.write(DAT_RMR_PARAM {
            ia_handle: handle_of(&**rmr.ia()),
            pz_handle: handle_or_null(rmr.pz().as_ref()),
            lmr_triplet: DAT_LMR_TRIPLET {
                lmr_context: segment.context,
                pad: 0,
                virtual_address: segment.addr,
                segment_length: segment.len,
            },
            mem_priv: bound.map_or(0, |bound| c_rights(bound.rights)),
            rmr_context: bound.map_or(0, |bound| bound.remote_key),
        });
        Ok(())
    })
}

/// Slot of dat_rmr_bind.
///
/// # Safety
/// `lmr_triplet` is NULL or readable, `context` NULL or writable.
pub unsafe extern "C" fn dat_rmr_bind<F: Face>(
    rmr_handle: DAT_RMR_HANDLE,
    lmr_triplet: *const DAT_LMR_TRIPLET,
    mem_priv: DAT_MEM_PRIV_FLAGS,
    ep_handle: DAT_EP_HANDLE,
    user_cookie: DAT_RMR_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
    context: *mut DAT_RMR_CONTEXT,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let lmr_triplet = unsafe { InPtr::new(lmr_triplet) };
    // SAFETY: the caller's promise.
    let context = unsafe { OutPtr::new(context) };
    slow::<F>(|| {
        let rmr = find::<F, Rmr<F::Transport>>(rmr_handle, Role::Rmr)?;
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        same_ia(rmr.ia(), ep.ia(), Role::Ep)?;
        let segment = local_segment(&lmr_triplet.required(2)?);
        let unbind = segment.len == 0;
        let out = if unbind { context.optional() } else { Some(context.required(7)?) };
        let (lmr, rights) = if unbind {
            (None, Rights::NONE)
        } else {
            let rights = rights(mem_priv).ok_or(Fault::Argument(3))?;
            let handle: Option<Handle> = rmr.ia().lmrs().handle_of(segment.context);
            let lmr = handle.and_then(|handle| F::domain().get::<Lmr<F::Transport>>(raw(handle)));
            let lmr = lmr.ok_or(Fault::Argument(2))?.share();
            (Some(lmr), rights.intersection(Rights::REMOTE_READ | Rights::REMOTE_WRITE))
        };
        let completion_flags = self::completion_flags(completion_flags);
        let key = ep
            .post_bind(&rmr, lmr.as_ref(), segment, rights, word(user_cookie), completion_flags)
            .at(&[(Arg::Segments, 2), (Arg::Flags, 6)])?;
        if let Some(out) = out {
            out.write(key);
        }
        Ok(())
    })
}

/// Slot of dat_rmr_free.
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn dat_rmr_free<F: Face>(rmr_handle: DAT_RMR_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        find::<F, Rmr<F::Transport>>(rmr_handle, Role::Rmr)?.free();
        Ok(())
    })
}
