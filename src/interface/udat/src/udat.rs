//! User-level interface

use core::ffi::c_char;

use crate::dat::*;
use crate::dat_platform_specific::*;

pub mod provider;
pub use provider::*;

/// Consumer notification object.
pub type DAT_CNO_HANDLE = DAT_HANDLE;

c_enum! {
    /// Kind of memory of a local memory region.
    dat_mem_type as DAT_MEM_TYPE;
    DAT_MEM_TYPE_VIRTUAL = 0, "Memory of the process, see for_va.";
    DAT_MEM_TYPE_LMR = 1, "Memory of an existing region, see for_lmr_handle.";
    DAT_MEM_TYPE_SHARED_VIRTUAL = 2, "Memory shared between processes, see for_shared_memory.";
}

/// Bytes in the name of shared memory, see DAT_LMR_COOKIE.
pub const DAT_LMR_COOKIE_SIZE: usize = 40;

/// Name of shared memory: points to DAT_LMR_COOKIE_SIZE significant bytes (not a string).
pub type DAT_LMR_COOKIE = *mut [c_char; DAT_LMR_COOKIE_SIZE];

c_struct! {
    /// Shared memory to be registered.
    struct dat_shared_memory as DAT_SHARED_MEMORY;
    virtual_address: DAT_PVOID, "Its address in this process.";
    shared_memory_id: DAT_LMR_COOKIE, "Its name, the same in every process.";
}

c_struct! {
    /// The memory to be registered by dat_lmr_create; DAT_MEM_TYPE determines the valid member.
    union dat_region_description as DAT_REGION_DESCRIPTION;
    for_va: DAT_PVOID, "Address of memory of the process.";
    for_lmr_handle: DAT_LMR_HANDLE, "An existing region.";
    for_shared_memory: DAT_SHARED_MEMORY, "Shared memory.";
}

place!(lmr_param);

c_enum! {
    /// State of an event dispatcher: one value of each of three bands (notification, waiting,
    /// configuration), combined by bitwise or.
    dat_evd_state as DAT_EVD_STATE;
    DAT_EVD_STATE_ENABLED = 0x01, "Events trigger the notification object.";
    DAT_EVD_STATE_DISABLED = 0x02, "Events do not trigger the notification object.";
    DAT_EVD_STATE_WAITABLE = 0x04, "dat_evd_wait is allowed.";
    DAT_EVD_STATE_UNWAITABLE = 0x08, "dat_evd_wait fails.";
    DAT_EVD_STATE_CONFIG_NOTIFY = 0x10, "Fed by a stream that can suppress notification.";
    DAT_EVD_STATE_CONFIG_SOLICITED = 0x20, "Fed by a receive stream that waits for solicited messages.";
    DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30, "Fed by streams that notify by threshold.";
}

c_struct! {
    /// Parameters of an event dispatcher, see dat_evd_query.
    struct dat_evd_param;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    evd_qlen: DAT_COUNT, "Maximum number of events.";
    evd_state: DAT_EVD_STATE, "Its state.";
    cno_handle: DAT_CNO_HANDLE, "Its notification object, or DAT_HANDLE_NULL.";
    evd_flags: DAT_EVD_FLAGS, "The kinds of events that it accepts.";
}

/// Passed to dat_ia_open instead of an event dispatcher: the instance gets no asynchronous event
/// dispatcher.
pub const DAT_EVD_ASYNC_EXISTS: DAT_EVD_HANDLE = core::ptr::without_provenance_mut(1);

/// Returned by dat_ia_query: the instance has no asynchronous event dispatcher in this process.
pub const DAT_EVD_OUT_OF_SCOPE: DAT_EVD_HANDLE = core::ptr::without_provenance_mut(2);

/// Function that a consumer notification object calls when it is triggered.
pub type DAT_AGENT_FUNC = Option<unsafe extern "C" fn(instance_data: DAT_PVOID, evd_handle: DAT_EVD_HANDLE)>;

c_struct! {
    /// Function of the program, and its data, that a notification object calls, see dat_cno_create.
    struct dat_os_wait_proxy_agent as DAT_OS_WAIT_PROXY_AGENT;
    instance_data: DAT_PVOID, "First argument of the function.";
    proxy_agent_func: DAT_AGENT_FUNC, "The function.";
}

/// No agent.
pub const DAT_OS_WAIT_PROXY_AGENT_NULL: DAT_OS_WAIT_PROXY_AGENT =
    dat_os_wait_proxy_agent { instance_data: core::ptr::null_mut(), proxy_agent_func: None };

place!(cno_param);

c_enum! {
    /// Selects fields of DAT_CNO_PARAM.
    dat_cno_param_mask as DAT_CNO_PARAM_MASK;
    DAT_CNO_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
}
