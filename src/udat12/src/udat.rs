//! User-level interface

use crate::dat::*;
use dat_udat::{c_members, place};

pub mod provider;
pub use dat_udat::udat::*;
pub use provider::*;

c_members! {
    DAT_MEM_TYPE {
        /// Strongly ordered memory of the process. Only the Solaris headers have it; it is here
        /// for their programs, because the value clashes with nothing. Providers may answer
        /// DAT_INVALID_PARAMETER.
        DAT_MEM_TYPE_SO_VIRTUAL = 3,
    }
}

place!(lmr_param);

/// Parameters of a local memory region, see dat_lmr_query.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_lmr_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Kind of memory.
    pub mem_type: DAT_MEM_TYPE,
    /// The memory.
    pub region_desc: DAT_REGION_DESCRIPTION,
    /// Bytes requested.
    pub length: DAT_VLEN,
    /// Its protection zone.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Its rights.
    pub mem_priv: DAT_MEM_PRIV_FLAGS,
    /// Names it in segments of local memory.
    pub lmr_context: DAT_LMR_CONTEXT,
    /// Names it to the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
    /// Bytes registered, at least as many as requested.
    pub registered_size: DAT_VLEN,
    /// First address registered.
    pub registered_address: DAT_VADDR,
}

place!(cno_param);

/// Parameters of a notification object, see dat_cno_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_cno_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Its agent.
    pub agent: DAT_OS_WAIT_PROXY_AGENT,
}

/// Parameters of a notification object, see dat_cno_query.
pub type DAT_CNO_PARAM = dat_cno_param;

c_members! {
    DAT_CNO_PARAM_MASK {
        /// Selects agent.
        DAT_CNO_FIELD_AGENT = 0x02,
        /// Selects all fields.
        DAT_CNO_FIELD_ALL = 0x03,
    }
}
