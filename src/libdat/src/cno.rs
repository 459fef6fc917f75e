//! Consumer notification objects (CNO). Waiting is in [`fast`](crate::fast).

use dat_udat12::{DAT_CNO_HANDLE, DAT_CNO_PARAM, DAT_CNO_PARAM_MASK, DAT_IA_HANDLE, DAT_OS_WAIT_PROXY_AGENT};

dispatch! {
    /// Makes a CNO, which EVDs attached to it trigger.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `agent` - in, a function to be called with a word of the consumer and the EVD when the CNO is
    ///   triggered, or `DAT_OS_WAIT_PROXY_AGENT_NULL`.
    /// * `cno_handle` - out, the CNO; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open IA |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | an agent with a word but no function |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cno_handle` is NULL |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cno_create(3DAT).
    extern "C" fn dat_cno_create(
        ia_handle: DAT_IA_HANDLE,
        agent: DAT_OS_WAIT_PROXY_AGENT,
        cno_handle: *mut DAT_CNO_HANDLE,
    ) as udat => cno_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Replaces the agent of a CNO.
    ///
    /// # Parameters
    /// * `cno_handle` - in, the CNO.
    /// * `agent` - in, the new agent, or `DAT_OS_WAIT_PROXY_AGENT_NULL` for none.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | an agent with a word but no function |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cno_modify_agent(3DAT).
    extern "C" fn dat_cno_modify_agent(cno_handle: DAT_CNO_HANDLE, agent: DAT_OS_WAIT_PROXY_AGENT)
        as udat => cno_modify_agent_func, DAT_INVALID_HANDLE_CNO
}

dispatch! {
    /// Tells the IA and the agent of a CNO.
    ///
    /// # Parameters
    /// * `cno_handle` - in, the CNO.
    /// * `cno_param_mask` - in, the fields that are wanted, bits of `DAT_CNO_FIELD_ALL`.
    /// * `cno_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cno_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cno_query(3DAT).
    extern "C" fn dat_cno_query(
        cno_handle: DAT_CNO_HANDLE,
        cno_param_mask: DAT_CNO_PARAM_MASK,
        cno_param: *mut DAT_CNO_PARAM,
    ) as udat => cno_query_func, DAT_INVALID_HANDLE_CNO
}

dispatch! {
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
    /// uDAPL 1.2, dat_cno_free(3DAT).
    extern "C" fn dat_cno_free(cno_handle: DAT_CNO_HANDLE)
        as udat => cno_free_func, DAT_INVALID_HANDLE_CNO
}
