//! Limits and abilities of an adapter, derived from those of the device.
//!
//! Soft-RoCE is recognised by its vendor number, where it differs from what a device promises.

use std::ffi::{CStr, OsString, c_int};
use std::io;
use std::net::SocketAddr;

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::transport::{AdapterAttributes, Fabric, FabricKind, MAX_SEGMENTS};
use host::environment;
use rdma_sys::{ibv_access_flags, ibv_atomic_cap, ibv_device_attr, ibv_device_cap_flags, ibv_port_state};

use crate::locate::Place;
use crate::rejection::MAX_REJECT_DATA;
use crate::sys::device::Context;
use crate::sys::qp::LONGEST;

/// Bytes of private data that fit into a connection request: rdma_cm needs the rest of the 92 bytes of the wire for
/// itself.
pub const MAX_PRIVATE_DATA: usize = 56;

/// Memory windows of type 2, whichever way devices check them.
const SINGLE_WINDOWS: ibv_device_cap_flags = ibv_device_cap_flags(
    ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW_TYPE_2A.0 | ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW_TYPE_2B.0,
);

/// The vendor number of Soft-RoCE.
const SOFT_ROCE: u32 = 0xff_ffff;

/// The sizes of packets, by their codes from 1 on.
const MTUS: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// Limits of a device that only the transport needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Entries of a completion queue.
    pub cqe: usize,
    /// Entries of a shared receive queue.
    pub srq_wr: usize,
    /// Reads served at a time.
    pub reads_in: u8,
    /// Own reads at a time.
    pub reads_out: u8,
    /// Shared receive queues can be resized.
    pub srq_resize: bool,
    /// There are memory windows.
    pub windows: bool,
    /// There are memory windows for one queue pair.
    pub single_windows: bool,
    /// There are atomic operations.
    pub atomics: bool,
    /// The device is Soft-RoCE, which does some things in its own way: it does not keep peers within the range of a
    /// window, and it has a status of its own for messages that are too long.
    pub soft_roce: bool,
    /// The device speaks iWARP.
    pub iwarp: bool,
}

impl Limits {
    /// What peers may do on a queue pair, as far as memory grants it: a set of the `IBV_ACCESS_*` bits.
    pub fn access(&self) -> u32 {
        let atomics = if self.atomics { ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC.0 } else { 0 };
        (ibv_access_flags::IBV_ACCESS_REMOTE_READ | ibv_access_flags::IBV_ACCESS_REMOTE_WRITE).0 | atomics
    }

    /// The rights to memory that the device can grant out of `rights`. It refuses the right to atomic operations where it has
    /// none.
    pub fn granted(&self, rights: Rights) -> Rights {
        if self.atomics { rights } else { rights.difference(Rights::REMOTE_ATOMIC) }
    }
}

fn count(value: c_int) -> usize {
    usize::try_from(value).unwrap_or(0)
}

fn has(attr: &ibv_device_attr, flag: ibv_device_cap_flags) -> bool {
    attr.device_cap_flags & flag.0 != 0
}

