//! User-level interface

use core::ffi::c_char;

use crate::dat::*;
use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Consumer notification object.
pub type DAT_CNO_HANDLE = DAT_HANDLE;

/// Kind of memory of a local memory region.
pub type DAT_MEM_TYPE = c_enum;
/// Memory of the process, see for_va.
pub const DAT_MEM_TYPE_VIRTUAL: DAT_MEM_TYPE = 0;
/// Memory of an existing region, see for_lmr_handle.
pub const DAT_MEM_TYPE_LMR: DAT_MEM_TYPE = 1;
/// Memory shared between processes, see for_shared_memory.
pub const DAT_MEM_TYPE_SHARED_VIRTUAL: DAT_MEM_TYPE = 2;

/// Bytes in the name of shared memory, see DAT_LMR_COOKIE.
pub const DAT_LMR_COOKIE_SIZE: usize = 40;

/// Name of shared memory: points to DAT_LMR_COOKIE_SIZE significant bytes (not a string).
pub type DAT_LMR_COOKIE = *mut [c_char; DAT_LMR_COOKIE_SIZE];

/// Shared memory to be registered.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_SHARED_MEMORY {
    /// Address of the memory in this process.
    pub virtual_address: DAT_PVOID,
    /// Name of the memory, the same in every process.
    pub shared_memory_id: DAT_LMR_COOKIE,
}

/// The memory to be registered by dat_lmr_create; DAT_MEM_TYPE determines the valid member.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_REGION_DESCRIPTION {
    /// Address of memory of the process.
    pub for_va: DAT_PVOID,
    /// An existing region.
    pub for_lmr_handle: DAT_LMR_HANDLE,
    /// Shared memory.
    pub for_shared_memory: DAT_SHARED_MEMORY,
}

/// State of an event dispatcher: one value of each of three bands (notification, waiting, configuration), combined
/// by bitwise or.
pub type DAT_EVD_STATE = c_enum;
/// Events trigger the notification object.
pub const DAT_EVD_STATE_ENABLED: DAT_EVD_STATE = 0x01;
/// Events do not trigger the notification object.
pub const DAT_EVD_STATE_DISABLED: DAT_EVD_STATE = 0x02;
/// dat_evd_wait is allowed.
pub const DAT_EVD_STATE_WAITABLE: DAT_EVD_STATE = 0x04;
/// dat_evd_wait fails.
pub const DAT_EVD_STATE_UNWAITABLE: DAT_EVD_STATE = 0x08;
/// Fed by an endpoint whose flags for these completions are DAT_COMPLETION_UNSIGNALLED_FLAG.
pub const DAT_EVD_STATE_CONFIG_NOTIFY: DAT_EVD_STATE = 0x10;
/// Fed by an endpoint whose receive completion flags are DAT_COMPLETION_SOLICITED_WAIT_FLAG.
pub const DAT_EVD_STATE_CONFIG_SOLICITED: DAT_EVD_STATE = 0x20;
/// Fed by endpoints; each completion that they queue on the event dispatcher notifies.
pub const DAT_EVD_STATE_CONFIG_THRESHOLD: DAT_EVD_STATE = 0x30;

/// Parameters of an event dispatcher, see dat_evd_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_evd_param {
    /// Interface adapter of the event dispatcher.
    pub ia_handle: DAT_IA_HANDLE,
    /// Maximum number of events.
    pub evd_qlen: DAT_COUNT,
    /// State of the event dispatcher.
    pub evd_state: DAT_EVD_STATE,
    /// Notification object that the event dispatcher triggers, or DAT_HANDLE_NULL.
    pub cno_handle: DAT_CNO_HANDLE,
    /// Kinds of events that the event dispatcher accepts.
    pub evd_flags: DAT_EVD_FLAGS,
}

