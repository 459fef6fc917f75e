//! Attributes in the form of the C structures, and back.

use std::ffi::c_char;
use std::ptr;

use dat_core::addr::Address;
use dat_core::ep::State;
use dat_core::transport::AdapterAttributes;
use dat_core::{EpAttributes, Feed, Rights, Streams};
use dat_face::count;
use dat_udat12::*;

/// A truth value in the form of the interface.
pub(crate) fn boolean(value: bool) -> DAT_BOOLEAN {
    if value { DAT_TRUE } else { DAT_FALSE }
}

/// Where the native form of an address is.
pub(crate) fn address_ptr(address: &Address) -> DAT_IA_ADDRESS_PTR {
    address.native().as_ptr().cast_mut().cast()
}

/// A name in an array of the interface, cut if it is too long, and always with an end.
fn name(text: &str) -> [c_char; DAT_NAME_MAX_LENGTH] {
    let mut name = [0; DAT_NAME_MAX_LENGTH];
    let end = name.len() - 1;
    for (to, from) in name.iter_mut().take(end).zip(text.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    name
}

/// The attributes of an endpoint as the program gives them. The named ones are known by their
/// number alone: it must be 0, for there are none.
pub(crate) fn ep_attributes(attr: &DAT_EP_ATTR) -> EpAttributes {
    EpAttributes {
        service_type: attr.service_type,
        max_message_size: attr.max_message_size,
        max_rdma_size: attr.max_rdma_size,
        qos: attr.qos,
        recv_completion_flags: attr.recv_completion_flags,
        request_completion_flags: attr.request_completion_flags,
        max_recv_dtos: attr.max_recv_dtos,
        max_request_dtos: attr.max_request_dtos,
        max_recv_iov: attr.max_recv_iov,
        max_request_iov: attr.max_request_iov,
        max_rdma_read_in: attr.max_rdma_read_in,
        max_rdma_read_out: attr.max_rdma_read_out,
        srq_soft_hw: attr.srq_soft_hw,
        max_rdma_read_iov: attr.max_rdma_read_iov,
        max_rdma_write_iov: attr.max_rdma_write_iov,
        transport_specific_count: attr.ep_transport_specific_count,
        provider_specific_count: attr.ep_provider_specific_count,
    }
}

/// The attributes of an endpoint in the form of the interface.
pub(crate) fn c_ep_attributes(attr: &EpAttributes) -> DAT_EP_ATTR {
    DAT_EP_ATTR {
        service_type: attr.service_type,
        max_message_size: attr.max_message_size,
        max_rdma_size: attr.max_rdma_size,
        qos: attr.qos,
        recv_completion_flags: attr.recv_completion_flags,
        request_completion_flags: attr.request_completion_flags,
        max_recv_dtos: attr.max_recv_dtos,
        max_request_dtos: attr.max_request_dtos,
        max_recv_iov: attr.max_recv_iov,
        max_request_iov: attr.max_request_iov,
        max_rdma_read_in: attr.max_rdma_read_in,
        max_rdma_read_out: attr.max_rdma_read_out,
        srq_soft_hw: attr.srq_soft_hw,
        max_rdma_read_iov: attr.max_rdma_read_iov,
        max_rdma_write_iov: attr.max_rdma_write_iov,
        ep_transport_specific_count: attr.transport_specific_count,
        ep_transport_specific: ptr::null_mut(),
        ep_provider_specific_count: attr.provider_specific_count,
        ep_provider_specific: ptr::null_mut(),
    }
}

/// An endpoint state in the form of the interface.
pub(crate) fn c_ep_state(state: State) -> DAT_EP_STATE {
    match state {
        State::Unconnected => DAT_EP_STATE_UNCONNECTED,
        State::Reserved => DAT_EP_STATE_RESERVED,
        State::PassiveConnectionPending => DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
        State::ActiveConnectionPending => DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
        State::TentativeConnectionPending => DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
        State::Connected => DAT_EP_STATE_CONNECTED,
        State::DisconnectPending => DAT_EP_STATE_DISCONNECT_PENDING,
        State::Disconnected => DAT_EP_STATE_DISCONNECTED,
        State::CompletionPending => DAT_EP_STATE_COMPLETION_PENDING,
    }
}

/// Attributes of an adapter that was opened as `opened_as`. The address stays where it is for as long
/// as the adapter is open.
pub(crate) fn c_ia_attributes(limits: &AdapterAttributes, opened_as: &str) -> DAT_IA_ATTR {
    // Each endpoint is sure of its share if all of them together cannot exhaust the pool.
    let guaranteed = |each: usize, pool: usize| boolean(each.saturating_mul(limits.max_eps) <= pool);
    DAT_IA_ATTR {
        adapter_name: name(opened_as),
        vendor_name: name(&limits.vendor),
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
        max_lmr_block_size: limits.max_lmr_block,
        max_lmr_virtual_address: limits.max_lmr_address,
        max_pzs: count(limits.max_pzs),
        max_message_size: limits.max_message,
        max_rdma_size: limits.max_rdma,
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
        transport_attr: ptr::null_mut(),
        num_vendor_attr: 0,
        vendor_attr: ptr::null_mut(),
    }
}

/// Bits of `srq_watermarks_supported`.
mod watermarks {
    pub const LOW: i32 = 0x001;
    pub const SOFT_HIGH: i32 = 0x010;
    pub const HARD_HIGH: i32 = 0x100;
}

/// Bits of `srq_info_supported`: the available and the outstanding buffers. Those of
/// `ep_recv_info_supported` are the same: the allocated buffers and their span.
const BOTH_COUNTS: i32 = 0x01 | 0x10;

/// Attributes of the provider. `thread_safe` is what it was registered as: it always is, but
/// registries find the entry of an instance again by this attribute.
pub(crate) fn c_provider_attributes(limits: &AdapterAttributes, thread_safe: bool) -> DAT_PROVIDER_ATTR {
    let version = |text: &str| text.parse().unwrap_or(0);
    let low = if limits.srq && limits.srq_low_watermark { watermarks::LOW } else { 0 };
    DAT_PROVIDER_ATTR {
        provider_name: name(&limits.provider),
        provider_version_major: version(env!("CARGO_PKG_VERSION_MAJOR")),
        provider_version_minor: version(env!("CARGO_PKG_VERSION_MINOR")),
        dapl_version_major: DAT_VERSION_MAJOR,
        dapl_version_minor: DAT_VERSION_MINOR,
        // Virtual memory, which has no bit, is offered by every provider.
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
        srq_watermarks_supported: low | watermarks::SOFT_HIGH | watermarks::HARD_HIGH,
        srq_ep_pz_difference_supported: boolean(limits.srq),
        srq_info_supported: if limits.srq { BOTH_COUNTS } else { 0 },
        ep_recv_info_supported: BOTH_COUNTS,
        lmr_sync_req: DAT_FALSE,
        dto_async_return_guaranteed: DAT_FALSE,
        rdma_write_for_rdma_read_req: DAT_FALSE,
        num_provider_specific_attr: 0,
        provider_specific_attr: ptr::null_mut(),
    }
}

/// Rights and their bits in the interface.
const RIGHTS: [(Rights, DAT_MEM_PRIV_FLAGS); 4] = [
    (Rights::LOCAL_READ, DAT_MEM_PRIV_LOCAL_READ_FLAG),
    (Rights::LOCAL_WRITE, DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
    (Rights::REMOTE_READ, DAT_MEM_PRIV_REMOTE_READ_FLAG),
    (Rights::REMOTE_WRITE, DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
];

/// The rights that `flags` stand for; `None` if there is an unknown bit. The bit about
/// ordering is passed over.
pub(crate) fn rights(flags: DAT_MEM_PRIV_FLAGS) -> Option<Rights> {
    if flags & !(DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_RO_DISABLE_FLAG) != 0 {
        return None;
    }
    Some(RIGHTS.iter().filter(|(_, bit)| flags & bit != 0).fold(Rights::NONE, |all, (right, _)| all | *right))
}

/// Rights in the form of the interface.
pub(crate) fn c_rights(rights: Rights) -> DAT_MEM_PRIV_FLAGS {
    RIGHTS.iter().filter(|(right, _)| rights.contains(*right)).fold(0, |all, (_, bit)| all | bit)
}

/// Event streams and their bits in the interface.
const STREAMS: [(Streams, DAT_EVD_FLAGS); 6] = [
    (Streams::SOFTWARE, DAT_EVD_SOFTWARE_FLAG),
    (Streams::REQUESTS, DAT_EVD_CR_FLAG),
    (Streams::TRANSFERS, DAT_EVD_DTO_FLAG),
    (Streams::CONNECTIONS, DAT_EVD_CONNECTION_FLAG),
    (Streams::BINDS, DAT_EVD_RMR_BIND_FLAG),
    (Streams::ASYNC, DAT_EVD_ASYNC_FLAG),
];

/// The streams that `flags` stand for; `None` for no stream and for unknown bits.
pub(crate) fn streams(flags: DAT_EVD_FLAGS) -> Option<Streams> {
    if flags == 0 || flags & !(DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG) != 0 {
        return None;
    }
    Some(STREAMS.iter().filter(|(_, bit)| flags & bit != 0).fold(Streams::NONE, |all, (stream, _)| all | *stream))
}

/// Streams in the form of the interface.
pub(crate) fn c_streams(streams: Streams) -> DAT_EVD_FLAGS {
    STREAMS.iter().filter(|(stream, _)| streams.contains(*stream)).fold(0, |all, (_, bit)| all | bit)
}

/// The configuration band of an EVD's state.
pub(crate) fn c_feed(feed: Option<Feed>) -> DAT_EVD_STATE {
    match feed {
        None => 0,
        Some(Feed::Unsignalled) => DAT_EVD_STATE_CONFIG_NOTIFY,
        Some(Feed::Solicited) => DAT_EVD_STATE_CONFIG_SOLICITED,
        Some(Feed::Threshold) => DAT_EVD_STATE_CONFIG_THRESHOLD,
    }
}

#[cfg(test)]
mod tests {
    use dat_core::ep::flags;
    use dat_core::ep::modify::{Field, RULES};

    use super::*;

    #[test]
    fn the_bits_of_the_core_are_those_of_the_interface() {
        assert_eq!(flags::SUPPRESS, DAT_COMPLETION_SUPPRESS_FLAG);
        assert_eq!(flags::SOLICITED_WAIT, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
        assert_eq!(flags::UNSIGNALLED, DAT_COMPLETION_UNSIGNALLED_FLAG);
        assert_eq!(flags::BARRIER_FENCE, DAT_COMPLETION_BARRIER_FENCE_FLAG);
        assert_eq!(flags::EVD_THRESHOLD, DAT_COMPLETION_EVD_THRESHOLD_FLAG);
        assert_eq!(dat_core::ep::WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
    }

    #[test]
    fn every_field_of_an_endpoint_has_the_mask_bit_of_the_interface() {
        let bit = |field| match field {
            Field::Ia => DAT_EP_FIELD_IA_HANDLE,
            Field::State => DAT_EP_FIELD_EP_STATE,
            Field::LocalAddress => DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
            Field::LocalPort => DAT_EP_FIELD_LOCAL_PORT_QUAL,
            Field::RemoteAddress => DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
            Field::RemotePort => DAT_EP_FIELD_REMOTE_PORT_QUAL,
            Field::Pz => DAT_EP_FIELD_PZ_HANDLE,
            Field::RecvEvd => DAT_EP_FIELD_RECV_EVD_HANDLE,
            Field::RequestEvd => DAT_EP_FIELD_REQUEST_EVD_HANDLE,
            Field::ConnectEvd => DAT_EP_FIELD_CONNECT_EVD_HANDLE,
            Field::Srq => DAT_EP_FIELD_SRQ_HANDLE,
            Field::ServiceType => DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE,
            Field::MaxMessageSize => DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,
            Field::MaxRdmaSize => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
            Field::Qos => DAT_EP_FIELD_EP_ATTR_QOS,
            Field::RecvCompletionFlags => DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS,
            Field::RequestCompletionFlags => DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS,
            Field::MaxRecvDtos => DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
            Field::MaxRequestDtos => DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
            Field::MaxRecvIov => DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,
            Field::MaxRequestIov => DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
            Field::MaxRdmaReadIn => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,
            Field::MaxRdmaReadOut => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
            Field::SrqSoftHighWatermark => DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW,
            Field::MaxRdmaReadIov => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV,
            Field::MaxRdmaWriteIov => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV,
            Field::TransportSpecificCount => DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR,
            Field::TransportSpecific => DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR,
            Field::ProviderSpecificCount => DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR,
            Field::ProviderSpecific => DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR,
        };
        for rule in RULES {
            assert_eq!(u64::from(rule.bit), bit(rule.field), "{:?}", rule.field);
        }
        let all = RULES.iter().fold(0, |all, rule| all | u64::from(rule.bit));
        assert_eq!(all, DAT_EP_FIELD_ALL);
    }

    #[test]
    fn rights_and_streams_are_read_back_and_unknown_bits_refused() {
        for flags in 0..=0xfff {
            let known = flags & !0x133 == 0;
            assert_eq!(rights(flags).map(c_rights), known.then_some(flags & 0x33), "{flags:#x}");
            let known = flags != 0 && flags & !0x1f1 == 0;
            assert_eq!(streams(flags).map(c_streams), known.then_some(flags), "{flags:#x}");
        }
    }

    #[test]
    fn names_are_cut_and_ended() {
        let long = name(&"n".repeat(300));
        assert!(long[..255].iter().all(|&c| c == b'n' as c_char));
        assert_eq!(long[255], 0);
        assert_eq!(name("ab")[..3], [b'a' as c_char, b'b' as c_char, 0]);
    }
}
