/// Calls: consumer notification objects. See [`crate::abi`].
#[macro_export]
macro_rules! cno_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a consumer notification object (CNO). The EVDs that are attached to it trigger it. A trigger wakes
            /// a thread that waits on it, and calls the agent.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the object exists, with no dispatcher attached
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `agent` has `instance_data` but no function
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cno_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            extern "C" fn dat_cno_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                agent: DAT_OS_WAIT_PROXY_AGENT,
                    "in, what else to call on a notification: a structure of `instance_data` and `proxy_agent_func`,"
                    "passed by value. It is called once, at the next trigger; dat_cno_modify_agent arms it again."
                    "`DAT_OS_WAIT_PROXY_AGENT_NULL`, both members NULL, if nothing.";
                cno_handle: *mut DAT_CNO_HANDLE, "out, the new object; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Replaces the agent of a CNO at once and arms it; with DAT_OS_WAIT_PROXY_AGENT_NULL there is none.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the new agent is armed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `agent` has `instance_data` but no function
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` - 2.0: the CNO has a descriptor in place of an agent
            extern "C" fn dat_cno_modify_agent(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
                agent: DAT_OS_WAIT_PROXY_AGENT, "in, the new agent, or `DAT_OS_WAIT_PROXY_AGENT_NULL` to remove it.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Returns the adapter and the agent of a CNO.
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
                cno_param: *mut DAT_CNO_PARAM,
                    "out, a structure of the program. An agent that was already called is not shown.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Waits until an EVD that is attached to a CNO triggers it. An earlier trigger is taken at once. Several
            /// threads may wait; a trigger wakes one of them. A cancellation point: if pthread_cancel ends a thread in
            /// it, the CNO stays usable.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - a dispatcher triggered, or the adapter was closed; `*evd_handle` tells which
            /// * `DAT_QUEUE_EMPTY` - the time is up; `*evd_handle` is `DAT_HANDLE_NULL`. This code has no class bit
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `evd_handle` is NULL
            /// * `DAT_INTERRUPTED_CALL` - a signal interrupted the wait; nothing was consumed
            extern "C-unwind" fn dat_cno_wait(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
                timeout: DAT_TIMEOUT,
                    "in, longest time to wait, in microseconds from the call. 0 only checks; `DAT_TIMEOUT_INFINITE`"
                    "waits without a limit.";
                evd_handle: *mut DAT_EVD_HANDLE,
                    "out, the dispatcher that triggered; others may have triggered too. `DAT_HANDLE_NULL` when the"
                    "time was up, and on success when the adapter was closed.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Destroys a CNO.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the object is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` - a dispatcher is attached or a thread waits; nothing has changed
            extern "C" fn dat_cno_free(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
    };
}