/// Passed to dat_ia_open instead of an event dispatcher: the instance gets no asynchronous event dispatcher.
pub const DAT_EVD_ASYNC_EXISTS: DAT_EVD_HANDLE = core::ptr::without_provenance_mut(1);
/// Returned by dat_ia_query: the instance has no asynchronous event dispatcher in this process.
pub const DAT_EVD_OUT_OF_SCOPE: DAT_EVD_HANDLE = core::ptr::without_provenance_mut(2);

/// Function that a consumer notification object calls when it is triggered.
pub type DAT_AGENT_FUNC = Option<unsafe extern "C" fn(instance_data: DAT_PVOID, evd_handle: DAT_EVD_HANDLE)>;

/// Function of the program that a notification object calls, with data. See dat_cno_create.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_OS_WAIT_PROXY_AGENT {
    /// First argument of the function.
    pub instance_data: DAT_PVOID,
    /// The function.
    pub proxy_agent_func: DAT_AGENT_FUNC,
}

/// No agent, for dat_cno_create and dat_cno_modify_agent.
pub const DAT_OS_WAIT_PROXY_AGENT_NULL: DAT_OS_WAIT_PROXY_AGENT =
    DAT_OS_WAIT_PROXY_AGENT { instance_data: core::ptr::null_mut(), proxy_agent_func: None };

/// Selects fields of DAT_CNO_PARAM.
pub type DAT_CNO_PARAM_MASK = c_enum;
pub const DAT_CNO_FIELD_IA_HANDLE: DAT_CNO_PARAM_MASK = 0x01;

/// Number of endpoints that a protection zone of a provider may serve.
///
/// The Solaris headers also have DAT_PZ_SAME with the value 1. It is omitted, because 1 is DAT_PZ_SHAREABLE here.
pub type DAT_PZ_SUPPORT = c_enum;
/// Only one endpoint.
pub const DAT_PZ_UNIQUE: DAT_PZ_SUPPORT = 0;
/// Any number of endpoints.
pub const DAT_PZ_SHAREABLE: DAT_PZ_SUPPORT = 1;

pub const DAT_PROVIDER_FIELD_PROVIDER_NAME: DAT_PROVIDER_ATTR_MASK = 0x1;
pub const DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR: DAT_PROVIDER_ATTR_MASK = 0x2;
pub const DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR: DAT_PROVIDER_ATTR_MASK = 0x4;
pub const DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR: DAT_PROVIDER_ATTR_MASK = 0x8;
pub const DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR: DAT_PROVIDER_ATTR_MASK = 0x10;
/// Selects lmr_mem_types_supported.
pub const DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x20;
/// Selects iov_ownership_on_return.
pub const DAT_PROVIDER_FIELD_IOV_OWNERSHIP: DAT_PROVIDER_ATTR_MASK = 0x40;
pub const DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x80;
pub const DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x100;
pub const DAT_PROVIDER_FIELD_IS_THREAD_SAFE: DAT_PROVIDER_ATTR_MASK = 0x200;
pub const DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE: DAT_PROVIDER_ATTR_MASK = 0x400;
pub const DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH: DAT_PROVIDER_ATTR_MASK = 0x800;
pub const DAT_PROVIDER_FIELD_EP_CREATOR: DAT_PROVIDER_ATTR_MASK = 0x1000;
pub const DAT_PROVIDER_FIELD_PZ_SUPPORT: DAT_PROVIDER_ATTR_MASK = 0x2000;
pub const DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT: DAT_PROVIDER_ATTR_MASK = 0x4000;
pub const DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x8000;
pub const DAT_PROVIDER_FIELD_SRQ_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x10000;
pub const DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x20000;
pub const DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x40000;
pub const DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x80000;
pub const DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x100000;
pub const DAT_PROVIDER_FIELD_LMR_SYNC_REQ: DAT_PROVIDER_ATTR_MASK = 0x200000;
pub const DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED: DAT_PROVIDER_ATTR_MASK = 0x400000;
pub const DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ: DAT_PROVIDER_ATTR_MASK = 0x800000;
/// Selects no field of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_NONE: DAT_PROVIDER_ATTR_MASK = 0x0;
