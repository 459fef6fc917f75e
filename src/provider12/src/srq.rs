//! Shared receive queues. Posting to them is in [`crate::post`].

use dat_core::error::{Arg, Role};
use dat_core::{Ia, Pz, Srq};
use dat_face::guard::slow;
use dat_face::handle::{find, handle_of, handle_or_null, same_ia};
use dat_face::ptr::{InPtr, OutPtr};
use dat_face::{At, Face, Fault, count};
use dat_udat12::{
    DAT_COUNT, DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_RETURN, DAT_SRQ_ATTR, DAT_SRQ_FIELD_ALL, DAT_SRQ_HANDLE,
    DAT_SRQ_LW_DEFAULT, DAT_SRQ_PARAM, DAT_SRQ_PARAM_MASK, DAT_SRQ_STATE_OPERATIONAL,
};

/// Slot of dat_srq_create: makes a shared receive queue to which no endpoint is attached.
///
/// # Parameters
/// * `ia_handle` - in, the adapter.
/// * `pz_handle` - in, the zone that its buffers must be in.
/// * `srq_attributes` - in, buffers that can be outstanding (1 to `max_recv_per_srq`), segments of
///   a buffer (1 to `max_iov_segments_per_dto`), and `DAT_SRQ_LW_DEFAULT`: any other low
///   watermark would be undercut already. dat_srq_query tells the sizes that it got.
/// * `srq_handle` - out, the queue.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | NULL, or not a zone of the adapter |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `srq_attributes` is NULL; a size is 0, negative or above the limit; another low watermark than the default |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | `srq_handle` is NULL |
/// | `DAT_MODEL_NOT_SUPPORTED` | the transport has no shared receive queues |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_SRQ`, `DAT_RESOURCE_MEMORY` | no more queues, no memory |
///
/// # Specification
/// uDAPL 1.2, dat_srq_create(3DAT).
///
/// # Safety
/// `srq_attributes` is NULL or readable, `srq_handle` NULL or writable.
pub unsafe extern "C" fn create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    srq_attributes: *mut DAT_SRQ_ATTR,
    srq_handle: *mut DAT_SRQ_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let srq_attributes = unsafe { InPtr::new(srq_attributes) };
    // SAFETY: the caller's promise.
    let srq_handle = unsafe { OutPtr::new(srq_handle) };
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let pz = find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
        same_ia(&ia, pz.ia(), Role::Pz)?;
        let attr: DAT_SRQ_ATTR = srq_attributes.required(3)?;
        let out = srq_handle.required(4)?;
        if attr.low_watermark != DAT_SRQ_LW_DEFAULT {
            return Err(Fault::Argument(3));
        }
        let size = |count| usize::try_from(count).map_err(|_| Fault::Argument(3));
        let srq =
            Srq::create(&ia, &pz, size(attr.max_recv_dtos)?, size(attr.max_recv_iov)?).at(&[(Arg::Attributes, 3)])?;
        out.write(handle_of(&*srq));
        Ok(())
    })
}

/// Slot of dat_srq_query: tells the parameters of a queue, exactly as they are at this moment.
///
/// # Parameters
/// * `srq_handle` - in, the queue.
/// * `srq_param_mask` - in, the wanted fields, bits of `DAT_SRQ_FIELD_ALL`.
/// * `srq_param` - out, the parameters. `available_dto_count` are the buffers that an endpoint
///   could still take; `outstanding_dto_count` also counts those that endpoints hold and those whose
///   completion was not dequeued.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `srq_param` is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_srq_query(3DAT).
///
/// # Safety
/// `srq_param` is NULL or writable.
pub unsafe extern "C" fn query<F: Face>(
    srq_handle: DAT_SRQ_HANDLE,
    srq_param_mask: DAT_SRQ_PARAM_MASK,
    srq_param: *mut DAT_SRQ_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let srq_param = unsafe { OutPtr::new(srq_param) };
    slow::<F>(|| {
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        if srq_param_mask & !DAT_SRQ_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        let out = srq_param.required(3)?;
        let status = srq.query();
        out.write(DAT_SRQ_PARAM {
            ia_handle: handle_of(&**srq.ia()),
            srq_state: DAT_SRQ_STATE_OPERATIONAL,
            pz_handle: handle_or_null(srq.pz().as_ref()),
            max_recv_dtos: count(status.max_recvs),
            max_recv_iov: count(status.max_segments),
            low_watermark: count(status.low_watermark),
            available_dto_count: count(status.available),
            outstanding_dto_count: count(status.outstanding),
        });
        Ok(())
    })
}

/// Slot of dat_srq_resize: changes the number of buffers that can be outstanding, to exactly
/// this. No buffer and no message is lost; the low watermark stays armed, or not, as it was.
///
/// # Parameters
/// * `srq_handle` - in, the queue.
/// * `srq_max_recv_dto` - in, 1 to `max_recv_per_srq`.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | 0, negative, or above the limit |
/// | `DAT_INVALID_STATE` | more buffers are outstanding, or the low watermark is higher |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | no memory |
///
/// # Specification
/// uDAPL 1.2, dat_srq_resize(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn resize<F: Face>(srq_handle: DAT_SRQ_HANDLE, srq_max_recv_dto: DAT_COUNT) -> DAT_RETURN {
    slow::<F>(|| {
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        let size = usize::try_from(srq_max_recv_dto).map_err(|_| Fault::Argument(2))?;
        srq.resize(size).at(&[(Arg::QueueLength, 2)])
    })
}

/// Slot of dat_srq_set_lw: sets the low watermark and arms its event.
///
/// The event comes once, at once if fewer buffers are available already, otherwise when an
/// endpoint takes one and leaves fewer.
///
/// # Parameters
/// * `srq_handle` - in, the queue.
/// * `low_watermark` - in, 0 to the number of buffers that can be outstanding; 0 disarms.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | negative, or above the size of the queue |
/// | `DAT_MODEL_NOT_SUPPORTED` | the transport cannot tell |
///
/// # Events
/// `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR` on the EVD for asynchronous events, `dat_handle` the
/// queue, `reason` `DAT_SRQ_LOW_WATERMARK_EVENT`.
///
/// # Specification
/// uDAPL 1.2, dat_srq_set_lw(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn set_lw<F: Face>(srq_handle: DAT_SRQ_HANDLE, low_watermark: DAT_COUNT) -> DAT_RETURN {
    slow::<F>(|| {
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        let low_watermark = usize::try_from(low_watermark).map_err(|_| Fault::Argument(2))?;
        srq.set_low_watermark(low_watermark).at(&[(Arg::Watermark, 2)])
    })
}

/// Slot of dat_srq_free: frees a queue; buffers on it vanish without completion.
///
/// # Parameters
/// * `srq_handle` - in, the queue.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_SRQ_IN_USE` | an endpoint is attached |
///
/// # Specification
/// uDAPL 1.2, dat_srq_free(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn free<F: Face>(srq_handle: DAT_SRQ_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?.free().at(&[]))
}
