//! Endpoint attributes: their defaults, and the values that follow from them.
//!
//! Values that versions of the interface write differently have types of their own: counts are unsigned, a watermark is
//! a number, infinite or the default, a quality of service is the one that is offered or another one. The face refuses
//! numbers out of range.

use crate::ep::table::{Against, Field, Purpose, Qos, RULES, Setting};
use crate::error::{Arg, Error, Result};
use crate::event::{CompletionFlags, Feed};
use crate::transport::AdapterAttributes;

/// A high watermark on the receive buffers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watermark {
    /// That of a new endpoint whose attributes ask for the default: never passed.
    Default,
    /// Passed when the endpoint has more buffers than this.
    At(usize),
    /// Never passed.
    Infinite,
}

impl Watermark {
    /// The most buffers that do not pass the watermark; `None` if it is never passed.
    pub fn limit(self) -> Option<usize> {
        match self {
            Watermark::At(limit) => Some(limit),
            Watermark::Default | Watermark::Infinite => None,
        }
    }
}

/// Attributes of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpAttributes {
    /// Bytes of the largest message that the program intends to send; 0 asks for the adapter's limit. Posts may exceed this
    /// number, but not the adapter's limit.
    pub max_message_size: u64,
    /// As `max_message_size`, for RDMA transfers.
    pub max_rdma_size: u64,
    /// Quality of service.
    pub qos: Qos,
    /// Completion flags of the receive stream.
    pub recv_completion_flags: CompletionFlags,
    /// Completion flags of the request stream.
    pub request_completion_flags: CompletionFlags,
    /// Receives outstanding at a time. Ignored with a shared receive queue.
    pub max_recv_dtos: usize,
    /// Requests outstanding at a time.
    pub max_request_dtos: usize,
    /// Segments of a receive. Ignored with a shared receive queue.
    pub max_recv_iov: usize,
    /// Segments of a send.
    pub max_request_iov: usize,
    /// The peer's reads served at a time.
    pub max_rdma_read_in: usize,
    /// Own reads outstanding at a time.
    pub max_rdma_read_out: usize,
    /// Above this number of buffers an event comes, once.
    pub soft_watermark: Watermark,
    /// Above this number of buffers the connection is broken.
    pub hard_watermark: Watermark,
    /// Segments of an RDMA read; 0 asks for the adapter's limit.
    pub max_rdma_read_iov: usize,
    /// Segments of an RDMA write; 0 asks for the adapter's limit.
    pub max_rdma_write_iov: usize,
    /// Whether a query gives the number of counters, if it gives their address.
    pub counters_number: bool,
    /// Whether a query gives the address of the counters.
    pub counters_list: bool,
    /// Whether the numbers of receives and requests are defaults, which a device need not have places for.
    pub usual_queues: bool,
    /// Whether the endpoint is for datagrams.
    pub datagrams: bool,
}

/// Outstanding receives and requests. Debian's dapltest posts 200 receives to an endpoint without attributes.
const DEFAULT_DTOS: usize = 256;
const DEFAULT_SEGMENTS: usize = 4;
const DEFAULT_READS: usize = 4;

impl EpAttributes {
    /// The attributes of an endpoint for which none were given: it can do everything.
    pub fn defaults(limits: &AdapterAttributes) -> Self {
        EpAttributes {
            max_message_size: limits.max_transfer,
            max_rdma_size: limits.max_transfer,
            qos: Qos::BestEffort,
            recv_completion_flags: CompletionFlags::EVD_THRESHOLD,
            request_completion_flags: CompletionFlags::EVD_THRESHOLD,
            max_recv_dtos: DEFAULT_DTOS.min(limits.max_dto_per_ep),
            max_request_dtos: DEFAULT_DTOS.min(limits.max_dto_per_ep),
            max_recv_iov: DEFAULT_SEGMENTS.min(limits.max_segments),
            max_request_iov: DEFAULT_SEGMENTS.min(limits.max_segments),
            max_rdma_read_in: DEFAULT_READS.min(limits.max_rdma_read_per_ep_in),
            max_rdma_read_out: DEFAULT_READS.min(limits.max_rdma_read_per_ep_out),
            soft_watermark: Watermark::Infinite,
            hard_watermark: Watermark::Infinite,
            max_rdma_read_iov: DEFAULT_SEGMENTS.min(limits.max_segments_read),
            max_rdma_write_iov: DEFAULT_SEGMENTS.min(limits.max_segments_write),
            counters_number: true,
            counters_list: true,
            usual_queues: true,
            datagrams: false,
        }
    }

