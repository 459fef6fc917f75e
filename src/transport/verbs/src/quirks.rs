//! How software RDMA devices deviate from the documentation of libibverbs.
//!
//! docs/dev/kernels.md describes the differences between kernels, and how each was seen. The kernel's version is not
//! checked, because distributions change kernels without a new version, and the peer's kernel is unknown.

/// The vendor ID that Soft-RoCE reports.
const SOFT_ROCE: u32 = 0x00ff_ffff;
/// The vendor ID of soft-iWARP.
const SOFT_IWARP: u32 = 0x0062_6d74;

/// The deviations of a device, each with the versions of Linux that show it, of 6.1, 6.12 and 7.3; none for hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    // ---- Soft-RoCE ----
    /// Loses a request that starts to wait for a fence while the last read before it completes (Linux 6.1).
    pub forgets_fenced: bool,
    /// Checks the target of an empty read that the peer's device repeats, and ends the connection (Linux 6.1).
    pub checks_empty_reads: bool,
    /// Reports too small a maximum length of messages: 8 MiB instead of 1 GiB (Linux 6.1).
    pub understates_messages: bool,
    /// Raises no event for the last buffer that an ending queue pair takes from an SRQ (Linux 6.1).
    pub omits_last_buffer: bool,
    /// Takes and fills a receive of a datagram in one step, for which a reset waits (Linux 6.1, 6.12, 7.3).
    pub fills_in_one_step: bool,
    /// Fails the receive of a too long message, or of a forbidden write with immediate data, with a misleading status
    /// (Linux 6.1, 6.12, 7.3).
    pub misnames_failed_receives: bool,
    /// Marks an invalidation in a completion with the kernel's flag, not libibverbs' (Linux 6.1, 6.12, 7.3).
    pub marks_invalidated_by_kernel_flag: bool,
    /// Restricts peers to the region of a window instead of the bound range (Linux 6.1, 6.12, 7.3).
    pub exposes_region_of_window: bool,
    /// Looks up receives of an SRQ in the protection domain of the queue pair, not of the SRQ (Linux 6.1, 6.12, 7.3).
    pub looks_up_srq_in_zone_of_qp: bool,
    /// Loses packets of bursts (Linux 6.1).
    pub loses_bursts: bool,
    // ---- Soft-iWARP ----
    /// Rejects a receive without segments (Linux 6.1).
    pub rejects_empty_receives: bool,
    /// Blocks the thread that connects until the peer responds (Linux 6.1, 6.12, 7.3).
    pub blocks_in_connect: bool,
    /// May complete later requests before an earlier read (Linux 6.1, 6.12, 7.3).
    pub completes_reads_late: bool,
    /// Ignores the solicited flag: a queue armed for solicited messages gets no event (Linux 6.1, 6.12, 7.3).
    pub drops_solicited: bool,
    /// Fails outstanding work with other statuses than flushed when the connection ends (Linux 6.1, 6.12, 7.3).
    pub misnames_flushed: bool,
    /// Raises the event of a failed queue pair when it cannot send at the end of a connection (Linux 6.1, 6.12, 7.3).
    pub raises_failure_at_end: bool,
    /// Does not complete all outstanding work of an ended connection (Linux 6.1, 6.12, 7.3).
    pub forgets_work_at_end: bool,
    /// The driver in rdma-core 44 and 56 creates no completion queue at one offset in the device's file: see
    /// `sys/cq.rs`.
    pub rejects_one_offset: bool,
}

impl Quirks {
    /// Returns the deviations of a device with the ID `vendor`. Soft-iWARP must also be an iWARP device.
    pub fn of(vendor: u32, iwarp: bool) -> Self {
        let (soft_roce, soft_iwarp) = (vendor == SOFT_ROCE, vendor == SOFT_IWARP && iwarp);
        Quirks {
            forgets_fenced: soft_roce,
            checks_empty_reads: soft_roce,
            understates_messages: soft_roce,
            omits_last_buffer: soft_roce,
            fills_in_one_step: soft_roce,
            misnames_failed_receives: soft_roce,
            marks_invalidated_by_kernel_flag: soft_roce,
            exposes_region_of_window: soft_roce,
            looks_up_srq_in_zone_of_qp: soft_roce,
            loses_bursts: soft_roce,
            rejects_empty_receives: soft_iwarp,
            blocks_in_connect: soft_iwarp,
            completes_reads_late: soft_iwarp,
            drops_solicited: soft_iwarp,
            misnames_flushed: soft_iwarp,
            raises_failure_at_end: soft_iwarp,
            forgets_work_at_end: soft_iwarp,
            rejects_one_offset: soft_iwarp,
        }
    }
}

#[cfg(test)]
mod tests;
