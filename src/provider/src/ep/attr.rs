//! Conversion of endpoint attributes.

use dat_core::ep::table::Qos;
use dat_core::ep::{EpState, Watermark};
use dat_udat::*;

use crate::count;

/// Converts a quality of service. Returns `None` for an unknown bit.
pub fn qos(qos: DAT_QOS) -> Option<Qos> {
    const KNOWN: DAT_QOS = DAT_QOS_HIGH_THROUGHPUT | DAT_QOS_LOW_LATENCY | DAT_QOS_ECONOMY | DAT_QOS_PREMIUM;
    match qos {
        DAT_QOS_BEST_EFFORT => Some(Qos::BestEffort),
        qos if qos & !KNOWN == 0 => Some(Qos::Other),
        _ => None,
    }
}

/// Converts a number of buffers. Returns `Some(None)` for infinity, and `None` for any other negative value.
pub fn buffers(number: DAT_COUNT) -> Option<Option<usize>> {
    match number {
        DAT_WATERMARK_INFINITE => Some(None),
        number => usize::try_from(number).ok().map(Some),
    }
}

/// Converts a high watermark. Returns `None` for negative values, except infinity.
pub fn watermark(watermark: DAT_COUNT) -> Option<Watermark> {
    buffers(watermark).map(|limit| limit.map_or(Watermark::Infinite, Watermark::At))
}

/// Converts a new endpoint's high watermark, where 0 selects the default.
pub fn new_watermark(watermark: DAT_COUNT) -> Option<Watermark> {
    buffers(watermark).map(Watermark::from_attribute)
}

/// Converts a high watermark back to its C value.
pub fn c_watermark(watermark: Watermark) -> DAT_COUNT {
    watermark.attribute().map_or(DAT_WATERMARK_INFINITE, count)
}

/// Defines `ep_attributes` and `c_ep_attributes`, which convert the `DAT_EP_ATTR` of the version in scope.
#[macro_export]
macro_rules! ep_attributes {
    () => {
        /// Implements `Version::ep_attributes`. Returns `None` for an invalid value.
        pub(crate) fn ep_attributes(attr: &DAT_EP_ATTR, srq: bool) -> Option<dat_core::EpAttributes> {
            use dat_core::EpAttributes;
            use dat_core::ep::Watermark;
            use $crate::ep::attr::{new_watermark, qos};
            use $crate::post::completion_flags;

            // Programs cannot set named attributes, but can pass the attributes of another endpoint, with its counters.
            let (count, list) = (attr.ep_provider_specific_count, attr.ep_provider_specific);
            let fits = attr.service_type == DAT_SERVICE_TYPE_RC
                && attr.ep_transport_specific_count == 0
                // SAFETY: a program that creates an endpoint promises a list of this length.
                && (count == 0 || unsafe { $crate::counted::are_of_endpoint(count, list) });
            if !fits {
                return None;
            }
            let size = |count: DAT_COUNT| usize::try_from(count).ok();
            Some(EpAttributes {
                max_message_size: attr.max_message_size.into(),
                max_rdma_size: attr.max_rdma_size.into(),
                qos: qos(attr.qos)?,
                recv_completion_flags: completion_flags(attr.recv_completion_flags),
                request_completion_flags: completion_flags(attr.request_completion_flags),
                max_recv_dtos: if srq { 0 } else { size(attr.max_recv_dtos)? },
                max_request_dtos: size(attr.max_request_dtos)?,
                max_recv_iov: if srq { size(attr.max_recv_iov).unwrap_or(0) } else { size(attr.max_recv_iov)? },
                max_request_iov: size(attr.max_request_iov)?,
                max_rdma_read_in: size(attr.max_rdma_read_in)?,
                max_rdma_read_out: size(attr.max_rdma_read_out)?,
                soft_watermark: new_watermark(attr.srq_soft_hw)?,
                hard_watermark: if srq { new_watermark(attr.max_recv_dtos)? } else { Watermark::Default },
                max_rdma_read_iov: size(attr.max_rdma_read_iov)?,
                max_rdma_write_iov: size(attr.max_rdma_write_iov)?,
                // Only dat_ep_modify can hide the counters.
                counters_number: true,
                counters_list: true,
                usual_queues: false,
                datagrams: false,
            })
        }

        /// Converts the attributes of an endpoint back to their C structure.
        pub(crate) fn c_ep_attributes(attr: &dat_core::EpAttributes, srq: bool) -> DAT_EP_ATTR {
            use $crate::Size;
            use $crate::ep::attr::c_watermark;
            use $crate::count;

            DAT_EP_ATTR {
                service_type: DAT_SERVICE_TYPE_RC,
                max_message_size: Size::size(attr.max_message_size),
                max_rdma_size: Size::size(attr.max_rdma_size),
                // All endpoints have best effort.
                qos: DAT_QOS_BEST_EFFORT,
                recv_completion_flags: attr.recv_completion_flags.bits(),
                request_completion_flags: attr.request_completion_flags.bits(),
                max_recv_dtos: if srq { c_watermark(attr.hard_watermark) } else { count(attr.max_recv_dtos) },
                max_request_dtos: count(attr.max_request_dtos),
                max_recv_iov: count(attr.max_recv_iov),
                max_request_iov: count(attr.max_request_iov),
                max_rdma_read_in: count(attr.max_rdma_read_in),
                max_rdma_read_out: count(attr.max_rdma_read_out),
                srq_soft_hw: c_watermark(attr.soft_watermark),
                max_rdma_read_iov: count(attr.max_rdma_read_iov),
                max_rdma_write_iov: count(attr.max_rdma_write_iov),
                ep_transport_specific_count: 0,
                ep_transport_specific: std::ptr::null_mut(),
                ep_provider_specific_count: 0,
                ep_provider_specific: std::ptr::null_mut(),
            }
        }
    };
}

/// Converts an endpoint state.
pub fn c_ep_state(state: EpState) -> DAT_EP_STATE {
    match state {
        EpState::Unconnected => DAT_EP_STATE_UNCONNECTED,
        EpState::Reserved => DAT_EP_STATE_RESERVED,
        EpState::PassiveConnectionPending => DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
        EpState::ActiveConnectionPending => DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
        EpState::TentativeConnectionPending => DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
        EpState::Connected => DAT_EP_STATE_CONNECTED,
        EpState::DisconnectPending => DAT_EP_STATE_DISCONNECT_PENDING,
        EpState::Disconnected => DAT_EP_STATE_DISCONNECTED,
        EpState::CompletionPending => DAT_EP_STATE_COMPLETION_PENDING,
    }
}

#[cfg(test)]
mod tests;
