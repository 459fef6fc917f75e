//! Shared receive queues

use super::types::*;
use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Attributes of a shared receive queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_SRQ_ATTR {
    /// Maximum number of outstanding buffers.
    pub max_recv_dtos: DAT_COUNT,
    /// Maximum number of segments of a buffer.
    pub max_recv_iov: DAT_COUNT,
    /// Must be DAT_SRQ_LW_DEFAULT, see dat_srq_set_lw.
    pub low_watermark: DAT_COUNT,
}

/// Default of the low watermark of a shared receive queue, which is never crossed.
pub const DAT_SRQ_LW_DEFAULT: DAT_COUNT = 0;

/// State of a shared receive queue.
pub type DAT_SRQ_STATE = c_enum;

/// Parameters of a shared receive queue, see dat_srq_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_SRQ_PARAM {
    /// Interface adapter of the queue.
    pub ia_handle: DAT_IA_HANDLE,
    /// State of the queue.
    pub srq_state: DAT_SRQ_STATE,
    /// Protection zone of the queue.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Maximum number of outstanding buffers.
    pub max_recv_dtos: DAT_COUNT,
    /// Maximum number of segments of a buffer.
    pub max_recv_iov: DAT_COUNT,
    /// Low watermark of the queue, see dat_srq_set_lw.
    pub low_watermark: DAT_COUNT,
    /// Number of buffers that no endpoint has taken, or DAT_VALUE_UNKNOWN.
    pub available_dto_count: DAT_COUNT,
    /// Number of buffers that occupy an entry: available, taken by an endpoint, or completed and not yet dequeued.
    /// DAT_VALUE_UNKNOWN if the provider does not know it.
    pub outstanding_dto_count: DAT_COUNT,
}

/// Selects fields of DAT_SRQ_PARAM.
pub type DAT_SRQ_PARAM_MASK = c_enum;
pub const DAT_SRQ_FIELD_IA_HANDLE: DAT_SRQ_PARAM_MASK = 0x01;
pub const DAT_SRQ_FIELD_SRQ_STATE: DAT_SRQ_PARAM_MASK = 0x02;
pub const DAT_SRQ_FIELD_PZ_HANDLE: DAT_SRQ_PARAM_MASK = 0x04;
/// Selects max_recv_dtos.
pub const DAT_SRQ_FIELD_MAX_RECV_DTO: DAT_SRQ_PARAM_MASK = 0x08;
pub const DAT_SRQ_FIELD_MAX_RECV_IOV: DAT_SRQ_PARAM_MASK = 0x10;
pub const DAT_SRQ_FIELD_LOW_WATERMARK: DAT_SRQ_PARAM_MASK = 0x20;
pub const DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT: DAT_SRQ_PARAM_MASK = 0x40;
pub const DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT: DAT_SRQ_PARAM_MASK = 0x80;
pub const DAT_SRQ_FIELD_ALL: DAT_SRQ_PARAM_MASK = 0xFF;
