//! Event dispatchers (EVD). Dequeueing and waiting are in [`fast`](crate::fast).

use dat_udat12::{
    DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_FLAGS, DAT_EVD_HANDLE, DAT_EVD_PARAM, DAT_EVD_PARAM_MASK, DAT_EVENT,
    DAT_IA_HANDLE,
};

dispatch! {
    /// Makes an EVD, enabled and waitable.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `evd_min_qlen` - in, events it must be able to hold.
    /// * `cno_handle` - in, the CNO it triggers, or `DAT_HANDLE_NULL`.
    /// * `evd_flags` - in, bits of `DAT_EVD_FLAGS` for the streams it may be fed by, at least one.
    /// * `evd_handle` - out, the EVD; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open IA |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | length below 1 |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | no flag, an unknown one, or streams that do not go together |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `evd_handle` is NULL |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | length above `max_evd_qlen`, or no resources of the adapter |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_create(3DAT).
    extern "C" fn dat_evd_create(
        ia_handle: DAT_IA_HANDLE,
        evd_min_qlen: DAT_COUNT,
        cno_handle: DAT_CNO_HANDLE,
        evd_flags: DAT_EVD_FLAGS,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) as udat => evd_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Tells the attributes and the state of an EVD.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    /// * `evd_param_mask` - in, the fields that are wanted, bits of `DAT_EVD_FIELD_ALL`.
    /// * `evd_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_query(3DAT).
    extern "C" fn dat_evd_query(
        evd_handle: DAT_EVD_HANDLE,
        evd_param_mask: DAT_EVD_PARAM_MASK,
        evd_param: *mut DAT_EVD_PARAM,
    ) as evd => evd_query_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Attaches an EVD to another CNO or to none.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    /// * `cno_handle` - in, the CNO, or `DAT_HANDLE_NULL`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_modify_cno(3DAT).
    extern "C" fn dat_evd_modify_cno(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE)
        as udat => evd_modify_cno_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Lets events trigger the CNO of an EVD. Without effect if they do.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_enable(3DAT).
    extern "C" fn dat_evd_enable(evd_handle: DAT_EVD_HANDLE)
        as udat => evd_enable_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Keeps events from triggering the CNO of an EVD. Without effect if they do not.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_disable(3DAT).
    extern "C" fn dat_evd_disable(evd_handle: DAT_EVD_HANDLE)
        as udat => evd_disable_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Makes an EVD one that cannot be waited on; a thread that waits on it returns with
    /// `DAT_INVALID_STATE`. Without effect if it is one.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_set_unwaitable(3DAT).
    extern "C" fn dat_evd_set_unwaitable(evd_handle: DAT_EVD_HANDLE)
        as udat => evd_set_unwaitable_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Makes an EVD one that can be waited on again. Without effect if it is one.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_clear_unwaitable(3DAT).
    extern "C" fn dat_evd_clear_unwaitable(evd_handle: DAT_EVD_HANDLE)
        as udat => evd_clear_unwaitable_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Posts a software event.
    ///
    /// # Parameters
    /// * `evd_handle` - in, an EVD that admits software events.
    /// * `event` - in, its number must be `DAT_SOFTWARE_EVENT`; the pointer in it arrives as it is.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | the EVD does not admit software events |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL or has another number |
    /// | `DAT_QUEUE_FULL` | no room; nothing was posted |
    ///
    /// # Events
    /// `DAT_SOFTWARE_EVENT` on this EVD.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_post_se(3DAT).
    extern "C" fn dat_evd_post_se(evd_handle: DAT_EVD_HANDLE, event: *const DAT_EVENT)
        as evd => evd_post_se_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Changes how many events an EVD can hold. No event is lost.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD; streams may feed it meanwhile.
    /// * `evd_min_qlen` - in, events it must be able to hold.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | length below 1 |
    /// | `DAT_INVALID_STATE` | more events than that are queued |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_MEMORY` | length above `max_evd_qlen`; out of memory |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_resize(3DAT).
    extern "C" fn dat_evd_resize(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT)
        as evd => evd_resize_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Destroys an EVD with the events in it.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_IN_USE` | an endpoint, a service point or the IA feeds it |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_free(3DAT).
    extern "C" fn dat_evd_free(evd_handle: DAT_EVD_HANDLE)
        as evd => evd_free_func, DAT_INVALID_HANDLE1
}
