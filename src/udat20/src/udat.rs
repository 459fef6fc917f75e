//! User-level interface

use crate::dat::*;
use crate::dat_platform_specific::*;
use dat_udat::{c_enum, c_members, place};

pub mod provider;
pub use dat_udat::udat::*;
pub use provider::*;

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
    /// How the addresses in it are counted.
    pub va_type: DAT_VA_TYPE,
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

c_enum! {
    /// What is told of the triggers of a notification object, besides threads that wait.
    pub enum dat_proxy_type as DAT_PROXY_TYPE {
        /// Nothing.
        DAT_PROXY_TYPE_NONE = 0,
        /// A function of the consumer.
        DAT_PROXY_TYPE_AGENT = 1,
        /// A file descriptor, see dat_cno_fd_create.
        DAT_PROXY_TYPE_FD = 2,
    }
}

/// What is told of the triggers of a notification object; DAT_PROXY_TYPE tells which member is valid.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_cno_proxy {
    /// The function.
    pub agent: DAT_OS_WAIT_PROXY_AGENT,
    /// The file descriptor.
    pub fd: DAT_FD,
    /// Nothing.
    pub none: DAT_PVOID,
}

/// What is told of the triggers of a notification object; DAT_PROXY_TYPE tells which member is valid.
pub type DAT_CNO_PROXY = dat_cno_proxy;

/// Parameters of a notification object, see dat_cno_query.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_cno_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Which member of proxy is valid.
    pub proxy_type: DAT_PROXY_TYPE,
    /// What is told of a trigger, besides threads that wait.
    pub proxy: DAT_CNO_PROXY,
}

/// Parameters of a notification object, see dat_cno_query.
pub type DAT_CNO_PARAM = dat_cno_param;

c_members! {
    DAT_CNO_PARAM_MASK {
        /// Selects proxy_type.
        DAT_CNO_FIELD_PROXY_TYPE = 0x02,
        /// Selects proxy.
        DAT_CNO_FIELD_PROXY = 0x03,
        /// Selects all fields.
        DAT_CNO_FIELD_ALL = 0x04,
    }
}
