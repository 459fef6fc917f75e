//! Limits and attributes of an adapter.

use std::ffi::{OsString, c_int};
use std::io;
use std::net::SocketAddr;

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::transport::{AdapterAttributes, Fabric, FabricKind, MAX_SEGMENTS};
use host::environment;
use rdma_sys::{ibv_atomic_cap, ibv_device_attr, ibv_device_cap_flags, ibv_port_attr, ibv_port_state, ibv_wc_status};

use crate::locate::Place;
use crate::quirks::Quirks;
use crate::rejection::MAX_REJECT_DATA;
use crate::sys::datagram::needs_grh;
use crate::sys::device::Context;
use crate::sys::memory::remote_access;
use crate::sys::qp::MAX_MESSAGE;
use crate::sys::{text, version};

/// Maximum bytes of private data in a connection request: 92 on the wire, minus 36 for rdma_cm's header.
pub const MAX_PRIVATE_DATA: usize = 56;

/// MTUs in bytes, in the order of libibverbs' codes (`ibv_mtu`), which begin with 1.
const MTUS: [usize; 5] = [256, 512, 1024, 2048, 4096];

#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum entries of a completion queue.
    pub cqe: usize,
    /// Maximum RDMA reads that a queue pair serves concurrently.
    pub reads_in: u8,
    /// Maximum outstanding RDMA reads of a queue pair.
    pub reads_out: u8,
    pub srq_resize: bool,
    pub windows: bool,
    /// Set if the device has type 2 windows.
    pub single_windows: bool,
    pub atomics: bool,
    pub iwarp: bool,
    pub needs_grh: bool,
    pub quirks: Quirks,
}

impl Limits {
    fn of(attr: &ibv_device_attr, port: &ibv_port_attr, iwarp: bool) -> Self {
        let reads = |value: c_int| u8::try_from(count(value)).unwrap_or(u8::MAX);
        let windows = attr.max_mw > 0 && has(attr, ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW);
        // Either type is enough: 2A and 2B differ only in the device's checks.
        let single =
            ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW_TYPE_2A | ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW_TYPE_2B;
        Limits {
            cqe: count(attr.max_cqe).max(1),
            reads_in: reads(attr.max_qp_rd_atom),
            reads_out: reads(attr.max_qp_init_rd_atom),
            srq_resize: has(attr, ibv_device_cap_flags::IBV_DEVICE_SRQ_RESIZE),
            windows,
            single_windows: windows && has(attr, single),
            atomics: attr.atomic_cap != ibv_atomic_cap::IBV_ATOMIC_NONE,
            iwarp,
            needs_grh: needs_grh(port),
            quirks: Quirks::of(attr.vendor_id, iwarp),
        }
    }

    /// Returns whether the sender's device repeats a message for which the receiver has no receive. On iWARP such a
    /// message ends the connection, so all receives must be posted to the device, not wait in a backlog.
    pub fn repeats(&self) -> bool {
        !self.iwarp
    }

    /// Returns the maximum length of an SRQ: half the maximum of a completion queue, because its receives share a
    /// completion queue with other work.
    pub fn shared_recvs(&self) -> usize {
        (self.cqe / 2).max(1)
    }

    /// Returns whether this status only shows that the connection has ended, which rdma_cm also reports. When the peer
    /// ends a connection, iWARP devices flush all work. Soft-iWARP completes outstanding work with two other statuses
    /// (Linux 6.1, 6.12, 7.3).
    pub fn is_end(&self, status: ibv_wc_status::Type) -> bool {
        match status {
            ibv_wc_status::IBV_WC_WR_FLUSH_ERR => self.iwarp,
            ibv_wc_status::IBV_WC_LOC_QP_OP_ERR | ibv_wc_status::IBV_WC_GENERAL_ERR => self.quirks.misnames_flushed,
            _ => false,
        }
    }

    /// Returns the `IBV_ACCESS_*` bits of all queue pairs: all remote rights of the device. A region may grant fewer.
    pub fn access(&self) -> u32 {
        remote_access(self.granted(Rights::REMOTE)) as u32
    }

    /// Returns `rights`, without the right to atomic operations if the device has none and would reject the right.
    pub fn granted(&self, rights: Rights) -> Rights {
        if self.atomics { rights } else { rights.difference(Rights::REMOTE_ATOMIC) }
    }
}

fn count(value: c_int) -> usize {
    usize::try_from(value).unwrap_or(0)
}

fn has(attr: &ibv_device_attr, flags: ibv_device_cap_flags) -> bool {
    attr.device_cap_flags & flags.0 != 0
}

