//! User-level interface

use crate::dat::*;
use crate::dat_platform_specific::*;

pub mod provider;
pub use dat_udat::udat::*;
pub use provider::*;

place!(lmr_param);

c_struct! {
    /// Parameters of a local memory region, see dat_lmr_query.
    struct dat_lmr_param;
    ia_handle: DAT_IA_HANDLE, "The adapter that it belongs to.";
    mem_type: DAT_MEM_TYPE, "Kind of memory.";
    region_desc: DAT_REGION_DESCRIPTION, "The memory.";
    length: DAT_VLEN, "Bytes requested.";
    pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
    mem_priv: DAT_MEM_PRIV_FLAGS, "Its rights.";
    va_type: DAT_VA_TYPE, "How the addresses in it are counted.";
    lmr_context: DAT_LMR_CONTEXT, "Names it in segments of local memory.";
    rmr_context: DAT_RMR_CONTEXT, "Names it to the remote side.";
    registered_size: DAT_VLEN, "Bytes registered, at least as many as requested.";
    registered_address: DAT_VADDR, "First address registered.";
}

place!(cno_param);

c_enum! {
    /// What is told of the triggers of a notification object, besides threads that wait.
    dat_proxy_type as DAT_PROXY_TYPE;
    DAT_PROXY_TYPE_NONE = 0, "Nothing.";
    DAT_PROXY_TYPE_AGENT = 1, "A function of the consumer.";
    DAT_PROXY_TYPE_FD = 2, "A file descriptor, see dat_cno_fd_create.";
}

c_struct! {
    /// What is told of the triggers of a notification object; DAT_PROXY_TYPE tells which member is valid.
    union dat_cno_proxy as DAT_CNO_PROXY;
    agent: DAT_OS_WAIT_PROXY_AGENT, "The function.";
    fd: DAT_FD, "The file descriptor.";
    none: DAT_PVOID, "Nothing.";
}

c_struct! {
    /// Parameters of a notification object, see dat_cno_query.
    struct dat_cno_param as DAT_CNO_PARAM;
    ia_handle: DAT_IA_HANDLE, "The adapter that it belongs to.";
    proxy_type: DAT_PROXY_TYPE, "Which member of proxy is valid.";
    proxy: DAT_CNO_PROXY, "What is told of a trigger, besides threads that wait.";
}

c_members! {
    DAT_CNO_PARAM_MASK;
    DAT_CNO_FIELD_PROXY_TYPE = 0x02, "Selects proxy_type.";
    DAT_CNO_FIELD_PROXY = 0x03, "Selects proxy.";
    DAT_CNO_FIELD_ALL = 0x04, "Selects all fields.";
}
