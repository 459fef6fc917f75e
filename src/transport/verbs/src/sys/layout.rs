//! Compile-time checks of the structures and numbers declared in Rust (rdma-sys, this crate) against the headers of
//! rdma-core. rdma-sys generates its other structures from these headers.

use std::mem::offset_of;

use rdma_sys::ibv_send_flags;

use super::device::RawAsyncEvent;
use super::qp::PostSend;

#[allow(clippy::all, dead_code, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals)]
#[allow(unsafe_op_in_unsafe_fn, unused_qualifications, unnameable_types, unreachable_pub)]
pub mod headers {
    include!(concat!(env!("OUT_DIR"), "/headers.rs"));
}

/// Asserts that a structure in Rust and a structure in the headers have equal sizes, alignments and offsets of fields.
macro_rules! same {
    ($ours:ty, $theirs:ident: $($($own:ident).+ = $($field:ident).+),* $(,)?) => {
        const _: () = {
            assert!(size_of::<$ours>() == size_of::<headers::$theirs>(), concat!("another size of ", stringify!($theirs)));
            assert!(align_of::<$ours>() == align_of::<headers::$theirs>(), concat!("another alignment of ", stringify!($theirs)));
            $(assert!(
                offset_of!($ours, $($own).+) == offset_of!(headers::$theirs, $($field).+),
                concat!("another offset of ", stringify!($($field).+), " in ", stringify!($theirs))
            );)*
        };
    };
}

same!(rdma_sys::ibv_send_wr, ibv_send_wr:
    wr_id = wr_id, next = next, sg_list = sg_list, num_sge = num_sge, opcode = opcode, send_flags = send_flags,
    imm_data_invalidated_rkey_union.imm_data = __bindgen_anon_1.imm_data,
    imm_data_invalidated_rkey_union.invalidated_rkey = __bindgen_anon_1.invalidate_rkey,
    wr.rdma.remote_addr = wr.rdma.remote_addr, wr.rdma.rkey = wr.rdma.rkey,
    wr.atomic.remote_addr = wr.atomic.remote_addr, wr.atomic.compare_add = wr.atomic.compare_add,
    wr.atomic.swap = wr.atomic.swap, wr.atomic.rkey = wr.atomic.rkey,
    wr.ud.ah = wr.ud.ah, wr.ud.remote_qpn = wr.ud.remote_qpn, wr.ud.remote_qkey = wr.ud.remote_qkey,
    qp_type = qp_type,
    bind_mw_tso_union.bind_mw.mw = __bindgen_anon_2.bind_mw.mw,
    bind_mw_tso_union.bind_mw.rkey = __bindgen_anon_2.bind_mw.rkey,
    bind_mw_tso_union.bind_mw.bind_info = __bindgen_anon_2.bind_mw.bind_info,
);
same!(rdma_sys::ibv_mw_bind_info, ibv_mw_bind_info:
    mr = mr, addr = addr, length = length, mw_access_flags = mw_access_flags);
same!(rdma_sys::ibv_mw_bind, ibv_mw_bind: wr_id = wr_id, send_flags = send_flags, bind_info = bind_info);
same!(rdma_sys::ibv_recv_wr, ibv_recv_wr: wr_id = wr_id, next = next, sg_list = sg_list, num_sge = num_sge);
same!(rdma_sys::ibv_sge, ibv_sge: addr = addr, length = length, lkey = lkey);
same!(rdma_sys::ibv_wc, ibv_wc:
    wr_id = wr_id, status = status, opcode = opcode, vendor_err = vendor_err, byte_len = byte_len,
    imm_data_invalidated_rkey_union.imm_data = __bindgen_anon_1.imm_data,
    imm_data_invalidated_rkey_union.invalidated_rkey = __bindgen_anon_1.invalidated_rkey,
    qp_num = qp_num, src_qp = src_qp, wc_flags = wc_flags);
same!(rdma_sys::ibv_gid, ibv_gid: raw = raw);
same!(rdma_sys::ibv_global_route, ibv_global_route:
    dgid = dgid, flow_label = flow_label, sgid_index = sgid_index, hop_limit = hop_limit, traffic_class = traffic_class);
same!(rdma_sys::ibv_ah_attr, ibv_ah_attr:
    grh = grh, dlid = dlid, sl = sl, src_path_bits = src_path_bits, static_rate = static_rate, is_global = is_global,
    port_num = port_num);
same!(RawAsyncEvent, ibv_async_event: element = element, event_type = event_type);
same!(rdma_sys::rdma_cm_event, rdma_cm_event:
    id = id, listen_id = listen_id, event = event, status = status, param.conn = param.conn, param.ud = param.ud);
same!(rdma_sys::rdma_ud_param, rdma_ud_param:
    private_data = private_data, private_data_len = private_data_len, ah_attr = ah_attr, qp_num = qp_num, qkey = qkey);
same!(rdma_sys::rdma_addr, rdma_addr:
    src_addr_union = __bindgen_anon_1, dst_addr_union = __bindgen_anon_2, addr.ibaddr.sgid = addr.ibaddr.sgid);
same!(rdma_sys::rdma_cm_id, rdma_cm_id:
    verbs = verbs, context = context, route = route, ps = ps, port_num = port_num);
same!(rdma_sys::rdma_conn_param, rdma_conn_param:
    private_data = private_data, private_data_len = private_data_len, responder_resources = responder_resources,
    initiator_depth = initiator_depth, flow_control = flow_control, retry_count = retry_count,
    rnr_retry_count = rnr_retry_count, srq = srq, qp_num = qp_num);
// Inline functions call the driver through these structures.
same!(rdma_sys::ibv_context, ibv_context: device = device, ops = ops, cmd_fd = cmd_fd, async_fd = async_fd,
    abi_compat = abi_compat);
same!(rdma_sys::ibv_context_ops, ibv_context_ops:
    poll_cq = poll_cq, req_notify_cq = req_notify_cq, post_send = post_send, post_recv = post_recv,
    post_srq_recv = post_srq_recv, alloc_mw = alloc_mw, bind_mw = bind_mw, dealloc_mw = dealloc_mw);
same!(rdma_sys::verbs_context, verbs_context: query_port = query_port, sz = sz, context = context);
same!(rdma_sys::ibv_qp, ibv_qp: context = context, handle = handle, qp_num = qp_num);
same!(rdma_sys::ibv_cq, ibv_cq: context = context, cqe = cqe);
same!(rdma_sys::ibv_srq, ibv_srq: context = context);
same!(rdma_sys::ibv_mw, ibv_mw: context = context, rkey = rkey, type_ = type_);
same!(rdma_sys::ibv_device, ibv_device: transport_type = transport_type);
same!(rdma_sys::ibv_port_attr, ibv_port_attr: link_layer = link_layer, active_mtu = active_mtu);

/// The command consists of a header and its arguments, without a gap.
const _: () = {
    const HEAD: usize = size_of::<headers::ib_uverbs_cmd_hdr>();
    assert!(offset_of!(PostSend, arguments) == HEAD);
    assert!(size_of::<PostSend>() == HEAD + size_of::<headers::ib_uverbs_post_send>());
};

const _: () = assert!(ibv_send_flags::IBV_SEND_INLINE.0 == headers::ibv_send_flags_IBV_SEND_INLINE);
