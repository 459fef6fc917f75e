//! The things that can go wrong, in the terms of the specification but without its numbers.
//!
//! A face of the library turns an [`Error`] into a code of its version of the interface,
//! with one total match.

use host::memory::NoMemory;

use crate::ep_state::EpState;

/// Result of every call of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call was refused. Nothing was changed when a call returns one of these, with one
/// exception: if the transport refuses a connect or an accept after it was given the posted receives, those
/// receives complete as flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A handle is not of a live object of the wanted kind.
    InvalidHandle(Role),
    /// An argument or a field behind it has no valid value.
    InvalidParameter(Arg),
    /// The object is in a state that does not admit the call.
    InvalidState(StateError),
    /// Memory, queue entries or transport resources are used up.
    InsufficientResources(Resource),
    /// The model asked for is not offered by the transport.
    ModelNotSupported,
    /// Local and remote lengths do not fit, or a size limit is passed.
    LengthError,
    /// A memory region grants too little for the operation, or does not exist.
    PrivilegesViolation(Access),
    /// A memory region belongs to another protection zone.
    ProtectionViolation(Access),
    /// The connection qualifier is taken.
    QualifierInUse,
    /// No connection qualifier is left to choose from.
    QualifierUnavailable,
    /// The port of a common service point is taken.
    PortInUse,
    /// No adapter offers this kind of socket.
    CommNotSupported,
    /// Nothing is queued, or nothing came before the time was up.
    QueueEmpty,
    /// The queue has no room for another event.
    QueueFull,
    /// The time is up.
    TimeoutExpired,
    /// A signal interrupted the wait.
    Interrupted,
    /// The object was destroyed under the waiting thread.
    Aborted,
    /// An address cannot belong to a peer.
    InvalidAddress(AddressFault),
    /// The transport lacks what the call needs.
    NotImplemented,
    /// The library found itself in a state it does not expect.
    Internal,
}

impl From<NoMemory> for Error {
    fn from(_: NoMemory) -> Self {
        Error::InsufficientResources(Resource::Memory)
    }
}

impl From<EpState> for Error {
    /// The refusal of a call that an endpoint in this state does not admit.
    fn from(state: EpState) -> Self {
        Error::InvalidState(StateError::Endpoint(state))
    }
}

/// The part that a handle plays in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each variant is named after the object or stream it stands for
pub enum Role {
    Ia,
    Ep,
    Lmr,
    Rmr,
    Pz,
    Psp,
    Rsp,
    Csp,
    Cr,
    Cno,
    Evd,
    EvdConnectionRequests,
    EvdRequest,
    EvdRecv,
    EvdConnect,
    EvdAsync,
    Srq,
    Any,
}

/// The argument at fault; a face knows its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Attribute structure or one of its fields.
    Attributes,
    /// A parameter that can never be changed.
    Field,
    /// The new value of a parameter.
    Value,
    /// Flags of a call.
    Flags,
    /// Number of segments.
    SegmentCount,
    /// The list of segments or the memory it describes.
    Segments,
    /// The segment of the peer's memory.
    Remote,
    /// The endpoint that a remote memory region is to be bound over.
    Endpoint,
    /// A queue length or a number of entries.
    QueueLength,
    /// A watermark.
    Watermark,
    /// The number of events to wait for.
    Threshold,
    /// A time limit.
    Timeout,
    /// A connection qualifier.
    Qualifier,
    /// Size of the private data.
    PrivateDataSize,
    /// Description of a region.
    Region,
    /// Length of a region.
    Length,
    /// Event streams of a dispatcher.
    Streams,
    /// The dispatcher cannot take this event.
    Evd,
}

/// The reason why a state does not admit a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The endpoint is in this state.
    Endpoint(EpState),
    /// The endpoint lacks a protection zone or a dispatcher that the call needs.
    EndpointNotReady,
    /// The endpoint receives from a shared receive queue.
    EndpointHasSrq,
    /// Receives have been posted, so the receive completion flags cannot change.
    ReceivesPosted,
    /// Objects made from the interface adapter still exist.
    IaInUse,
    /// An object lives in the protection zone.
    PzInUse,
    /// A remote memory region is bound into the local one.
    LmrInUse,
    /// A stream feeds the dispatcher.
    EvdInUse,
    /// A thread waits on the dispatcher.
    EvdWaiter,
    /// The dispatcher was made unwaitable.
    EvdUnwaitable,
    /// The threshold is not 1 on a dispatcher for which posters choose the notification events.
    EvdConfigNotify,
    /// The threshold is not 1 on a dispatcher configured for solicited events.
    EvdConfigSolicited,
    /// More events are queued, or waited for, than the requested length holds.
    EvdTooShort,
    /// A dispatcher refers to the notification object, or a thread waits on it.
    CnoInUse,
    /// An endpoint is attached to the shared receive queue.
    SrqInUse,
    /// The shared receive queue holds more buffers, or has a higher low watermark.
    SrqTooShort,
}

/// The resource that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the object that could not be made
pub enum Resource {
    Memory,
    Endpoint,
    Evd,
    Zone,
    Region,
    Srq,
    Device,
}

/// The kind of access that a region did not grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the four rights of the specification
pub enum Access {
    Read,
    Write,
    RemoteRead,
    RemoteWrite,
}

/// The fault of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// The family, or a kind such as multicast, cannot be connected to.
    Unsupported,
    /// The address is known to be unreachable.
    Unreachable,
    /// The bytes are not an address.
    Malformed,
}