    /// Checks whether a new endpoint can have these attributes. `recv_evd` and `request_evd` say
    /// whether it gets these dispatchers, `srq` whether it receives from a shared queue.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] for datagrams on an adapter without them, whatever else is wrong; [`Arg::Attributes`];
    /// [`Error::ModelNotSupported`] for a quality of service that exists but is not offered.
    pub fn check_new(&self, limits: &AdapterAttributes, recv_evd: bool, request_evd: bool, srq: bool) -> Result<()> {
        if self.datagrams && !limits.datagrams {
            return Err(Error::ModelNotSupported);
        }
        let against = Against { limits, srq, purpose: Purpose::Create { recv_evd, request_evd } };
        let mut settings = RULES.iter().filter_map(|rule| Some((rule.check, self.get(rule.field)?)));
        if !settings.all(|(check, setting)| check.admits(setting, &against)) {
            return Err(Error::InvalidParameter(Arg::Attributes));
        }
        if self.datagrams && self.max_message_size > limits.fabric.mtu as u64 {
            return Err(Error::InvalidParameter(Arg::Attributes));
        }
        match self.qos {
            Qos::BestEffort => Ok(()),
            Qos::Other => Err(Error::ModelNotSupported),
        }
    }

    /// The value of an attribute; `None` for a parameter that is not an attribute.
    fn get(&self, field: Field) -> Option<Setting> {
        let setting = match field {
            Field::MaxMessageSize => Setting::Size(self.max_message_size),
            Field::MaxRdmaSize => Setting::Size(self.max_rdma_size),
            Field::Qos => Setting::Qos(self.qos),
            Field::RecvCompletionFlags => Setting::Flags(self.recv_completion_flags),
            Field::RequestCompletionFlags => Setting::Flags(self.request_completion_flags),
            Field::MaxRecvDtos => Setting::Count(self.max_recv_dtos),
            Field::MaxRequestDtos => Setting::Count(self.max_request_dtos),
            Field::MaxRecvIov => Setting::Count(self.max_recv_iov),
            Field::MaxRequestIov => Setting::Count(self.max_request_iov),
            Field::MaxRdmaReadIn => Setting::Count(self.max_rdma_read_in),
            Field::MaxRdmaReadOut => Setting::Count(self.max_rdma_read_out),
            Field::MaxRdmaReadIov => Setting::Count(self.max_rdma_read_iov),
            Field::MaxRdmaWriteIov => Setting::Count(self.max_rdma_write_iov),
            _ => return None,
        };
        Some(setting)
    }

    /// Stores a value that the table admits.
    pub(super) fn set(&mut self, field: Field, setting: Setting) {
        match (field, setting) {
            (Field::MaxMessageSize, Setting::Size(size)) => self.max_message_size = size,
            (Field::MaxRdmaSize, Setting::Size(size)) => self.max_rdma_size = size,
            (Field::Qos, Setting::Qos(qos)) => self.qos = qos,
            (Field::RecvCompletionFlags, Setting::Flags(flags)) => self.recv_completion_flags = flags,
            (Field::RequestCompletionFlags, Setting::Flags(flags)) => self.request_completion_flags = flags,
            (Field::MaxRecvDtos, Setting::Count(count)) => (self.max_recv_dtos, self.usual_queues) = (count, false),
            (Field::MaxRequestDtos, Setting::Count(count)) => {
                (self.max_request_dtos, self.usual_queues) = (count, false);
            }
            (Field::MaxRecvIov, Setting::Count(count)) => self.max_recv_iov = count,
            (Field::MaxRequestIov, Setting::Count(count)) => self.max_request_iov = count,
            (Field::MaxRdmaReadIn, Setting::Count(count)) => self.max_rdma_read_in = count,
            (Field::MaxRdmaReadOut, Setting::Count(count)) => self.max_rdma_read_out = count,
            (Field::MaxRdmaReadIov, Setting::Count(count)) => self.max_rdma_read_iov = count,
            (Field::MaxRdmaWriteIov, Setting::Count(count)) => self.max_rdma_write_iov = count,
            (Field::ProviderSpecificCount, Setting::Counters(told)) => self.counters_number = told,
            (Field::ProviderSpecific, Setting::Counters(told)) => self.counters_list = told,
            // A setting with only one possible value is not stored.
            _ => {}
        }
    }

    /// The way in which the receive stream feeds its dispatcher. Receives of a shared queue cannot be
    /// posted unsignalled.
    pub fn recv_feed(&self, srq: bool) -> Feed {
        match self.recv_completion_flags {
            CompletionFlags::SOLICITED_WAIT => Feed::Solicited,
            CompletionFlags::UNSIGNALLED if !srq => Feed::Unsignalled,
            _ => Feed::Threshold,
        }
    }

    /// The way in which the request stream feeds its dispatcher.
    pub fn request_feed(&self) -> Feed {
        if self.request_completion_flags.contains(CompletionFlags::UNSIGNALLED) {
            Feed::Unsignalled
        } else {
            Feed::Threshold
        }
    }
}
