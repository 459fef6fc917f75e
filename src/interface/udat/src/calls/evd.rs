/// Calls: event dispatchers. See [`crate::abi`].
#[macro_export]
macro_rules! evd_calls {
    ($callback:path) => {
        $callback! {
            /// Makes an event dispatcher (EVD), enabled and waitable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher exists and is empty
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is neither null nor a notification object of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `evd_flags` is 0, has an unknown bit, or combines streams that the provider cannot merge; the providers of this project merge all
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `evd_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `evd_min_qlen` is above `max_evd_qlen`, or the adapter has no dispatcher left
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            extern "C" fn dat_evd_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                evd_min_qlen: DAT_COUNT,
                    "in, least number of events it must hold: above 0, at most `max_evd_qlen` of dat_ia_query.";
                cno_handle: DAT_CNO_HANDLE, "in, notification object to trigger, or `DAT_HANDLE_NULL`.";
                evd_flags: DAT_EVD_FLAGS,
                    "in, kinds of streams that may feed it, at least one: bits of `DAT_EVD_DEFAULT_FLAG` and"
                    "`DAT_EVD_SOFTWARE_FLAG`.";
                evd_handle: *mut DAT_EVD_HANDLE, "out, the new dispatcher; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes and the state of an EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_param_mask` has a bit outside `DAT_EVD_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `evd_param` is NULL
            extern "C" fn dat_evd_query(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                evd_param_mask: DAT_EVD_PARAM_MASK,
                    "in, bits `DAT_EVD_FIELD_IA_HANDLE` (0x01), `DAT_EVD_FIELD_EVD_QLEN` (0x02),"
                    "`DAT_EVD_FIELD_EVD_STATE` (0x04), `DAT_EVD_FIELD_CNO` (0x08), `DAT_EVD_FIELD_EVD_FLAGS` (0x10),"
                    "or `DAT_EVD_FIELD_ALL`.";
                evd_param: *mut DAT_EVD_PARAM,
                    "out, a structure of the program. The configuration band of the state is 0 until an endpoint feeds"
                    "the dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Attaches an EVD to another CNO, or with DAT_HANDLE_NULL to none. During the call events may trigger
            /// either, afterwards only the new one. Events that are already queued do not trigger it.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is attached as asked, also if it was so before
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is neither null nor a notification object of the same adapter
            extern "C" fn dat_evd_modify_cno(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                cno_handle: DAT_CNO_HANDLE,
                    "in, the notification object that the dispatcher triggers after the call; `DAT_HANDLE_NULL` detaches.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Lets events trigger the CNO of an EVD. Has no effect if they already do.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is enabled
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_enable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Keeps events from triggering the CNO of an EVD. Events are still queued, and a trigger that is on its
            /// way may still arrive. Has no effect if they already do not trigger it.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is disabled
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_disable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Makes an EVD unwaitable; a thread that waits on it returns with DAT_INVALID_STATE. Has no effect if the
            /// EVD is unwaitable already.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - nobody can wait on the dispatcher
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_set_unwaitable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Makes an EVD waitable again. Has no effect if it is waitable already.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher can be waited on
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_clear_unwaitable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Waits until at least threshold events are queued on an EVD, then takes the oldest. At entry every queued
            /// event counts; while the thread is blocked, only an event that notifies ends the wait. One thread can
            /// wait at a time. A cancellation point: if pthread_cancel ends a thread in it, the EVD stays usable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*event` is the oldest event, and `*n_more_events` are left
            /// * `DAT_TIMEOUT_EXPIRED` - the time is up and fewer than `threshold` events are there. None was taken; `*n_more_events` tells how many there were
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `threshold` is below 1 or above the length of the queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `event` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `n_more_events` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - another thread is waiting on this dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_UNWAITABLE` - the dispatcher is unwaitable, or was made so during the wait
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_CONFIG_NOTIFY`, `..._SOLICITED` - `threshold` is not 1, and an endpoint whose completion flags are `DAT_COMPLETION_UNSIGNALLED_FLAG` or `DAT_COMPLETION_SOLICITED_WAIT_FLAG` feeds the dispatcher. The former does not count in `recv_completion_flags` of an endpoint with a shared receive queue, where it is the default and receives always wake the waiter
            /// * `DAT_INTERRUPTED_CALL` - a signal interrupted the wait. None was taken; `*n_more_events` tells how many there were
            /// * `DAT_ABORT` - the adapter was closed abruptly while the thread was blocked, and the dispatcher with it
            extern "C-unwind" fn dat_evd_wait(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                timeout: DAT_TIMEOUT,
                    "in, longest time to wait, in microseconds from the call. 0 does not wait; `DAT_TIMEOUT_INFINITE`"
                    "never expires.";
                threshold: DAT_COUNT,
                    "in, number of events that must be there, from 1 to the length of the queue; 1 if an endpoint"
                    "feeds it that is configured to be unsignalled or to wait for solicited messages.";
                event: *mut DAT_EVENT, "out, the oldest event; written on success only.";
                n_more_events: *mut DAT_COUNT,
                    "out, number of events that are left in the queue; after `DAT_TIMEOUT_EXPIRED` and"
                    "`DAT_INTERRUPTED_CALL` the number that are there.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Takes the oldest event off an EVD, without waiting.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*event` is the oldest event
            /// * `DAT_QUEUE_EMPTY` - there is none. This code has no class bit
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `event` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - a thread is blocked in dat_evd_wait on this dispatcher
            extern "C" fn dat_evd_dequeue(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher, also if it is disabled or unwaitable.";
                event: *mut DAT_EVENT, "out, the oldest event; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Posts a software event, which notifies.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the event is queued
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - the dispatcher has no `DAT_EVD_SOFTWARE_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `event` is NULL or its number is not `DAT_SOFTWARE_EVENT`
            /// * `DAT_QUEUE_FULL` - there is no room; nothing was lost but this event
            ///
            /// # Events
            /// `DAT_SOFTWARE_EVENT` on this EVD.
            extern "C" fn dat_evd_post_se(
                evd_handle: DAT_EVD_HANDLE, "in, an event dispatcher with `DAT_EVD_SOFTWARE_FLAG`.";
                event: *const DAT_EVENT,
                    "in, the event. `event_number` must be `DAT_SOFTWARE_EVENT`; of the rest only"
                    "`event_data.software_event_data.pointer` is used. It is copied during the call.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Changes the number of events that an EVD can hold, to at least evd_min_qlen. No event is lost, and a
            /// waiting thread keeps its threshold.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher holds at least `evd_min_qlen` events
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_STATE` - more events are queued than the new length could hold, or a thread waits for more with its threshold; nothing has changed
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `evd_min_qlen` is above `max_evd_qlen` of dat_ia_query
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory; nothing has changed
            extern "C" fn dat_evd_resize(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher; event streams can use it during the call.";
                evd_min_qlen: DAT_COUNT, "in, the new least length, from 1 to `max_evd_qlen` of dat_ia_query.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Destroys an EVD; events in it are lost.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_IN_USE` - an endpoint, a service point or the adapter feeds it; nothing has changed
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - a thread is blocked in dat_evd_wait on it; nothing has changed
            extern "C" fn dat_evd_free(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
