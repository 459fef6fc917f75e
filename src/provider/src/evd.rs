//! Event dispatchers. Waiting on them is in [`crate::wait`], dequeuing in [`crate::post`].

use dat_core::error::{Arg, Role};
use dat_core::{Cno, Evd, Ia};
use dat_udat::*;

use crate::attr::{c_feed, c_streams, streams};
use crate::call::{making, slow};
use crate::handle::{find, find_or_null, handle_of, handle_or_null, same_ia};
use crate::ia::ia_handle;
use crate::ptr::{InPtr, OutPtr};
use crate::{At, Face, Fault, Version, count};

/// An event in the form of a face.
pub(crate) type Event<F> = <<F as Face>::Version as Version>::Event;

/// Slot of dat_evd_create.
///
/// # Safety
/// `evd_handle` is NULL or writable.
pub unsafe extern "C" fn dat_evd_create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    evd_min_qlen: DAT_COUNT,
    cno_handle: DAT_CNO_HANDLE,
    evd_flags: DAT_EVD_FLAGS,
    evd_handle: *mut DAT_EVD_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let evd_handle = unsafe { OutPtr::new(evd_handle) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let cno = find_or_null::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        if let Some(cno) = &cno {
            same_ia(&ia, cno.ia(), Role::Cno)?;
        }
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        let streams = streams::<F::Version>(evd_flags).ok_or(Fault::Argument(4))?;
        let out = evd_handle.required(5)?;
        let evd = Evd::create(&ia, qlen, cno.as_ref(), streams).at(&[(Arg::QueueLength, 2), (Arg::Streams, 4)])?;
        out.write(handle_of(&*evd));
        Ok(())
    })
}

/// Slot of dat_evd_query.
///
/// # Safety
/// `evd_param` is NULL or writable.
pub unsafe extern "C" fn dat_evd_query<F: Face>(
    evd_handle: DAT_EVD_HANDLE,
    evd_param_mask: DAT_EVD_PARAM_MASK,
    evd_param: *mut DAT_EVD_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let evd_param = unsafe { OutPtr::new(evd_param) };
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        if evd_param_mask & !DAT_EVD_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        let out = evd_param.required(3)?;
        let status = evd.status();
        let notification = if status.enabled { DAT_EVD_STATE_ENABLED } else { DAT_EVD_STATE_DISABLED };
        let waiting = if status.waitable { DAT_EVD_STATE_WAITABLE } else { DAT_EVD_STATE_UNWAITABLE };
        out.write(DAT_EVD_PARAM {
            ia_handle: ia_handle::<F>(evd.ia()),
            evd_qlen: count(status.qlen),
            evd_state: notification | waiting | c_feed(status.feed),
            cno_handle: handle_or_null(evd.cno().as_ref()),
            evd_flags: c_streams::<F::Version>(evd.streams),
        });
        Ok(())
    })
}

/// Slot of dat_evd_modify_cno.
pub extern "C" fn dat_evd_modify_cno<F: Face>(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let cno = find_or_null::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        if let Some(cno) = &cno {
            same_ia(evd.ia(), cno.ia(), Role::Cno)?;
        }
        evd.modify_cno(cno.as_ref()).at(&[])
    })
}

/// A slot that takes a dispatcher and always succeeds.
macro_rules! switch {
    ($slot:ident, $call:ident) => {
        #[doc = concat!("Slot of ", stringify!($slot), ".")]
        ///
        /// # Safety
        /// None; a slot has the type that the table says.
        pub unsafe extern "C" fn $slot<F: Face>(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN {
            slow::<F>(|| {
                find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?.$call();
                Ok(())
            })
        }
    };
}

switch!(dat_evd_enable, enable);
switch!(dat_evd_disable, disable);
switch!(dat_evd_set_unwaitable, set_unwaitable);
switch!(dat_evd_clear_unwaitable, clear_unwaitable);

/// Slot of dat_evd_resize.
pub extern "C" fn dat_evd_resize<F: Face>(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT) -> DAT_RETURN {
    making::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        evd.resize(qlen).at(&[(Arg::QueueLength, 2)])
    })
}

/// Slot of dat_evd_post_se.
///
/// # Safety
/// `event` is NULL or points to an event.
pub unsafe extern "C" fn dat_evd_post_se<F: Face>(evd_handle: DAT_EVD_HANDLE, event: *const Event<F>) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let event = unsafe { InPtr::new(event) };
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let pointer = F::Version::software_event(event).ok_or(Fault::Argument(2))?;
        evd.post_software(pointer).at(&[(Arg::Evd, 1)])
    })
}

/// Slot of dat_evd_free.
pub extern "C" fn dat_evd_free<F: Face>(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?.free().at(&[]))
}
