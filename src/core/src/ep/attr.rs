//! Endpoint attributes, their defaults and their effects.
//!
//! API versions encode counts, watermarks and qualities of service differently. The API layer decodes them.

use crate::ep::table::{Against, Field, Purpose, Qos, RULES, Setting};
use crate::error::{Arg, Error, Result};
use crate::event::{CompletionFlags, Feed};
use crate::transport::AdapterAttributes;

/// A high watermark on the receive buffers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Watermark {
    /// Never exceeded, like `Infinite`. A program selects it by the attribute value 0.
    Default,
    /// Exceeded if the endpoint has more receive buffers than this number.
    At(usize),
    Infinite,
}

impl Watermark {
    /// Returns the maximum number of buffers; `None` if the watermark is never exceeded.
    pub fn limit(self) -> Option<usize> {
        match self {
            Watermark::At(limit) => Some(limit),
            Watermark::Default | Watermark::Infinite => None,
        }
    }

    /// Returns the attribute's value: the limit, 0 for [`Watermark::Default`], `None` for [`Watermark::Infinite`].
    pub fn attribute(self) -> Option<usize> {
        match self {
            Watermark::Default => Some(0),
            Watermark::At(limit) => Some(limit),
            Watermark::Infinite => None,
        }
    }

    /// Returns the watermark of an attribute's value: 0 means the default, `None` [`Watermark::Infinite`].
    pub fn from_attribute(value: Option<usize>) -> Self {
        match value {
            Some(0) => Watermark::Default,
            Some(limit) => Watermark::At(limit),
            None => Watermark::Infinite,
        }
    }
}

/// An endpoint's attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // names of the specification
pub struct EpAttributes {
    /// Intended maximum bytes of a message; 0 for the adapter's limit. Posts are checked against the adapter's limit,
    /// not against this value.
    pub max_message_size: u64,
    /// Like `max_message_size`, for RDMA transfers.
    pub max_rdma_size: u64,
    pub qos: Qos,
    pub recv_completion_flags: CompletionFlags,
    pub request_completion_flags: CompletionFlags,
    /// Maximum outstanding receives. Ignored with an SRQ.
    pub max_recv_dtos: usize,
    pub max_request_dtos: usize,
    /// Maximum segments of a receive. Ignored with an SRQ.
    pub max_recv_iov: usize,
    pub max_request_iov: usize,
    /// Maximum concurrent reads by the peer.
    pub max_rdma_read_in: usize,
    /// Maximum outstanding reads.
    pub max_rdma_read_out: usize,
    /// Limit of receive buffers. Above it, an asynchronous event is raised: once after the creation, and after each
    /// [`super::Endpoint::set_watermark`].
    pub soft_watermark: Watermark,
    /// Limit of receive buffers. Above it, the connection breaks.
    pub hard_watermark: Watermark,
    /// Maximum segments of an RDMA read; 0 for the adapter's limit.
    pub max_rdma_read_iov: usize,
    /// Maximum segments of an RDMA write; 0 for the adapter's limit.
    pub max_rdma_write_iov: usize,
    /// `true` if a query returns the number of counters. With `counters_list` unset, it returns 0 instead.
    pub counters_number: bool,
    /// `true` if a query returns the address of the counters.
    pub counters_list: bool,
    /// `true` if both maximum numbers of DTOs are defaults. A transport may then create shorter device queues.
    pub usual_queues: bool,
    pub datagrams: bool,
}

/// Default maximum of outstanding receives, and of requests. Debian's dapltest posts 200 receives.
const DEFAULT_DTOS: usize = 256;
const DEFAULT_SEGMENTS: usize = 4;
const DEFAULT_READS: usize = 4;

impl EpAttributes {
    /// Returns the default attributes of an endpoint on an adapter with these limits.
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

