//! Limits and abilities of an adapter, derived from those of the device.

use std::ffi::{CStr, c_int};
use std::io;
use std::net::SocketAddr;

use dat_core::addr::Address;
use dat_core::transport::{AdapterAttributes, MAX_SEGMENTS};
use rdma_sys::{ibv_device_attr, ibv_device_cap_flags};

use crate::locate::Place;
use crate::sys::device::Context;
use crate::sys::qp::LONGEST;

/// Bytes of private data that fit into a connection request: rdma_cm needs the rest of the 92 bytes of the wire for
/// itself.
pub const MAX_PRIVATE_DATA: usize = 56;

/// The vendor number of Soft-RoCE.
const SOFT_ROCE: u32 = 0xff_ffff;

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
    /// The device is Soft-RoCE, which does some things in its own way: it does not keep peers within the range of a
    /// window, and it has a status of its own for messages that are too long.
    pub soft_roce: bool,
    /// The device speaks iWARP.
    pub iwarp: bool,
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
        provider: place.device.clone(),
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
        optimal_alignment: 64,
        srq: device.max_srq > 0,
        srq_low_watermark: device.max_srq > 0,
        rmr: windows,
    };
    Ok((attributes, limits))
}

/// The first two numbers of a version.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read_as_far_as_they_are_numbers() {
        assert_eq!(version("20.31.1014"), (20, 31));
        assert_eq!(version("rxe"), (0, 0));
        assert_eq!(version(""), (0, 0));
    }
}
