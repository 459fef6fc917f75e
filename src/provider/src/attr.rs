//! Conversion of adapter and provider attributes, rights and streams.

use dat_core::addr::Address;
use dat_core::{Feed, Rights, Streams};
use dat_udat::*;

use crate::Version;

/// Converts a boolean.
pub fn boolean(value: bool) -> DAT_BOOLEAN {
    if value { DAT_TRUE } else { DAT_FALSE }
}

/// Returns a pointer to the native form of an address.
pub fn address_ptr(address: &Address) -> DAT_IA_ADDRESS_PTR {
    address.native().as_ptr().cast_mut().cast()
}

/// Returns the bits of `srq_watermarks_supported`: always for the high watermarks that raise an event or end the
/// connection, and with `low` for the low watermark.
pub fn watermarks(low: bool) -> i32 {
    0x010 | 0x100 | i32::from(low)
}

/// Available and outstanding buffers, bits of `srq_info_supported`. In `ep_recv_info_supported` the same bits mean the
/// allocated buffers and their span.
pub const BOTH_COUNTS: i32 = 0x01 | 0x10;

/// Builds the `DAT_IA_ATTR` of the version in scope. The list sets fields that only this version has.
#[macro_export]
macro_rules! ia_attr {
    ($limits:expr, $called:expr, { $($field:ident: $value:expr),* $(,)? }) => {{
        use $crate::Size;
        use $crate::attr::{address_ptr, boolean};
        use dat_core::transport::AdapterAttributes;
        use $crate::count;

        let (limits, called): (&AdapterAttributes, &str) = ($limits, $called);
        // The limit of each endpoint is guaranteed if all endpoints together cannot exhaust the pool.
        let guaranteed = |each: usize, pool: usize| boolean(each.saturating_mul(limits.max_eps) <= pool);
        DAT_IA_ATTR {
            adapter_name: $crate::cstr::array(called.as_bytes()),
            vendor_name: $crate::cstr::array(limits.vendor.as_bytes()),
            hardware_version_major: limits.hardware_version.0,
            hardware_version_minor: limits.hardware_version.1,
            firmware_version_major: limits.firmware_version.0,
            firmware_version_minor: limits.firmware_version.1,
            ia_address_ptr: address_ptr(&limits.address),
            max_eps: count(limits.max_eps),
            max_dto_per_ep: count(limits.max_dto_per_ep),
            max_rdma_read_per_ep_in: count(limits.max_rdma_read_per_ep_in),
            max_rdma_read_per_ep_out: count(limits.max_rdma_read_per_ep_out),
            max_evds: count(limits.max_evds),
            max_evd_qlen: count(limits.max_evd_qlen),
            max_iov_segments_per_dto: count(limits.max_segments),
            max_lmrs: count(limits.max_lmrs),
            max_lmr_block_size: Size::size(limits.max_lmr_block),
            max_lmr_virtual_address: limits.max_lmr_address,
            max_pzs: count(limits.max_pzs),
            max_message_size: Size::size(limits.max_transfer),
            max_rdma_size: Size::size(limits.max_transfer),
            max_rmrs: count(if limits.rmr { limits.max_rmrs } else { 0 }),
            max_rmr_target_address: limits.max_rmr_address,
            max_srqs: count(if limits.srq { limits.max_srqs } else { 0 }),
            max_ep_per_srq: count(limits.max_eps_per_srq),
            max_recv_per_srq: count(limits.max_recvs_per_srq),
            max_iov_segments_per_rdma_read: count(limits.max_segments_read),
            max_iov_segments_per_rdma_write: count(limits.max_segments_write),
            max_rdma_read_in: count(limits.max_rdma_read_in),
            max_rdma_read_out: count(limits.max_rdma_read_out),
            max_rdma_read_per_ep_in_guaranteed: guaranteed(limits.max_rdma_read_per_ep_in, limits.max_rdma_read_in),
            max_rdma_read_per_ep_out_guaranteed: guaranteed(limits.max_rdma_read_per_ep_out, limits.max_rdma_read_out),
            num_transport_attr: 0,
            transport_attr: std::ptr::null_mut(),
            num_vendor_attr: 0,
            vendor_attr: std::ptr::null_mut(),
            $($field: $value,)*
        }
    }};
}

