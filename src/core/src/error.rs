//! The errors of core, which each API version translates.

use std::io;

use host::limit;
use host::memory::NoMemory;

use crate::ep_state::EpState;

/// Result of a call of core.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call failed. A failed call changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // names of the specification
pub enum Error {
    /// The handle is not a live object of the expected kind.
    InvalidHandle(Role),
    InvalidParameter(Arg),
    InvalidState(StateError),
    /// Memory, queue entries or resources of the transport are exhausted.
    InsufficientResources(Resource),
    /// The transport does not support the requested model.
    ModelNotSupported,
    /// The local and remote lengths are incompatible, or above a limit.
    LengthError,
    /// A memory region does not exist, or lacks a right for the operation.
    PrivilegesViolation(Access),
    ProtectionViolation(Access),
    QualifierInUse,
    /// No connection qualifier is free.
    QualifierUnavailable,
    PortInUse,
    /// The system forbids the process to listen.
    ListenForbidden,
    /// No adapter supports this kind of socket.
    CommNotSupported,
    /// The queue is empty, also after a timeout.
    QueueEmpty,
    QueueFull,
    TimeoutExpired,
    Interrupted,
    /// The object was destroyed during the wait.
    Aborted,
    /// The address is invalid, or unusable for this purpose.
    InvalidAddress(AddressFault),
    NotImplemented,
    /// Core has detected an inconsistent state.
    Internal,
}

impl Error {
    /// Memory or queue entries are exhausted.
    pub const NO_MEMORY: Error = Error::InsufficientResources(Resource::Memory);
    pub(crate) const NOT_READY: Error = Error::InvalidState(StateError::EndpointNotReady);

    /// Returns the error of a service point that cannot listen at `qualifier`, or at any qualifier if `None`. Only a
    /// qualifier in use causes [`Error::QualifierInUse`], after which programs try the next qualifier.
    pub fn of_listen(error: &io::Error, qualifier: Option<u64>) -> Error {
        match (error.kind(), qualifier) {
            (io::ErrorKind::AddrInUse, Some(_)) => Error::QualifierInUse,
            (io::ErrorKind::AddrInUse, None) => Error::QualifierUnavailable,
            (io::ErrorKind::PermissionDenied, _) => Error::ListenForbidden,
            _ => Error::lacking(error),
        }
    }

    /// Converts an error of the system: a lack of memory to [`Resource::Memory`], any other error, also a lack of
    /// descriptors, to [`Resource::Device`].
    pub fn lacking(error: &io::Error) -> Error {
        let memory = limit::is_lack(error) && !limit::lacks_descriptors(error);
        Error::InsufficientResources(if memory { Resource::Memory } else { Resource::Device })
    }
}

impl From<NoMemory> for Error {
    fn from(_: NoMemory) -> Self {
        Error::NO_MEMORY
    }
}

impl From<EpState> for Error {
    /// Returns the error of a call that this state does not allow.
    fn from(state: EpState) -> Self {
        Error::InvalidState(StateError::Endpoint(state))
    }
}

/// The role of a handle in a call, up to [`Role::Srq`] with the number of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the object or the stream of an EVD
pub enum Role {
    Ia = 11,
    Ep,
    Lmr,
    Rmr,
    Pz,
    Psp,
    Rsp,
    Cr,
    Cno,
    EvdConnectionRequests,
    EvdRequest,
    EvdRecv,
    EvdConnect,
    EvdAsync,
    Srq,
    Csp,
    Evd,
    Any,
}

/// The invalid argument. The API layer converts it to a position in the C call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the argument
pub enum Arg {
    Attributes,
    /// The zone of an endpoint, which its SRQ cannot serve.
    Zone,
    /// A parameter that cannot be changed.
    Field,
    Value,
    Flags,
    SegmentCount,
    /// The list of segments, or a segment's memory.
    Segments,
    Remote,
    /// The endpoint of a bind.
    Endpoint,
    /// A queue length or a number of entries.
    QueueLength,
    Watermark,
    Threshold,
    Timeout,
    Qualifier,
    Region,
    Length,
    /// An EVD that does not accept the event.
    Evd,
}

/// The state that does not allow a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the other variants are named after the state
pub enum StateError {
    Endpoint(EpState),
    /// The endpoint lacks a protection zone or an EVD that the call needs.
    EndpointNotReady,
    EndpointHasSrq,
    /// Receives are posted, so their completion flags cannot change.
    ReceivesPosted,
    IaInUse,
    PzInUse,
    LmrInUse,
    EvdInUse,
    EvdWaiter,
    EvdUnwaitable,
    /// The threshold is not 1, and posters choose the notification events of the EVD.
    EvdConfigNotify,
    /// The threshold is not 1, and the EVD is configured for solicited events.
    EvdConfigSolicited,
    /// The new length is smaller than the number of queued events, or than the threshold of a waiting thread.
    EvdTooShort,
    /// An EVD is attached to the CNO, or a thread waits on it.
    CnoInUse,
    SrqInUse,
    /// The new size is smaller than the number of outstanding buffers, or than the low watermark.
    SrqTooShort,
}

/// The exhausted resource, with the number of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the resource
pub enum Resource {
    Memory = 2,
    Device,
    Endpoint,
    Evd,
    Zone,
    Region,
    Srq = 10,
}

/// The access that a region does not grant, in the order of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the four rights of the specification
pub enum Access {
    Read,
    Write,
    RemoteRead,
    RemoteWrite,
}

/// The fault of an address, in the order of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AddressFault {
    /// The address family is unsupported, or the address is not a host's.
    Unsupported,
    Unreachable,
    /// The bytes are not an address.
    Malformed,
}

#[cfg(test)]
mod tests;
