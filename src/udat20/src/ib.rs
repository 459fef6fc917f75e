//! Extensions for InfiniBand, as in dat_ib_extensions.h
//!
//! The header has an unnamed member in DAT_IB_EXTENSION_EVENT_DATA, so that structure is in macros/ for C and here for Rust.

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

/// The code of dat_ia_query as that of dat_ib_open_query, where its arguments stand two places further back.
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
    /// The value that came with a write.
    pub immed: DAT_IB_IMMED_DATA,
}

/// Further data of an extended event; in C its members are those of DAT_IB_EXTENSION_EVENT_DATA itself.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_ib_extension_more {
    /// Address of an unreliable datagram.
    pub remote_ah: DAT_IB_ADDR_HANDLE,
    /// Result of a collective operation.
    pub coll: DAT_IB_COLLECTIVE_EVENT_DATA,
}

/// What event_extension_data of DAT_EVENT holds if event_number is one of DAT_IB_EVENT_NUMBER.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_ib_extension_event_data {
    /// The kind of operation.
    pub r#type: DAT_IB_EXT_TYPE,
    /// Its outcome.
    pub status: DAT_IB_STATUS,
    /// Its value.
    pub val: dat_ib_extension_value,
    /// Further data.
    pub more: dat_ib_extension_more,
    /// Word of the consumer.
    pub context: DAT_CONTEXT,
}

/// What event_extension_data of DAT_EVENT holds if event_number is one of DAT_IB_EVENT_NUMBER.
pub type DAT_IB_EXTENSION_EVENT_DATA = dat_ib_extension_event_data;