/// Builds the `DAT_PROVIDER_ATTR` of the version in scope. The list sets fields that only this version has.
/// `$thread_safe` is the registered value.
#[macro_export]
macro_rules! provider_attr {
    ($limits:expr, $called:expr, $thread_safe:expr, { $($field:ident: $value:expr),* $(,)? }) => {{
        use $crate::attr::{BOTH_COUNTS, boolean, watermarks};
        use dat_core::transport::{AdapterAttributes, FabricKind};
        use $crate::count;

        let (limits, called, thread_safe): (&AdapterAttributes, &str, bool) = ($limits, $called, $thread_safe);
        let version = |text: &str| text.parse().unwrap_or(0);
        DAT_PROVIDER_ATTR {
            provider_name: $crate::cstr::array(called.as_bytes()),
            provider_version_major: version(env!("CARGO_PKG_VERSION_MAJOR")),
            provider_version_minor: version(env!("CARGO_PKG_VERSION_MINOR")),
            dapl_version_major: DAT_VERSION_MAJOR,
            dapl_version_minor: DAT_VERSION_MINOR,
            // DAT_MEM_TYPE_VIRTUAL is 0, so it adds no bit.
            lmr_mem_types_supported: DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL,
            iov_ownership_on_return: DAT_IOV_CONSUMER,
            dat_qos_supported: DAT_QOS_BEST_EFFORT,
            completion_flags_supported: DAT_COMPLETION_SUPPRESS_FLAG
                | DAT_COMPLETION_SOLICITED_WAIT_FLAG
                | DAT_COMPLETION_UNSIGNALLED_FLAG
                | DAT_COMPLETION_BARRIER_FENCE_FLAG
                | DAT_COMPLETION_EVD_THRESHOLD_FLAG,
            is_thread_safe: boolean(thread_safe),
            max_private_data_size: count(limits.max_private_data),
            supports_multipath: DAT_FALSE,
            ep_creator: DAT_PSP_CREATES_EP_IFASKED,
            pz_support: DAT_PZ_SHAREABLE,
            optimal_buffer_alignment: u32::try_from(limits.optimal_alignment).unwrap_or(1),
            evd_stream_merging_supported: [[DAT_TRUE; 6]; 6],
            srq_supported: boolean(limits.srq),
            srq_watermarks_supported: watermarks(limits.srq && limits.srq_low_watermark),
            srq_ep_pz_difference_supported: boolean(limits.srq && limits.srq_zone_difference),
            srq_info_supported: if limits.srq { BOTH_COUNTS } else { 0 },
            ep_recv_info_supported: BOTH_COUNTS,
            lmr_sync_req: DAT_FALSE,
            dto_async_return_guaranteed: DAT_FALSE,
            rdma_write_for_rdma_read_req: boolean(limits.fabric.kind == FabricKind::Iwarp),
            $($field: $value,)*
        }
    }};
}

/// Converts rights. Returns `None` for an unknown bit.
pub fn rights<V: Version>(flags: DAT_MEM_PRIV_FLAGS) -> Option<Rights> {
    let rights = u8::try_from(flags & !V::OTHER_RIGHTS).ok().and_then(Rights::from_bits)?;
    V::RIGHTS.contains(rights).then_some(rights)
}

/// Converts event streams. Returns `None` for an unknown bit or no bit.
pub fn streams<V: Version>(flags: DAT_EVD_FLAGS) -> Option<Streams> {
    let streams = Streams::from_bits(flags)?;
    (!streams.is_empty() && V::STREAMS.contains(streams)).then_some(streams)
}

pub(crate) fn c_feed(feed: Option<Feed>) -> DAT_EVD_STATE {
    match feed {
        None => 0,
        Some(Feed::Unsignalled) => DAT_EVD_STATE_CONFIG_NOTIFY,
        Some(Feed::Solicited) => DAT_EVD_STATE_CONFIG_SOLICITED,
        Some(Feed::Threshold) => DAT_EVD_STATE_CONFIG_THRESHOLD,
    }
}

#[cfg(test)]
mod tests;