    /// Checks the attributes of a new endpoint. Each flag is `true` if the endpoint has this object.
    ///
    /// # Errors
    /// The first of: [`Error::ModelNotSupported`] for datagrams on an adapter without them; [`Arg::Attributes`] for an
    /// invalid value; [`Error::ModelNotSupported`] for a quality of service other than best effort.
    pub fn check_new(&self, limits: &AdapterAttributes, recv_evd: bool, request_evd: bool, srq: bool) -> Result<()> {
        if self.datagrams && !limits.datagrams {
            return Err(Error::ModelNotSupported);
        }
        let against = Against { limits, srq, purpose: Purpose::Create { recv_evd, request_evd } };
        let mut settings = RULES.iter().filter_map(|rule| Some((rule.check, self.get(rule.field, srq)?)));
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

    /// Returns the value of `field`. `srq` is `true` if the endpoint has an SRQ. Returns `None` if the field is no
    /// attribute, or has only one possible value.
    pub(super) fn get(&self, field: Field, srq: bool) -> Option<Setting> {
        let setting = match field {
            Field::ServiceType => Setting::Datagrams(self.datagrams),
            Field::MaxMessageSize => Setting::Size(self.max_message_size),
            Field::MaxRdmaSize => Setting::Size(self.max_rdma_size),
            Field::Qos => Setting::Qos(self.qos),
            Field::RecvCompletionFlags => Setting::Flags(self.recv_completion_flags),
            Field::RequestCompletionFlags => Setting::Flags(self.request_completion_flags),
            Field::MaxRecvDtos if srq => Setting::Watermark(self.hard_watermark.attribute()),
            Field::MaxRecvDtos => Setting::Count(self.max_recv_dtos),
            Field::MaxRequestDtos => Setting::Count(self.max_request_dtos),
            Field::MaxRecvIov => Setting::Count(self.max_recv_iov),
            Field::MaxRequestIov => Setting::Count(self.max_request_iov),
            Field::MaxRdmaReadIn => Setting::Count(self.max_rdma_read_in),
            Field::MaxRdmaReadOut => Setting::Count(self.max_rdma_read_out),
            Field::SrqSoftHighWatermark => Setting::Watermark(self.soft_watermark.attribute()),
            Field::MaxRdmaReadIov => Setting::Count(self.max_rdma_read_iov),
            Field::MaxRdmaWriteIov => Setting::Count(self.max_rdma_write_iov),
            Field::ProviderSpecificCount => Setting::Counters(self.counters_number && self.counters_list),
            Field::ProviderSpecific => Setting::Counters(self.counters_list),
            _ => return None,
        };
        Some(setting)
    }

    pub(super) fn set(&mut self, field: Field, setting: Setting) {
        match (field, setting) {
            (Field::MaxMessageSize, Setting::Size(size)) => self.max_message_size = size,
            (Field::MaxRdmaSize, Setting::Size(size)) => self.max_rdma_size = size,
            (Field::Qos, Setting::Qos(qos)) => self.qos = qos,
            (Field::RecvCompletionFlags, Setting::Flags(flags)) => self.recv_completion_flags = flags,
            (Field::RequestCompletionFlags, Setting::Flags(flags)) => self.request_completion_flags = flags,
            (Field::MaxRecvDtos, Setting::Watermark(value)) => self.hard_watermark = Watermark::from_attribute(value),
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
            (Field::ProviderSpecificCount, Setting::Counters(reported)) => self.counters_number = reported,
            (Field::ProviderSpecific, Setting::Counters(reported)) => self.counters_list = reported,
            // Other fields have one possible value, which is not stored, or cannot be modified.
            _ => {}
        }
    }

    /// Returns the configuration of the receive stream. Receives of an SRQ (`srq`) cannot be unsignalled.
    pub fn recv_feed(&self, srq: bool) -> Feed {
        match self.recv_completion_flags {
            CompletionFlags::SOLICITED_WAIT => Feed::Solicited,
            CompletionFlags::UNSIGNALLED if !srq => Feed::Unsignalled,
            _ => Feed::Threshold,
        }
    }

    /// Returns the configuration of the request stream.
    pub fn request_feed(&self) -> Feed {
        if self.request_completion_flags.contains(CompletionFlags::UNSIGNALLED) {
            Feed::Unsignalled
        } else {
            Feed::Threshold
        }
    }
}
