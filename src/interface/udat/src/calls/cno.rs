/// Calls: consumer notification objects. See [`crate::abi`].
#[macro_export]
macro_rules! cno_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a consumer notification object (CNO), which attached EVDs trigger. A trigger wakes one thread
            /// that waits on the CNO and calls the agent.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the notification object exists, without an attached dispatcher
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `proxy_agent_func` of `agent` is NULL, but `instance_data` is not
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cno_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory, or no thread for the agent
            extern "C" fn dat_cno_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                agent: DAT_OS_WAIT_PROXY_AGENT,
                    "in, the agent: a structure, passed by value, of the function `proxy_agent_func` and its argument"
                    "`instance_data`. The library calls the function once, at the next trigger; dat_cno_modify_agent"
                    "arms it again. `DAT_OS_WAIT_PROXY_AGENT_NULL`, with both members NULL, selects no agent.";
                cno_handle: *mut DAT_CNO_HANDLE, "out, the new notification object; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Replaces the agent of a CNO and arms the new one. DAT_OS_WAIT_PROXY_AGENT_NULL removes the agent.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the new agent is armed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `proxy_agent_func` of `agent` is NULL, but `instance_data` is not
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` - 2.0: the notification object has a file descriptor and cannot have an agent
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - no thread for the first agent
            extern "C" fn dat_cno_modify_agent(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
                agent: DAT_OS_WAIT_PROXY_AGENT, "in, the new agent, or `DAT_OS_WAIT_PROXY_AGENT_NULL` to remove it.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Returns the interface adapter and the agent of a CNO.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `cno_param_mask` has a bit outside `DAT_CNO_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cno_param` is NULL
            extern "C" fn dat_cno_query(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
                cno_param_mask: DAT_CNO_PARAM_MASK,
                    "in, bits `DAT_CNO_FIELD_IA_HANDLE` (1) and `DAT_CNO_FIELD_AGENT` (2), or `DAT_CNO_FIELD_ALL`.";
                cno_param: *mut DAT_CNO_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Waits until an attached EVD triggers a CNO. Returns immediately if the CNO is already triggered.
            /// Several threads may wait; a trigger wakes one of them. This function is a cancellation point: if
            /// pthread_cancel ends a waiting thread, the CNO stays usable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - a dispatcher triggered the notification object, or the adapter was closed; see `evd_handle`
            /// * `DAT_QUEUE_EMPTY` - the timeout expired; `*evd_handle` is `DAT_HANDLE_NULL`. This code has no error class bit
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `evd_handle` is NULL
            /// * `DAT_INTERRUPTED_CALL` - a signal interrupted the wait; no trigger was consumed
            extern "C-unwind" fn dat_cno_wait(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
                timeout: DAT_TIMEOUT,
                    "in, maximum time to wait, in microseconds. 0 returns immediately; `DAT_TIMEOUT_INFINITE` sets no"
                    "limit.";
                evd_handle: *mut DAT_EVD_HANDLE,
                    "out, a dispatcher that triggered the notification object; others may have triggered it too."
                    "`DAT_HANDLE_NULL` if the timeout expired or the adapter was closed.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Destroys a CNO that no EVD is attached to and no thread waits on.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the notification object is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` - a dispatcher is attached to the notification object, or a thread waits on it; nothing has changed
            extern "C" fn dat_cno_free(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
    };
}
