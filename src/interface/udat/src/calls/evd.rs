/// Calls: event dispatchers. See [`crate::abi`].
#[macro_export]
macro_rules! evd_calls {
    ($callback:path) => {
        $callback! {
            /// Creates an event dispatcher (EVD), which is enabled and waitable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher exists and is empty
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is neither null nor a notification object of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `evd_flags` is 0, has an unknown bit, or combines streams that the provider cannot merge. The providers of this project merge all streams
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `evd_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `evd_min_qlen` is above `max_evd_qlen`, or the adapter has `max_evds` dispatchers already
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            extern "C" fn dat_evd_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                evd_min_qlen: DAT_COUNT,
                    "in, minimum number of events that the dispatcher must hold, from 1 to `max_evd_qlen` of"
                    "dat_ia_query.";
                cno_handle: DAT_CNO_HANDLE,
                    "in, the notification object that the dispatcher triggers, or `DAT_HANDLE_NULL`.";
                evd_flags: DAT_EVD_FLAGS,
                    "in, kinds of event streams that may feed the dispatcher: a union of one or more of the flags"
                    "below.";
                evd_handle: *mut DAT_EVD_HANDLE, "out, the new dispatcher; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the selected parameters of an EVD.
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
                evd_param: *mut DAT_EVD_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Attaches an EVD to another CNO, or detaches it with DAT_HANDLE_NULL. During the call events may trigger
            /// either CNO, afterwards only the new CNO. Events that are already queued do not trigger the new CNO.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is attached to the notification object, or detached
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is neither null nor a notification object of the same adapter
            extern "C" fn dat_evd_modify_cno(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                cno_handle: DAT_CNO_HANDLE,
                    "in, the notification object that the dispatcher triggers after the call, or `DAT_HANDLE_NULL` to"
                    "detach the dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Enables an EVD: its events trigger its CNO. The call has no effect on an enabled EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is enabled
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_enable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Disables an EVD: its events are queued, but do not trigger its CNO. A trigger that is in progress may
            /// still occur. The call has no effect on a disabled EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is disabled
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_disable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Disables waiting on an EVD. A thread that waits on the EVD returns with DAT_INVALID_STATE. The call has
            /// no effect on an unwaitable EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is unwaitable
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_set_unwaitable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Enables waiting on an EVD. The call has no effect on a waitable EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is waitable
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            extern "C" fn dat_evd_clear_unwaitable(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Waits until at least threshold events are queued on an EVD, and dequeues the oldest event. At entry
            /// every queued event counts; while the thread is blocked, only a notification event ends the wait. Only
            /// one thread can wait on an EVD. This function is a cancellation point: if pthread_cancel ends a waiting
            /// thread, the EVD stays usable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*event` is the oldest event, and `*n_more_events` is the number of remaining events
            /// * `DAT_TIMEOUT_EXPIRED` - the timeout expired with fewer than `threshold` events in the queue. No event was dequeued; `*n_more_events` is the number of queued events
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `threshold` is below 1 or above the length of the dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `event` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `n_more_events` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - another thread is waiting on this dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_UNWAITABLE` - the dispatcher is unwaitable, or became unwaitable during the wait
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_CONFIG_NOTIFY`, `..._SOLICITED` - `threshold` is not 1, and an endpoint with the completion flag `DAT_COMPLETION_UNSIGNALLED_FLAG` or `DAT_COMPLETION_SOLICITED_WAIT_FLAG` feeds the dispatcher. `DAT_COMPLETION_UNSIGNALLED_FLAG` for receives from a shared receive queue is exempt, because these receives always wake the waiter
            /// * `DAT_INTERRUPTED_CALL` - a signal interrupted the wait. No event was dequeued; `*n_more_events` is the number of queued events
            /// * `DAT_ABORT` - the adapter, and with it the dispatcher, was closed abruptly during the wait
            extern "C-unwind" fn dat_evd_wait(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                timeout: DAT_TIMEOUT,
                    "in, maximum time to wait, in microseconds. 0 does not wait; `DAT_TIMEOUT_INFINITE` sets no limit.";
                threshold: DAT_COUNT,
                    "in, number of queued events to wait for, from 1 to the length of the dispatcher.";
                event: *mut DAT_EVENT, "out, the oldest event; written on success only.";
                n_more_events: *mut DAT_COUNT,
                    "out, number of events in the queue at the end of the call; also written with"
                    "`DAT_TIMEOUT_EXPIRED` and `DAT_INTERRUPTED_CALL`.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Dequeues the oldest event of an EVD without waiting.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*event` is the oldest event
            /// * `DAT_QUEUE_EMPTY` - the queue is empty. This code has no error class bit
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `event` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - a thread is blocked in dat_evd_wait on this dispatcher
            extern "C" fn dat_evd_dequeue(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
                event: *mut DAT_EVENT, "out, the oldest event; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Posts a software event, which is a notification event, to an EVD.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the event is queued
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - the dispatcher lacks `DAT_EVD_SOFTWARE_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `event` is NULL, or its `event_number` is not `DAT_SOFTWARE_EVENT`
            /// * `DAT_QUEUE_FULL` - the queue is full; the event was not posted
            ///
            /// # Events
            /// `DAT_SOFTWARE_EVENT` on this EVD.
            extern "C" fn dat_evd_post_se(
                evd_handle: DAT_EVD_HANDLE, "in, an event dispatcher with `DAT_EVD_SOFTWARE_FLAG`.";
                event: *const DAT_EVENT,
                    "in, the event, which the call copies. `event_number` must be `DAT_SOFTWARE_EVENT`. Of the other"
                    "fields, the call uses only `event_data.software_event_data.pointer`.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Changes the number of events that an EVD can hold to at least evd_min_qlen. No event is lost, and a
            /// waiting thread keeps its threshold.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher holds at least `evd_min_qlen` events
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_STATE` - the number of queued events, or the threshold of a waiting thread, is above the new length; nothing has changed
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `evd_min_qlen` is above `max_evd_qlen` of dat_ia_query
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory; nothing has changed
            extern "C" fn dat_evd_resize(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher. Event streams can feed it during the call.";
                evd_min_qlen: DAT_COUNT, "in, the new minimum length, from 1 to `max_evd_qlen` of dat_ia_query.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Destroys an EVD. Its queued events are lost.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the dispatcher is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `evd_handle` is not an event dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_IN_USE` - an endpoint, a service point or the adapter feeds the dispatcher; nothing has changed
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` - a thread is blocked in dat_evd_wait on the dispatcher; nothing has changed
            extern "C" fn dat_evd_free(
                evd_handle: DAT_EVD_HANDLE, "in, the event dispatcher.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
