//! The parameters of an endpoint: valid values, and the states in which they can change.
//!
//! [`RULES`] applies to creation and modification. The code, the manual page and the tests follow it.
//!
//! Errors of the state precede errors of values. So the API layer decodes all fields, and passes a bad value as
//! [`Value::Invalid`](super::Value::Invalid), which core rejects after the check of the state. Core changes all fields
//! or none, under the endpoint's locks.

use crate::ep_state::EpState;
use crate::event::{CompletionFlags, Streams};
use crate::transport::AdapterAttributes;

impl Field {
    /// Returns the rule of this field.
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}

/// The states in which a field can be modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    /// A modify cannot select the field.
    Never,
    /// Cannot change. A modify can select its present value until a connection is requested or accepted.
    Constant,
    /// In the quiescent states: unconnected and tentative connection pending.
    Quiescent,
    /// Until a connection is requested or accepted.
    BeforeConnection,
    Unconnected,
}

impl Class {
    /// Returns whether a field of this class can be modified in `state`.
    pub fn admits(self, state: EpState) -> bool {
        use EpState::*;
        match self {
            Class::Never => false,
            Class::Quiescent => matches!(state, Unconnected | TentativeConnectionPending),
            Class::Constant | Class::BeforeConnection => {
                matches!(state, Unconnected | Reserved | PassiveConnectionPending | TentativeConnectionPending)
            }
            Class::Unconnected => state == Unconnected,
        }
    }
}

/// A quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qos {
    /// Best effort, the only supported one.
    BestEffort,
    /// Any other value of the specification.
    Other,
}

/// A value of a field that is not a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the other variants are named after their value
pub enum Setting {
    /// The only valid value: no named attributes.
    Fixed,
    /// `true` for the service of datagrams, `false` for reliable connections.
    Datagrams(bool),
    Size(u64),
    Count(usize),
    Qos(Qos),
    Flags(CompletionFlags),
    /// A high watermark, in the form of [`Watermark::attribute`](super::Watermark::attribute).
    Watermark(Option<usize>),
    /// `true` if a query returns the counters as named attributes, or for [`Field::ProviderSpecificCount`] their
    /// number.
    Counters(bool),
}

/// The condition that a value of a field must meet.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Check {
    None,
    /// A zone of the same adapter, or none.
    Zone,
    /// An EVD that accepts this stream, or none. An EVD of another adapter is valid only for connection events.
    Evd(Streams),
    /// A supported kind of socket, or none.
    Comm,
    Fixed,
    /// A new endpoint chooses its service; a modify cannot change it.
    Service,
    Watermark,
    Counters,
    /// At most this number of bytes.
    Size(Most<u64>),
    /// [`Qos::BestEffort`]. A creation reports other values as not supported.
    Qos,
    Flags {
        /// Valid flags at creation.
        create: Flags,
        /// Valid flags in a modify; receive flags cannot change while a receive is posted.
        modify: Flags,
    },
    /// A count. With an SRQ, [`Field::MaxRecvDtos`] contains the hard high watermark instead. [`Field::MaxRecvIov`]
    /// then has no effect, and only a modify checks it.
    Count {
        least: Least,
        most: Most<usize>,
        stream: Stream,
    },
}

/// The streams of work of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after what is posted
pub enum Stream {
    Receives,
    Requests,
}

/// A function that returns a limit of the adapter.
pub type Most<N> = fn(&AdapterAttributes) -> N;

/// The completion flags that a field can contain.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Flags {
    Any,
    /// One of these sets.
    OneOf(&'static [CompletionFlags]),
}

/// The lower limit of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// 0.
    Zero,
    /// 1, but 0 for a new endpoint that has no EVD for the stream.
    One,
    /// No lower limit, but a new endpoint has a count above 0 exactly if it has an EVD for the stream.
    /// [`super::Endpoint::modify`] describes the condition in a modify.
    Dispatcher,
}

/// The rule for values and changes of a field.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Rule {
    pub field: Field,
    pub class: Class,
    pub check: Check,
}

const fn count(stream: Stream, least: Least, most: Most<usize>) -> Check {
    Check::Count { least, most, stream }
}

const RECV_FLAGS: Flags = Flags::OneOf(&[
    CompletionFlags::DEFAULT,
    CompletionFlags::UNSIGNALLED,
    CompletionFlags::SOLICITED_WAIT,
    CompletionFlags::EVD_THRESHOLD,
]);
const REQUEST_FLAGS: Flags =
    Flags::OneOf(&[CompletionFlags::DEFAULT, CompletionFlags::UNSIGNALLED, CompletionFlags::EVD_THRESHOLD]);

/// Defines [`Field`] and [`RULES`]. A row contains a field, the states in which it can be modified, and the condition.
macro_rules! fields {
    ($($field:ident: $class:ident, $check:expr;)*) => {
        /// The parameters of an endpoint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // named after the parameters of the specification
        pub enum Field {
            $($field,)*
        }

        /// The rules, in the order of the fields.
        pub const RULES: [Rule; [$(Field::$field),*].len()] =
            [$(Rule { field: Field::$field, class: Class::$class, check: $check }),*];
    };
}

