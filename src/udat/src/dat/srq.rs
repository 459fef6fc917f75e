//! Shared receive queues

use super::types::*;
use crate::c_enum;
use crate::dat_platform_specific::*;

/// Attributes of a shared receive queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_srq_attr {
    /// Buffers that can be outstanding.
    pub max_recv_dtos: DAT_COUNT,
    /// Segments of a buffer.
    pub max_recv_iov: DAT_COUNT,
    /// Must be DAT_SRQ_LW_DEFAULT, see dat_srq_set_lw.
    pub low_watermark: DAT_COUNT,
}

/// Attributes of a shared receive queue.
pub type DAT_SRQ_ATTR = dat_srq_attr;

/// Default of the low watermark of a shared receive queue: never passed.
pub const DAT_SRQ_LW_DEFAULT: DAT_COUNT = 0;

c_enum! {
    /// State of a shared receive queue.
    pub enum dat_srq_state as DAT_SRQ_STATE {}
}

/// Parameters of a shared receive queue, see dat_srq_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_srq_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Its state.
    pub srq_state: DAT_SRQ_STATE,
    /// Its protection zone.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Buffers that can be outstanding.
    pub max_recv_dtos: DAT_COUNT,
    /// Segments of a buffer.
    pub max_recv_iov: DAT_COUNT,
    /// Low watermark as last set.
    pub low_watermark: DAT_COUNT,
    /// Buffers that an endpoint could still take.
    pub available_dto_count: DAT_COUNT,
    /// Buffers that occupy an entry: available, held by an endpoint, or completed and not yet
    /// dequeued.
    pub outstanding_dto_count: DAT_COUNT,
}

/// Parameters of a shared receive queue, see dat_srq_query.
pub type DAT_SRQ_PARAM = dat_srq_param;

c_enum! {
    /// Selects fields of DAT_SRQ_PARAM.
    pub enum dat_srq_param_mask as DAT_SRQ_PARAM_MASK {
        /// Selects ia_handle.
        DAT_SRQ_FIELD_IA_HANDLE = 0x01,
        /// Selects srq_state.
        DAT_SRQ_FIELD_SRQ_STATE = 0x02,
        /// Selects pz_handle.
        DAT_SRQ_FIELD_PZ_HANDLE = 0x04,
        /// Selects max_recv_dtos.
        DAT_SRQ_FIELD_MAX_RECV_DTO = 0x08,
        /// Selects max_recv_iov.
        DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10,
        /// Selects low_watermark.
        DAT_SRQ_FIELD_LOW_WATERMARK = 0x20,
        /// Selects available_dto_count.
        DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40,
        /// Selects outstanding_dto_count.
        DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80,
        /// Selects all fields.
        DAT_SRQ_FIELD_ALL = 0xFF,
    }
}