pub fn read(context: &Context, place: &Place) -> io::Result<(AdapterAttributes, Limits)> {
    let attr = context.query()?;
    let port = context.query_port(place.port)?;
    // SAFETY: the library terminates the string within the array.
    let firmware = unsafe { text(attr.fw_ver.as_ptr()) };
    let limits = Limits::of(&attr, &port, context.is_iwarp());
    // On iWARP all receives must be posted to the device, and each needs an entry in a completion queue.
    let (of_cq, of_shared) =
        if limits.repeats() { (usize::MAX, usize::MAX) } else { (limits.cqe, limits.shared_recvs()) };
    // Core has only one limit of segments, for receives with and without an SRQ.
    let of_srq = if attr.max_srq > 0 { count(attr.max_srq_sge) } else { MAX_SEGMENTS };
    let segments = count(attr.max_sge).min(MAX_SEGMENTS).min(of_srq).max(1);
    // Soft-RoCE of Linux 6.1 reports 8 MiB, but supports messages of 1 GiB. Linux 6.12 and 7.3 report 2 GiB.
    let message =
        u64::from(port.max_msg_sz).max(if limits.quirks.understates_messages { 1 << 30 } else { 0 }).min(MAX_MESSAGE);
    let attributes = AdapterAttributes {
        vendor: format!("{:#x}", attr.vendor_id),
        provider: place.name.clone(),
        hardware_version: (attr.hw_ver, 0),
        firmware_version: version(&firmware),
        address: Address::new(SocketAddr::new(place.address, 0)),
        max_eps: count(attr.max_qp),
        // One entry stays unused: see `WorkQueue::new`.
        max_dto_per_ep: count(attr.max_qp_wr).min(of_cq).saturating_sub(1),
        max_rdma_read_per_ep_in: limits.reads_in.into(),
        max_rdma_read_per_ep_out: limits.reads_out.into(),
        max_rdma_read_in: count(attr.max_res_rd_atom),
        max_rdma_read_out: usize::from(limits.reads_out) * count(attr.max_qp),
        max_evds: count(attr.max_cq),
        // Core stores the events of an EVD, so an EVD can be longer than a completion queue of the device.
        max_evd_qlen: 1 << 20,
        max_segments: segments,
        // Devices without a separate limit for reads report 0. On iWARP, 0 counts as 1.
        max_segments_read: match count(attr.max_sge_rd) {
            0 if !limits.iwarp => segments,
            limit => limit.clamp(1, segments),
        },
        max_segments_write: segments,
        max_lmrs: count(attr.max_mr),
        max_lmr_block: attr.max_mr_size.min(1 << 46),
        max_lmr_address: u64::MAX >> 1,
        max_pzs: count(attr.max_pd),
        max_transfer: message,
        max_rmrs: count(attr.max_mw),
        max_rmr_address: u64::MAX >> 1,
        max_srqs: count(attr.max_srq),
        max_eps_per_srq: count(attr.max_qp),
        max_recvs_per_srq: count(attr.max_srq_wr).min(of_shared),
        max_private_data: MAX_PRIVATE_DATA,
        max_reject_data: MAX_REJECT_DATA,
        optimal_alignment: 64,
        srq: attr.max_srq > 0,
        srq_low_watermark: attr.max_srq > 0,
        // Soft-RoCE looks up buffers of an SRQ in the zone of the queue pair, not in the zone of the SRQ.
        srq_zone_difference: !limits.quirks.looks_up_srq_in_zone_of_qp,
        rmr: limits.windows,
        zero_based: false,
        // iWARP has no writes with immediate data.
        immediate: !limits.iwarp,
        atomics: limits.atomics,
        invalidate: limits.single_windows && has(&attr, ibv_device_cap_flags::IBV_DEVICE_MEM_MGT_EXTENSIONS),
        endpoint_windows: limits.single_windows,
        datagrams: attr.max_srq > 0 && attr.max_ah > 0 && !limits.iwarp,
        fabric: Fabric {
            kind: if limits.iwarp { FabricKind::Iwarp } else { FabricKind::InfiniBand },
            device: place.name.clone(),
            mtu: mtu(port.active_mtu, environment::secure("DAPL_IB_MTU")),
            node_guid: Some(u64::from_be(attr.node_guid)),
            gid: context.query_gid(place.port, 0).ok(),
            port: place.port,
            active: port.state == ibv_port_state::IBV_PORT_ACTIVE,
        },
    };
    Ok((attributes, limits))
}

/// Returns the MTU in bytes for a port's code, or a smaller valid MTU that the user requests (`asked`).
fn mtu(code: u32, asked: Option<OsString>) -> usize {
    let active = MTUS[usize::try_from(code).unwrap_or(0).clamp(1, MTUS.len()) - 1];
    let asked = asked.and_then(|value| value.to_str()?.trim().parse().ok()).filter(|bytes| MTUS.contains(bytes));
    asked.map_or(active, |asked| active.min(asked))
}

#[cfg(test)]
mod tests;
