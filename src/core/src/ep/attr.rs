//! Endpoint attributes: defaults, and the values that they can have.

use crate::error::{Arg, Error, Result};
use crate::evd::Feed;
use crate::transport::AdapterAttributes;

/// Bits of the completion flags (uDAPL 1.2, section on completion flags).
pub mod flags {
    /// An event and an announcement for every completion.
    pub const DEFAULT: u32 = 0x00;
    /// No event on success.
    pub const SUPPRESS: u32 = 0x01;
    /// The peer's receive is announced to a solicited waiter.
    pub const SOLICITED_WAIT: u32 = 0x02;
    /// The event is not announced.
    pub const UNSIGNALLED: u32 = 0x04;
    /// Start only when all earlier reads are complete.
    pub const BARRIER_FENCE: u32 = 0x08;
    /// As an attribute: every completion is announced.
    pub const EVD_THRESHOLD: u32 = 0x10;
    /// All of them.
    pub const ALL: u32 = 0x1f;
}

/// The watermark that is never passed.
pub const WATERMARK_INFINITE: i32 = -1;

/// Attributes of an endpoint. Counts have the sign that programs give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are those of the specification's attributes
pub struct EpAttributes {
    pub service_type: u32,
    pub max_message_size: u64,
    pub max_rdma_size: u64,
    pub qos: u32,
    pub recv_completion_flags: u32,
    pub request_completion_flags: u32,
    pub max_recv_dtos: i32,
    pub max_request_dtos: i32,
    pub max_recv_iov: i32,
    pub max_request_iov: i32,
    pub max_rdma_read_in: i32,
    pub max_rdma_read_out: i32,
    pub srq_soft_hw: i32,
    pub max_rdma_read_iov: i32,
    pub max_rdma_write_iov: i32,
    pub transport_specific_count: i32,
    pub provider_specific_count: i32,
}

const DEFAULT_DTOS: usize = 256;
const DEFAULT_SEGMENTS: usize = 4;
const DEFAULT_READS: usize = 4;

/// The qualities of service of the specification; only best effort (0) is offered.
const QOS_KNOWN: u32 = 0x0f;

impl EpAttributes {
    /// What an endpoint gets that asked for nothing: it can do everything.
    pub fn defaults(limits: &AdapterAttributes) -> Self {
        let count = |wanted: usize, limit: usize| wanted.min(limit) as i32;
        EpAttributes {
            service_type: 0,
            max_message_size: limits.max_message,
            max_rdma_size: limits.max_rdma,
            qos: 0,
            recv_completion_flags: flags::EVD_THRESHOLD,
            request_completion_flags: flags::EVD_THRESHOLD,
            max_recv_dtos: count(DEFAULT_DTOS, limits.max_dto_per_ep),
            max_request_dtos: count(DEFAULT_DTOS, limits.max_dto_per_ep),
            max_recv_iov: count(DEFAULT_SEGMENTS, limits.max_segments),
            max_request_iov: count(DEFAULT_SEGMENTS, limits.max_segments),
            max_rdma_read_in: count(DEFAULT_READS, limits.max_rdma_read_per_ep_in),
            max_rdma_read_out: count(DEFAULT_READS, limits.max_rdma_read_per_ep_out),
            srq_soft_hw: WATERMARK_INFINITE,
            max_rdma_read_iov: count(DEFAULT_SEGMENTS, limits.max_segments_read),
            max_rdma_write_iov: count(DEFAULT_SEGMENTS, limits.max_segments_write),
            transport_specific_count: 0,
            provider_specific_count: 0,
        }
    }

