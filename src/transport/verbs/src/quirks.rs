//! What software RDMA devices do otherwise than libibverbs documents.
//!
//! docs/dev/kernels.md describes the differences between kernels, and how each was seen. The kernel's version is not
//! checked, because distributions change kernels without a new version, and the peer's kernel is unknown.

/// The vendor ID that Soft-RoCE reports.
const SOFT_ROCE: u32 = 0x00ff_ffff;
/// The vendor ID of soft-iWARP.
const SOFT_IWARP: u32 = 0x0062_6d74;

/// The behaviours of a device; none for hardware. "All" means Linux 6.1, 6.12 and 7.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    // ---- Soft-RoCE ----
    /// A request is forgotten if it starts to wait for a fence while the last read completes (6.1).
    pub forgets_fenced: bool,
    /// Checks the target of a repeated empty read, and ends the connection (6.1).
    pub checks_empty_reads: bool,
    /// Reports too small a limit of messages: 8 MiB instead of 1 GiB (6.1).
    pub understates_messages: bool,
    /// Raises no event for the last buffer that a queue pair takes from an SRQ (6.1).
    pub omits_last_buffer: bool,
    /// Takes and fills a receive of a datagram in one step, for which a reset waits (all).
    pub fills_in_one_step: bool,
    /// Reports too long messages and forbidden writes with immediate data by statuses of other failures (all).
    pub misnames_failed_receives: bool,
    /// Marks an invalidated key by the kernel's flag instead of libibverbs' (all).
    pub marks_invalidated_by_kernel_flag: bool,
    /// Restricts peers to the region of a window instead of the bound range (all).
    pub exposes_region_of_window: bool,
    /// Looks up receives of an SRQ in the protection domain of the queue pair (all).
    pub looks_up_srq_in_zone_of_qp: bool,
    /// Loses packets of bursts (6.1).
    pub loses_bursts: bool,
    // ---- Soft-iWARP ----
    /// Rejects a receive without segments (6.1).
    pub rejects_empty_receives: bool,
    /// Blocks the thread that connects (all).
    pub blocks_in_connect: bool,
    /// Completes later requests before an earlier read (all).
    pub completes_reads_late: bool,
    /// Raises no event for a message with the solicited flag (all).
    pub drops_solicited: bool,
    /// Fails outstanding work with other statuses than flushed when the connection ends (all).
    pub misnames_flushed: bool,
    /// Raises an event as for a failure when it cannot send at the end of a connection (all).
    pub raises_failure_at_end: bool,
    /// Does not complete all outstanding work of an ended connection (all).
    pub forgets_work_at_end: bool,
    /// Creates no queue at one offset in its file: see `sys/cq.rs` (rdma-core 44 and 56).
    pub rejects_one_offset: bool,
}

impl Quirks {
    /// Returns the behaviours of devices of a vendor.
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
