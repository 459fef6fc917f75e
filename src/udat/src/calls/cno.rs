/// Calls: consumer notification objects. See [`crate::abi`].
#[macro_export]
macro_rules! cno_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a consumer notification object (CNO). The EVDs that are attached to it trigger it. A trigger wakes
            /// a thread that waits on it, and calls the agent.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `agent` - in, a function to be called with a word of the consumer and the EVD at the next trigger, or
            ///   `DAT_OS_WAIT_PROXY_AGENT_NULL`. It is called once; dat_cno_modify_agent arms it again.
            /// * `cno_handle` - out, the CNO; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the agent has a word but no function |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cno_handle` is NULL |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cno_create(3DAT).
            extern "C" fn dat_cno_create(
                ia_handle: DAT_IA_HANDLE,
                agent: DAT_OS_WAIT_PROXY_AGENT,
                cno_handle: *mut DAT_CNO_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Replaces the agent of a CNO at once and arms it; with DAT_OS_WAIT_PROXY_AGENT_NULL there is none.
            ///
            /// # Parameters
            /// * `cno_handle` - in, the CNO.
            /// * `agent` - in, the new agent, as for dat_cno_create.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the agent has a word but no function |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` | 2.0: the CNO has a descriptor in place of an agent |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cno_modify_agent(3DAT).
            extern "C" fn dat_cno_modify_agent(
                cno_handle: DAT_CNO_HANDLE,
                agent: DAT_OS_WAIT_PROXY_AGENT,
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Returns the adapter and the agent of a CNO.
            ///
            /// # Parameters
            /// * `cno_handle` - in, the CNO.
            /// * `cno_param_mask` - in, the requested fields, bits of `DAT_CNO_FIELD_ALL`.
            /// * `cno_param` - out, the fields. An agent that was already called is not shown.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cno_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cno_query(3DAT).
            extern "C" fn dat_cno_query(
                cno_handle: DAT_CNO_HANDLE,
                cno_param_mask: DAT_CNO_PARAM_MASK,
                cno_param: *mut DAT_CNO_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Waits until an EVD that is attached to a CNO triggers it. An earlier trigger is taken at once. Several
            /// threads may wait; a trigger wakes one of them. A cancellation point: if pthread_cancel ends a thread in
            /// it, the CNO stays usable.
            ///
            /// # Parameters
            /// * `cno_handle` - in, the CNO.
            /// * `timeout` - in, microseconds; 0 only looks, `DAT_TIMEOUT_INFINITE` waits without a limit.
            /// * `evd_handle` - out, an EVD that triggered it: a hint, others may have triggered it too.
            ///   `DAT_HANDLE_NULL` when the time was up, and on success when the adapter was closed.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_QUEUE_EMPTY` | the time is up; this code alone has no class bit |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_handle` is NULL |
            /// | `DAT_INTERRUPTED_CALL` | a signal was caught; no trigger was taken |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cno_wait(3DAT).
            extern "C-unwind" fn dat_cno_wait(
                cno_handle: DAT_CNO_HANDLE,
                timeout: DAT_TIMEOUT,
                evd_handle: *mut DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
        $callback! {
            /// Destroys a CNO.
            ///
            /// # Parameters
            /// * `cno_handle` - in, the CNO.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_CNO_IN_USE` | an EVD is attached to it, or a thread waits on it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cno_free(3DAT).
            extern "C" fn dat_cno_free(
                cno_handle: DAT_CNO_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
    };
}
