//! User-level interface

use crate::dat::*;

pub mod provider;
pub use dat_udat::udat::*;
pub use provider::*;

c_members! {
    DAT_MEM_TYPE;
    DAT_MEM_TYPE_SO_VIRTUAL = 3,
        "Strongly ordered memory of the process. Only the Solaris headers have this value; it is"
        "here for their programs, because the value is free. Providers may return"
        "DAT_INVALID_PARAMETER.";
}

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
    lmr_context: DAT_LMR_CONTEXT, "Identifies it in segments of local memory.";
    rmr_context: DAT_RMR_CONTEXT, "Identifies it to the remote side.";
    registered_size: DAT_VLEN, "Bytes registered, at least as many as requested.";
    registered_address: DAT_VADDR, "First address registered.";
}

place!(cno_param);

c_struct! {
    /// Parameters of a notification object, see dat_cno_query.
    struct dat_cno_param as DAT_CNO_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    agent: DAT_OS_WAIT_PROXY_AGENT, "Its agent.";
}

c_members! {
    DAT_CNO_PARAM_MASK;
    DAT_CNO_FIELD_AGENT = 0x02, "Selects agent.";
    DAT_CNO_FIELD_ALL = 0x03, "Selects all fields.";
}