fields! {
    Ia: Never, Check::None;
    State: Never, Check::None;
    LocalAddress: Never, Check::None;
    LocalPort: Never, Check::None;
    RemoteAddress: Never, Check::None;
    RemotePort: Never, Check::None;
    Pz: Quiescent, Check::Zone;
    RecvEvd: BeforeConnection, Check::Evd(Streams::TRANSFERS);
    RequestEvd: BeforeConnection, Check::Evd(Streams::TRANSFERS);
    ConnectEvd: BeforeConnection, Check::Evd(Streams::CONNECTIONS);
    Srq: Never, Check::None;
    ServiceType: BeforeConnection, Check::Service;
    MaxMessageSize: BeforeConnection, Check::Size(|limits| limits.max_transfer);
    MaxRdmaSize: BeforeConnection, Check::Size(|limits| limits.max_transfer);
    Qos: BeforeConnection, Check::Qos;
    RecvCompletionFlags: BeforeConnection, Check::Flags { create: RECV_FLAGS, modify: RECV_FLAGS };
    RequestCompletionFlags: BeforeConnection, Check::Flags { create: Flags::Any, modify: REQUEST_FLAGS };
    MaxRecvDtos: BeforeConnection, count(Stream::Receives, Least::Dispatcher, |limits| limits.max_dto_per_ep);
    MaxRequestDtos: BeforeConnection, count(Stream::Requests, Least::Dispatcher, |limits| limits.max_dto_per_ep);
    MaxRecvIov: BeforeConnection, count(Stream::Receives, Least::One, |limits| limits.max_segments);
    MaxRequestIov: BeforeConnection, count(Stream::Requests, Least::One, |limits| limits.max_segments);
    MaxRdmaReadIn: BeforeConnection, count(Stream::Requests, Least::Zero, |limits| limits.max_rdma_read_per_ep_in);
    MaxRdmaReadOut: BeforeConnection, count(Stream::Requests, Least::Zero, |limits| limits.max_rdma_read_per_ep_out);
    SrqSoftHighWatermark: Constant, Check::Watermark;
    MaxRdmaReadIov: BeforeConnection, count(Stream::Requests, Least::Zero, |limits| limits.max_segments_read);
    MaxRdmaWriteIov: BeforeConnection, count(Stream::Requests, Least::Zero, |limits| limits.max_segments_write);
    TransportSpecificCount: Unconnected, Check::Fixed;
    TransportSpecific: Unconnected, Check::Fixed;
    ProviderSpecificCount: Unconnected, Check::Counters;
    ProviderSpecific: Unconnected, Check::Counters;
    Comm: Unconnected, Check::Comm;
}

pub(super) struct Against<'a> {
    pub limits: &'a AdapterAttributes,
    pub srq: bool,
    pub purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The creation of an endpoint. Each field is `true` if the endpoint has this EVD.
    Create {
        recv_evd: bool,
        request_evd: bool,
    },
    Modify,
}

impl Check {
    pub(super) fn admits(&self, setting: Setting, against: &Against<'_>) -> bool {
        let (limits, purpose) = (against.limits, against.purpose);
        match (*self, setting) {
            (Check::Fixed, Setting::Fixed)
            | (Check::Counters, Setting::Counters(_))
            | (Check::Watermark, Setting::Watermark(_)) => true,
            (Check::Service, Setting::Datagrams(_)) => purpose != Purpose::Modify,
            (Check::Size(most), Setting::Size(size)) => size <= most(limits),
            (Check::Qos, Setting::Qos(qos)) => purpose != Purpose::Modify || qos == Qos::BestEffort,
            (Check::Flags { create, modify }, Setting::Flags(flags)) => match purpose {
                Purpose::Create { .. } => create.admit(flags),
                Purpose::Modify => modify.admit(flags),
            },
            (Check::Count { least: Least::Dispatcher, stream: Stream::Receives, .. }, setting) if against.srq => {
                matches!(setting, Setting::Watermark(_))
            }
            (Check::Count { most, stream: Stream::Receives, .. }, Setting::Count(count)) if against.srq => {
                purpose != Purpose::Modify || count <= most(limits)
            }
            (Check::Count { least, most, stream }, Setting::Count(count)) => {
                let dispatcher = match (purpose, stream) {
                    (Purpose::Create { recv_evd, .. }, Stream::Receives) => Some(recv_evd),
                    (Purpose::Create { request_evd, .. }, Stream::Requests) => Some(request_evd),
                    (Purpose::Modify, _) => None,
                };
                let enough = match (least, dispatcher) {
                    (Least::Zero, _) | (Least::One, Some(false)) | (Least::Dispatcher, None) => true,
                    (Least::One, _) => count > 0,
                    (Least::Dispatcher, Some(dispatcher)) => (count > 0) == dispatcher,
                };
                enough && count <= most(limits)
            }
            _ => false,
        }
    }
}

impl Flags {
    fn admit(self, flags: CompletionFlags) -> bool {
        match self {
            Flags::Any => CompletionFlags::all().contains(flags),
            Flags::OneOf(sets) => sets.contains(&flags),
        }
    }
}

#[cfg(test)]
mod tests;