/// Reads the attributes of the adapter at `place`.
pub fn read(context: &Context, place: &Place) -> io::Result<(AdapterAttributes, Limits)> {
    let device = context.query()?;
    let port = context.query_port(place.port)?;
    // SAFETY: the library ends the string within the array.
    let firmware = unsafe { CStr::from_ptr(device.fw_ver.as_ptr()) }.to_string_lossy().into_owned();
    let reads = |value: c_int| u8::try_from(count(value)).unwrap_or(u8::MAX);
    let windows = device.max_mw > 0 && has(&device, ibv_device_cap_flags::IBV_DEVICE_MEM_WINDOW);
    let limits = Limits {
        cqe: count(device.max_cqe).max(1),
        srq_wr: count(device.max_srq_wr),
        reads_in: reads(device.max_qp_rd_atom),
        reads_out: reads(device.max_qp_init_rd_atom),
        srq_resize: has(&device, ibv_device_cap_flags::IBV_DEVICE_SRQ_RESIZE),
        windows,
        single_windows: windows && device.device_cap_flags & SINGLE_WINDOWS.0 != 0,
        atomics: device.atomic_cap != ibv_atomic_cap::IBV_ATOMIC_NONE,
        soft_roce: device.vendor_id == SOFT_ROCE,
        iwarp: context.is_iwarp(),
    };
    let mut segments = count(device.max_sge).min(MAX_SEGMENTS);
    if device.max_srq > 0 {
        // The core knows one limit for all receives.
        segments = segments.min(count(device.max_srq_sge));
    }
    let segments = segments.max(1);
    let mut message = u64::from(port.max_msg_sz);
    if device.vendor_id == SOFT_ROCE {
        // It names a limit of 8 MiB, but carries any length that a request can name.
        message = message.max(1 << 30);
    }
    let message = message.min(LONGEST);
    // Reads of iWARP have one segment; other devices do not say.
    let read_segments = if limits.iwarp { count(device.max_sge_rd).clamp(1, segments) } else { segments };
    let attributes = AdapterAttributes {
        vendor: format!("{:#x}", device.vendor_id),
        provider: place.name.clone(),
        hardware_version: (device.hw_ver, 0),
        firmware_version: version(&firmware),
        address: Address::new(SocketAddr::new(place.address, 0)),
        max_eps: count(device.max_qp),
        // One place more than the program gets, so that none of its posts finds a full queue.
        max_dto_per_ep: count(device.max_qp_wr).saturating_sub(1),
        max_rdma_read_per_ep_in: limits.reads_in.into(),
        max_rdma_read_per_ep_out: limits.reads_out.into(),
        max_rdma_read_in: count(device.max_res_rd_atom),
        max_rdma_read_out: usize::from(limits.reads_out) * count(device.max_qp),
        max_evds: count(device.max_cq),
        // The program's queue is the library's own; that of the device only feeds it.
        max_evd_qlen: 1 << 20,
        max_segments: segments,
        max_segments_read: read_segments,
        max_segments_write: segments,
        max_lmrs: count(device.max_mr),
        max_lmr_block: device.max_mr_size.min(1 << 46),
        max_lmr_address: u64::MAX >> 1,
        max_pzs: count(device.max_pd),
        max_message: message,
        max_rdma: message,
        max_rmrs: count(device.max_mw),
        max_rmr_address: u64::MAX >> 1,
        max_srqs: count(device.max_srq),
        max_eps_per_srq: count(device.max_qp),
        max_recvs_per_srq: limits.srq_wr,
        max_private_data: MAX_PRIVATE_DATA,
        max_reject_data: MAX_REJECT_DATA,
        optimal_alignment: 64,
        srq: device.max_srq > 0,
        srq_low_watermark: device.max_srq > 0,
        rmr: windows,
        zero_based: false,
        // The protocol of iWARP has no writes with a value.
        immediate: !limits.iwarp,
        atomics: limits.atomics,
        invalidate: limits.single_windows && has(&device, ibv_device_cap_flags::IBV_DEVICE_MEM_MGT_EXTENSIONS),
        endpoint_windows: limits.single_windows,
        fabric: Fabric {
            kind: if limits.iwarp { FabricKind::Iwarp } else { FabricKind::InfiniBand },
            device: place.name.clone(),
            mtu: mtu(port.active_mtu, environment::secure("DAPL_IB_MTU")),
            node_guid: Some(u64::from_be(device.node_guid)),
            gid: context.query_gid(place.port).ok(),
            port: place.port,
            active: port.state == ibv_port_state::IBV_PORT_ACTIVE,
        },
    };
    Ok((attributes, limits))
}

/// Bytes of the longest packet, of which a port gives a code. The user can ask for less, in one of the sizes that there are.
fn mtu(code: u32, asked: Option<OsString>) -> usize {
    let active = MTUS[usize::try_from(code).unwrap_or(0).clamp(1, MTUS.len()) - 1];
    let asked = asked.and_then(|value| value.to_str()?.trim().parse().ok()).filter(|bytes| MTUS.contains(bytes));
    asked.map_or(active, |asked| active.min(asked))
}

/// The first two numbers of a version.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests;
