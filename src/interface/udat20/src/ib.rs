//! Extensions for InfiniBand, as in dat_ib_extensions.h
//!
//! DAT_IB_EXTENSION_EVENT_DATA has an unnamed member in C, so this module defines it for Rust, and headers/ for C.

use core::marker::{PhantomData, PhantomPinned};

use crate::dat::DAT_CONTEXT;
use crate::{
    DAT_ERROR, DAT_GET_SUBTYPE, DAT_GET_TYPE, DAT_INVALID_ARG3, DAT_INVALID_ARG6, DAT_INVALID_PARAMETER, DAT_RETURN,
};

pub mod attributes;
pub mod collectives;
pub mod counters;
pub mod operations;

pub use attributes::*;
pub use collectives::*;
pub use counters::*;
pub use operations::*;

/// Converts a return code of dat_ia_query for dat_ib_open_query, in which the same arguments have positions that are
/// 2 higher.
#[must_use]
pub const fn open_query_code(code: DAT_RETURN) -> DAT_RETURN {
    match DAT_GET_SUBTYPE(code) {
        subtype @ DAT_INVALID_ARG3..=DAT_INVALID_ARG6 if DAT_GET_TYPE(code) == DAT_INVALID_PARAMETER => {
            DAT_ERROR(DAT_INVALID_PARAMETER, subtype + 2)
        }
        _ => code,
    }
}

/// Address handle of libibverbs.
#[repr(C)]
pub struct ibv_ah {
    opaque: [u8; 0],
    marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Value of an extended event.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_ib_extension_value {
    /// The immediate data of an RDMA write.
    pub immed: DAT_IB_IMMED_DATA,
}

/// Further data of an extended event. In C, these are members of DAT_IB_EXTENSION_EVENT_DATA itself.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_ib_extension_more {
    /// Address of the remote endpoint of unreliable datagrams.
    pub remote_ah: DAT_IB_ADDR_HANDLE,
    /// Result of a collective operation.
    pub coll: DAT_IB_COLLECTIVE_EVENT_DATA,
}

/// Contents of event_extension_data of DAT_EVENT if event_number is one of DAT_IB_EVENT_NUMBER.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_IB_EXTENSION_EVENT_DATA {
    /// The kind of operation.
    pub r#type: DAT_IB_EXT_TYPE,
    /// Status of the operation.
    pub status: DAT_IB_STATUS,
    /// Value of the operation.
    pub val: dat_ib_extension_value,
    /// Further data of the event.
    pub more: dat_ib_extension_more,
    /// Context of an exchange of addresses, for dat_ib_ud_cm_free.
    pub context: DAT_CONTEXT,
}
