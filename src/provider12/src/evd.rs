//! Event dispatchers. Waiting on them is in [`crate::wait`], dequeuing in [`crate::post`].

use dat_core::error::{Arg, Role};
use dat_core::{Cno, Evd, Ia};
use dat_face::guard::slow;
use dat_face::handle::{find, find_or_null, handle_of, handle_or_null, same_ia};
use dat_face::ptr::{InPtr, OutPtr, read_field};
use dat_face::{At, Face, Fault, count};
use dat_udat12::{
    DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_FIELD_ALL, DAT_EVD_FLAGS, DAT_EVD_HANDLE, DAT_EVD_PARAM, DAT_EVD_PARAM_MASK,
    DAT_EVD_STATE_DISABLED, DAT_EVD_STATE_ENABLED, DAT_EVD_STATE_UNWAITABLE, DAT_EVD_STATE_WAITABLE, DAT_EVENT,
    DAT_IA_HANDLE, DAT_RETURN, DAT_SOFTWARE_EVENT,
};

use crate::attr::{c_feed, c_streams, streams};

/// Slot of dat_evd_create: makes an event dispatcher, enabled and waitable.
///
/// # Parameters
/// * `ia_handle` - in, the adapter.
/// * `evd_min_qlen` - in, events that it must hold, 1 to `max_evd_qlen`.
/// * `cno_handle` - in, the notification object to trigger, or `DAT_HANDLE_NULL`.
/// * `evd_flags` - in, the streams that it admits, bits of `DAT_EVD_DEFAULT_FLAG` and
///   `DAT_EVD_SOFTWARE_FLAG`, in any combination, at least one.
/// * `evd_handle` - out, the dispatcher.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not NULL and not a notification object of the adapter |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the length is 0 or negative |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | no flag, or unknown ones |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `evd_handle` is NULL |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | the length or the number of dispatchers is above the adapter's limit |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | no memory |
///
/// # Specification
/// uDAPL 1.2, dat_evd_create.
///
/// # Safety
/// `evd_handle` is NULL or writable.
pub unsafe extern "C" fn create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    evd_min_qlen: DAT_COUNT,
    cno_handle: DAT_CNO_HANDLE,
    evd_flags: DAT_EVD_FLAGS,
    evd_handle: *mut DAT_EVD_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let evd_handle = unsafe { OutPtr::new(evd_handle) };
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let cno = find_or_null::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        if let Some(cno) = &cno {
            same_ia(&ia, cno.ia(), Role::Cno)?;
        }
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        let streams = streams(evd_flags).ok_or(Fault::Argument(4))?;
        let out = evd_handle.required(5)?;
        let evd = Evd::create(&ia, qlen, cno.as_ref(), streams).at(&[(Arg::QueueLength, 2), (Arg::Streams, 4)])?;
        out.write(handle_of(&*evd));
        Ok(())
    })
}

/// Slot of dat_evd_query: tells the parameters of a dispatcher.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher.
/// * `evd_param_mask` - in, the wanted fields, bits of `DAT_EVD_FIELD_ALL`.
/// * `evd_param` - out, the parameters. The configuration band of the state is 0 until an
///   endpoint feeds the dispatcher.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_param` is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_evd_query(3DAT).
///
/// # Safety
/// `evd_param` is NULL or writable.
pub unsafe extern "C" fn query<F: Face>(
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
            ia_handle: handle_of(&**evd.ia()),
            evd_qlen: count(status.qlen),
            evd_state: notification | waiting | c_feed(status.feed),
            cno_handle: handle_or_null(evd.cno().as_ref()),
            evd_flags: c_streams(evd.streams()),
        });
        Ok(())
    })
}

/// Slot of dat_evd_modify_cno: ties a dispatcher to another notification object.
///
/// During the call events may trigger either; after it only the new one. Events that are
/// queued already do not trigger it.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher.
/// * `cno_handle` - in, the notification object; `DAT_HANDLE_NULL` for none.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not NULL and not a notification object of the same adapter |
///
/// # Specification
/// uDAPL 1.2, dat_evd_modify_cno(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn modify_cno<F: Face>(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN {
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
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Has no effect if it is so already.
        ///
        /// # Parameters
        /// * `evd_handle` - in, the dispatcher.
        ///
        /// # Errors
        /// | returned | when |
        /// |---|---|
        /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
        ///
        /// # Specification
        #[doc = concat!("uDAPL 1.2, dat_evd_", stringify!($name), "(3DAT).")]
        ///
        /// # Safety
        /// None; a slot has the type that the table says.
        pub unsafe extern "C" fn $name<F: Face>(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN {
            slow::<F>(|| {
                find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?.$name();
                Ok(())
            })
        }
    };
}

switch! {
    /// Slot of dat_evd_enable: lets events trigger the notification object.
    enable
}

switch! {
    /// Slot of dat_evd_disable: keeps events from triggering the notification object. They
    /// are queued all the same; a trigger on its way may still arrive.
    disable
}

switch! {
    /// Slot of dat_evd_set_unwaitable: makes dat_evd_wait refuse, also for a thread that
    /// waits already.
    set_unwaitable
}

switch! {
    /// Slot of dat_evd_clear_unwaitable: lets threads wait again.
    clear_unwaitable
}

/// Slot of dat_evd_resize: changes the room of a dispatcher. No event is lost, and a waiting
/// thread keeps its threshold.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher.
/// * `evd_min_qlen` - in, events that it must hold, 1 to `max_evd_qlen`.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the length is 0 or negative |
/// | `DAT_INVALID_STATE` | more events are queued |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | the length is above the adapter's limit |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | no memory |
///
/// # Specification
/// uDAPL 1.2, dat_evd_resize(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn resize<F: Face>(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT) -> DAT_RETURN {
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        evd.resize(qlen).at(&[(Arg::QueueLength, 2)])
    })
}

/// Slot of dat_evd_post_se: queues a software event, which notifies.
///
/// # Parameters
/// * `evd_handle` - in, a dispatcher with `DAT_EVD_SOFTWARE_FLAG`.
/// * `event` - in, number `DAT_SOFTWARE_EVENT`, and the pointer that is to be handed out.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL, or its number another one |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | the dispatcher does not admit software events |
/// | `DAT_QUEUE_FULL` | no room; nothing is lost |
///
/// # Specification
/// uDAPL 1.2, dat_evd_post_se(3DAT).
///
/// # Safety
/// `event` is NULL or points to an event.
pub unsafe extern "C" fn post_se<F: Face>(evd_handle: DAT_EVD_HANDLE, event: *const DAT_EVENT) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let event = unsafe { InPtr::new(event) };
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let number = read_field!(event, event_number);
        let pointer = read_field!(event, event_data.software_event_data.pointer);
        match (number, pointer) {
            (Some(DAT_SOFTWARE_EVENT), Some(pointer)) => {
                evd.post_software(pointer.expose_provenance()).at(&[(Arg::Evd, 1)])
            }
            _ => Err(Fault::Argument(2)),
        }
    })
}

/// Slot of dat_evd_free: frees a dispatcher and the events on it.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_IN_USE` | an endpoint, a service point or an adapter feeds it |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
///
/// # Specification
/// uDAPL 1.2, dat_evd_free(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn free<F: Face>(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?.free().at(&[]))
}
