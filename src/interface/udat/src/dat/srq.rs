//! Shared receive queues

use super::types::*;
use crate::dat_platform_specific::*;

c_struct! {
    /// Attributes of a shared receive queue.
    struct dat_srq_attr as DAT_SRQ_ATTR;
    max_recv_dtos: DAT_COUNT, "Maximum number of outstanding buffers.";
    max_recv_iov: DAT_COUNT, "Segments of a buffer.";
    low_watermark: DAT_COUNT, "Must be DAT_SRQ_LW_DEFAULT, see dat_srq_set_lw.";
}

/// Default of the low watermark of a shared receive queue, which is never crossed.
pub const DAT_SRQ_LW_DEFAULT: DAT_COUNT = 0;

c_enum! {
    /// State of a shared receive queue.
    dat_srq_state as DAT_SRQ_STATE;
}

c_struct! {
    /// Parameters of a shared receive queue, see dat_srq_query.
    struct dat_srq_param as DAT_SRQ_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    srq_state: DAT_SRQ_STATE, "Its state.";
    pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
    max_recv_dtos: DAT_COUNT, "Maximum number of outstanding buffers.";
    max_recv_iov: DAT_COUNT, "Segments of a buffer.";
    low_watermark: DAT_COUNT, "The low watermark.";
    available_dto_count: DAT_COUNT, "Buffers that no endpoint has taken.";
    outstanding_dto_count: DAT_COUNT,
        "Buffers that occupy an entry: available, taken by an endpoint, or completed and not yet"
        "dequeued.";
}

c_enum! {
    /// Selects fields of DAT_SRQ_PARAM.
    dat_srq_param_mask as DAT_SRQ_PARAM_MASK;
    DAT_SRQ_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_SRQ_FIELD_SRQ_STATE = 0x02, "Selects srq_state.";
    DAT_SRQ_FIELD_PZ_HANDLE = 0x04, "Selects pz_handle.";
    DAT_SRQ_FIELD_MAX_RECV_DTO = 0x08, "Selects max_recv_dtos.";
    DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10, "Selects max_recv_iov.";
    DAT_SRQ_FIELD_LOW_WATERMARK = 0x20, "Selects low_watermark.";
    DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40, "Selects available_dto_count.";
    DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80, "Selects outstanding_dto_count.";
    DAT_SRQ_FIELD_ALL = 0xFF, "Selects all fields.";
}