    /// Whether a new endpoint can have these attributes (uDAPL 1.2, dat_ep_create).
    /// `recv_evd`, `request_evd`: whether it gets those dispatchers; `srq`: whether it
    /// receives from a shared queue, which makes `max_recv_dtos` its hard high watermark.
    ///
    /// # Errors
    /// [`Arg::Attributes`]; [`Error::ModelNotSupported`] for a quality of service that
    /// exists but is not offered.
    pub fn check_new(&self, limits: &AdapterAttributes, recv_evd: bool, request_evd: bool, srq: bool) -> Result<()> {
        let fits = self.check_service_type()
            && self.check_sizes(limits)
            && self.qos & !QOS_KNOWN == 0
            && check_recv_flags(self.recv_completion_flags)
            && self.request_completion_flags & !flags::ALL == 0
            && check_count(self.max_request_dtos, 0, limits.max_dto_per_ep)
            && (self.max_request_dtos > 0) == request_evd
            && check_count(self.max_request_iov, i32::from(request_evd), limits.max_segments)
            && check_count(self.max_rdma_read_in, 0, limits.max_rdma_read_per_ep_in)
            && check_count(self.max_rdma_read_out, 0, limits.max_rdma_read_per_ep_out)
            && check_count(self.max_rdma_read_iov, 0, limits.max_segments_read)
            && check_count(self.max_rdma_write_iov, 0, limits.max_segments_write)
            && self.srq_soft_hw >= WATERMARK_INFINITE
            && self.transport_specific_count == 0
            && self.provider_specific_count == 0;
        let fits_recv = if srq {
            self.max_recv_dtos >= WATERMARK_INFINITE
        } else {
            check_count(self.max_recv_dtos, 0, limits.max_dto_per_ep)
                && (self.max_recv_dtos > 0) == recv_evd
                && check_count(self.max_recv_iov, i32::from(recv_evd), limits.max_segments)
        };
        if !fits || !fits_recv {
            return Err(Error::InvalidParameter(Arg::Attributes));
        }
        if self.qos != 0 {
            return Err(Error::ModelNotSupported);
        }
        Ok(())
    }

    fn check_service_type(&self) -> bool {
        self.service_type == 0
    }

    fn check_sizes(&self, limits: &AdapterAttributes) -> bool {
        self.max_message_size <= limits.max_message && self.max_rdma_size <= limits.max_rdma
    }

    /// The largest message; 0 asks for the default.
    pub fn message_limit(&self, limits: &AdapterAttributes) -> u64 {
        if self.max_message_size == 0 { limits.max_message } else { self.max_message_size }
    }

    /// The largest RDMA transfer; 0 asks for the default.
    pub fn rdma_limit(&self, limits: &AdapterAttributes) -> u64 {
        if self.max_rdma_size == 0 { limits.max_rdma } else { self.max_rdma_size }
    }

    /// Segments of an RDMA read; 0 asks for the default.
    pub fn read_segments(&self, limits: &AdapterAttributes) -> usize {
        or_default(self.max_rdma_read_iov, limits.max_segments_read)
    }

    /// Segments of an RDMA write; 0 asks for the default.
    pub fn write_segments(&self, limits: &AdapterAttributes) -> usize {
        or_default(self.max_rdma_write_iov, limits.max_segments_write)
    }

    /// How the receive stream feeds its dispatcher. Receives of a shared queue cannot be
    /// posted unsignalled.
    pub fn recv_feed(&self, srq: bool) -> Feed {
        match self.recv_completion_flags {
            flags::SOLICITED_WAIT => Feed::Solicited,
            flags::UNSIGNALLED if !srq => Feed::Unsignalled,
            _ => Feed::Threshold,
        }
    }

    /// How the request stream feeds its dispatcher.
    pub fn request_feed(&self) -> Feed {
        if self.request_completion_flags & flags::UNSIGNALLED != 0 { Feed::Unsignalled } else { Feed::Threshold }
    }
}

fn or_default(count: i32, default: usize) -> usize {
    usize::try_from(count).ok().filter(|&count| count > 0).unwrap_or(default)
}

/// Whether `count` is within `least` and `limit`.
pub(crate) fn check_count(count: i32, least: i32, limit: usize) -> bool {
    count >= least && usize::try_from(count).is_ok_and(|count| count <= limit)
}

/// Whether an endpoint can have these receive completion flags.
pub(crate) fn check_recv_flags(value: u32) -> bool {
    matches!(value, flags::DEFAULT | flags::UNSIGNALLED | flags::SOLICITED_WAIT | flags::EVD_THRESHOLD)
}

/// Whether a modify may set these request completion flags.
pub(crate) fn check_request_flags(value: u32) -> bool {
    matches!(value, flags::DEFAULT | flags::UNSIGNALLED | flags::EVD_THRESHOLD)
}
