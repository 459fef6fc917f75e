//! Posts that only this version has: sends that invalidate a remote key, and reads into memory that a remote key names.

use dat_core::error::{Arg, Role};
use dat_core::event::Transfer;
use dat_core::transport::RemoteSegment;
use dat_core::{Endpoint, LocalSegment};
use dat_udat20::*;

use crate::call::fast;
use crate::handle::find;
use crate::post::{Segments, TRANSFER, completion_flags, word};
use crate::ptr::InPtr;
use crate::v20::Udat20;
use crate::{At, Fault, Positions, Provider, Version};

const READ: Positions = &[(Arg::Segments, 2), (Arg::Flags, 5)];

/// Slot of dat_ep_post_send_with_invalidate.
///
/// # Safety
/// `local_iov` is NULL or has `num_segments` elements.
pub unsafe fn dat_ep_post_send_with_invalidate<F: Provider<Version = Udat20>>(
    ep_handle: DAT_EP_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
    invalidate_flag: DAT_BOOLEAN,
    rmr_context: DAT_RMR_CONTEXT,
) -> DAT_RETURN {
    // SAFETY: the caller passes NULL or `num_segments` elements.
    let segments = unsafe { Segments::<Udat20>::new(num_segments, local_iov) };
    let (cookie, flags) = (word(user_cookie), self::completion_flags(completion_flags));
    fast::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        match invalidate_flag {
            DAT_FALSE => ep.post(&segments, cookie, flags, Transfer::Send, &RemoteSegment::NONE).at(TRANSFER),
            DAT_TRUE => ep.post_send_invalidate(&segments, cookie, rmr_context, flags).at(TRANSFER),
            _ => Err(Fault::Argument(6)),
        }
    })
}

/// Slot of dat_ep_post_rdma_read_to_rmr.
pub fn dat_ep_post_rdma_read_to_rmr<F: Provider<Version = Udat20>>(
    ep_handle: DAT_EP_HANDLE,
    local_iov: InPtr<DAT_RMR_TRIPLET>,
    user_cookie: DAT_DTO_COOKIE,
    remote_iov: InPtr<DAT_RMR_TRIPLET>,
    completion_flags: DAT_COMPLETION_FLAGS,
) -> DAT_RETURN {
    fast::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let RemoteSegment { addr, len, key } = Udat20::remote_segment(&local_iov.required(2)?);
        let local = LocalSegment { context: key, addr, len };
        let remote = Udat20::remote_segment(&remote_iov.required(4)?);
        ep.post_read_to_rmr(local, word(user_cookie), remote, self::completion_flags(completion_flags)).at(READ)
    })
}
