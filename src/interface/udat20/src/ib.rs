//! Extensions for InfiniBand, as in dat_ib_extensions.h
//!
//! DAT_IB_EXTENSION_EVENT_DATA has an unnamed member in C, so this module defines it for Rust, and macros/ for C.

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

/// Converts a return code of dat_ia_query for dat_ib_open_query, whose arguments have positions that are 2 higher.
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

c_struct! {
    /// Value of an extended event.
    union dat_ib_extension_value;
    immed: DAT_IB_IMMED_DATA, "The immediate data of a write.";
}

c_struct! {
    /// Further data of an extended event. In C, these are members of DAT_IB_EXTENSION_EVENT_DATA itself.
    union dat_ib_extension_more;
    remote_ah: DAT_IB_ADDR_HANDLE, "Address of an unreliable datagram.";
    coll: DAT_IB_COLLECTIVE_EVENT_DATA, "Result of a collective operation.";
}

c_struct! {
    /// Contents of event_extension_data of DAT_EVENT if event_number is one of DAT_IB_EVENT_NUMBER.
    struct dat_ib_extension_event_data as DAT_IB_EXTENSION_EVENT_DATA;
    r#type: DAT_IB_EXT_TYPE, "The kind of operation.";
    status: DAT_IB_STATUS, "Its status.";
    val: dat_ib_extension_value, "Its value.";
    more: dat_ib_extension_more, "Further data.";
    context: DAT_CONTEXT, "Word of the program.";
}
