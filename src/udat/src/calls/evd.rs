/// Calls: event dispatchers. See [`crate::abi`].
#[macro_export]
macro_rules! evd_calls {
    ($callback:path) => {
        $callback! {
            /// Makes an event dispatcher (EVD), enabled and waitable.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `evd_min_qlen` - in, events that it must be able to hold, 1 to `max_evd_qlen`.
            /// * `cno_handle` - in, the CNO that it triggers, or `DAT_HANDLE_NULL`.
            /// * `evd_flags` - in, the streams that it admits, at least one: bits of `DAT_EVD_DEFAULT_FLAG` and
            ///   `DAT_EVD_SOFTWARE_FLAG`.
            /// * `evd_handle` - out, the EVD; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | neither NULL nor a CNO of the adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the length is 0 or negative |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | no flag, an unknown one, or streams that the provider cannot merge (the providers of this project merge all) |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `evd_handle` is NULL |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | the length is above `max_evd_qlen`, or the adapter has no EVD left |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_create(3DAT).
            extern "C" fn dat_evd_create(
                ia_handle: DAT_IA_HANDLE,
                evd_min_qlen: DAT_COUNT,
                cno_handle: DAT_CNO_HANDLE,
                evd_flags: DAT_EVD_FLAGS,
                evd_handle: *mut DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes and the state of an EVD.
            ///
            /// # Parameters
            /// * `evd_handle` - in, the EVD.
            /// * `evd_param_mask` - in, the requested fields, bits of `DAT_EVD_FIELD_ALL`.
            /// * `evd_param` - out, the fields. The configuration band of the state is 0 until an endpoint feeds the EVD.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_query(3DAT).
            extern "C" fn dat_evd_query(
                evd_handle: DAT_EVD_HANDLE,
                evd_param_mask: DAT_EVD_PARAM_MASK,
                evd_param: *mut DAT_EVD_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Attaches an EVD to another CNO, or with DAT_HANDLE_NULL to none. During the call events may trigger
            /// either, afterwards only the new one. Events that are already queued do not trigger it.
            ///
            /// # Parameters
            /// * `evd_handle` - in, the EVD.
            /// * `cno_handle` - in, the CNO, or `DAT_HANDLE_NULL`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | neither NULL nor a CNO of the same adapter |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_modify_cno(3DAT).
            extern "C" fn dat_evd_modify_cno(
                evd_handle: DAT_EVD_HANDLE,
                cno_handle: DAT_CNO_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Lets events trigger the CNO of an EVD. Has no effect if they already do.
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
            /// uDAPL 1.2 and 2.0, dat_evd_enable(3DAT).
            extern "C" fn dat_evd_enable(
                evd_handle: DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Keeps events from triggering the CNO of an EVD. Events are still queued, and a trigger that is on its
            /// way may still arrive. Has no effect if they already do not trigger it.
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
            /// uDAPL 1.2 and 2.0, dat_evd_disable(3DAT).
            extern "C" fn dat_evd_disable(
                evd_handle: DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Makes an EVD unwaitable; a thread that waits on it returns with DAT_INVALID_STATE. Has no effect if the
            /// EVD is unwaitable already.
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
            /// uDAPL 1.2 and 2.0, dat_evd_set_unwaitable(3DAT).
            extern "C" fn dat_evd_set_unwaitable(
                evd_handle: DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Makes an EVD waitable again. Has no effect if it is waitable already.
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
            /// uDAPL 1.2 and 2.0, dat_evd_clear_unwaitable(3DAT).
            extern "C" fn dat_evd_clear_unwaitable(
                evd_handle: DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Waits until at least threshold events are queued on an EVD, then takes the oldest. At entry every queued
            /// event counts; while the thread is blocked, only an event that notifies ends the wait. One thread can
            /// wait at a time. A cancellation point: if pthread_cancel ends a thread in it, the EVD stays usable.
            ///
            /// # Parameters
            /// * `evd_handle` - in, a waitable EVD.
            /// * `timeout` - in, microseconds; 0 only looks, `DAT_TIMEOUT_INFINITE` waits without a limit.
            /// * `threshold` - in, events that must be queued, 1 to the length of the EVD; 1 if an endpoint feeds it
            ///   that is configured to be unsignalled or to wait for solicited messages.
            /// * `event` - out, the oldest event; written only on success.
            /// * `n_more_events` - out, the number of events queued after it; after `DAT_TIMEOUT_EXPIRED` and
            ///   `DAT_INTERRUPTED_CALL` the number of events queued.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_TIMEOUT_EXPIRED` | the time is up; nothing was taken |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the threshold is below 1 or above the length |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5` | that pointer is NULL |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | another thread waits on it |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_UNWAITABLE` | it is, or becomes, unwaitable |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_CONFIG_NOTIFY`, `..._SOLICITED` | the threshold is not 1, and an endpoint feeds it that is configured to be unsignalled, or to wait for solicited messages |
            /// | `DAT_INTERRUPTED_CALL` | a signal was caught; nothing was taken |
            /// | `DAT_ABORT` | the adapter was closed meanwhile, and the EVD with it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_wait(3DAT).
            extern "C-unwind" fn dat_evd_wait(
                evd_handle: DAT_EVD_HANDLE,
                timeout: DAT_TIMEOUT,
                threshold: DAT_COUNT,
                event: *mut DAT_EVENT,
                n_more_events: *mut DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Takes the oldest event off an EVD, without waiting.
            ///
            /// # Parameters
            /// * `evd_handle` - in, the EVD, also if it is disabled or unwaitable.
            /// * `event` - out, the event; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_QUEUE_EMPTY` | no event is queued; this code alone has no class bit |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_dequeue(3DAT).
            extern "C" fn dat_evd_dequeue(
                evd_handle: DAT_EVD_HANDLE,
                event: *mut DAT_EVENT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Posts a software event, which notifies.
            ///
            /// # Parameters
            /// * `evd_handle` - in, an EVD with `DAT_EVD_SOFTWARE_FLAG`.
            /// * `event` - in, its number must be `DAT_SOFTWARE_EVENT`; the pointer in it is delivered unchanged.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | the EVD does not admit software events |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL or has another number |
            /// | `DAT_QUEUE_FULL` | no room; nothing was posted, and no queued event is lost |
            ///
            /// # Events
            /// `DAT_SOFTWARE_EVENT` on this EVD.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_post_se(3DAT).
            extern "C" fn dat_evd_post_se(
                evd_handle: DAT_EVD_HANDLE,
                event: *const DAT_EVENT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Changes the number of events that an EVD can hold, to at least evd_min_qlen. No event is lost, and a
            /// waiting thread keeps its threshold.
            ///
            /// # Parameters
            /// * `evd_handle` - in, the EVD; streams may feed it meanwhile.
            /// * `evd_min_qlen` - in, events that it must be able to hold, 1 to `max_evd_qlen`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the length is 0 or negative |
            /// | `DAT_INVALID_STATE` | more events than that are queued, or a thread waits for more |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | the length is above `max_evd_qlen` |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_resize(3DAT).
            extern "C" fn dat_evd_resize(
                evd_handle: DAT_EVD_HANDLE,
                evd_min_qlen: DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Destroys an EVD; events in it are lost.
            ///
            /// # Parameters
            /// * `evd_handle` - in, the EVD.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_IN_USE` | an endpoint, a service point or the adapter feeds it |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_evd_free(3DAT).
            extern "C" fn dat_evd_free(
                evd_handle: DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
