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
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    mem_type: DAT_MEM_TYPE, "Kind of memory.";
    region_desc: DAT_REGION_DESCRIPTION, "The memory.";
    length: DAT_VLEN, "Bytes requested.";
    pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
    mem_priv: DAT_MEM_PRIV_FLAGS, "Its privileges.";
    va_type: DAT_VA_TYPE, "Base of the addresses in it.";
    lmr_context: DAT_LMR_CONTEXT, "Identifies it in segments of local memory.";
    rmr_context: DAT_RMR_CONTEXT, "Identifies it to the remote side.";
    registered_size: DAT_VLEN, "Bytes registered, at least as many as requested.";
    registered_address: DAT_VADDR, "First address registered.";
}

place!(cno_param);

c_enum! {
    /// Receiver of the triggers of a notification object, in addition to waiting threads.
    dat_proxy_type as DAT_PROXY_TYPE;
    DAT_PROXY_TYPE_NONE = 0, "None.";
    DAT_PROXY_TYPE_AGENT = 1, "A function of the program.";
    DAT_PROXY_TYPE_FD = 2, "A file descriptor, see dat_cno_fd_create.";
}

c_struct! {
    /// Receiver of the triggers of a notification object. DAT_PROXY_TYPE determines the valid member.
    union dat_cno_proxy as DAT_CNO_PROXY;
    agent: DAT_OS_WAIT_PROXY_AGENT, "The function.";
    fd: DAT_FD, "The file descriptor.";
    none: DAT_PVOID, "Unused.";
}

c_struct! {
    /// Parameters of a notification object, see dat_cno_query.
    struct dat_cno_param as DAT_CNO_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    proxy_type: DAT_PROXY_TYPE, "The valid member of proxy.";
    proxy: DAT_CNO_PROXY, "The receiver of triggers, in addition to waiting threads.";
}

c_members! {
    DAT_CNO_PARAM_MASK;
    DAT_CNO_FIELD_PROXY_TYPE = 0x02, "Selects proxy_type.";
    DAT_CNO_FIELD_PROXY = 0x03, "Selects proxy.";
    DAT_CNO_FIELD_ALL = 0x04, "Selects all fields.";
}
