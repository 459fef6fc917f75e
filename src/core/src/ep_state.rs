//! The states of endpoints, and the transitions between them.

/// The states of an endpoint. docs/tracing.md documents their numbers, which are arguments of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // states of the specification
pub enum EpState {
    Unconnected,
    Reserved,
    /// The reserved service point of the endpoint has received its request.
    PassiveConnectionPending,
    ActiveConnectionPending,
    /// The provider has created the endpoint for a connection request.
    TentativeConnectionPending,
    Connected,
    /// A graceful disconnect waits for the posted requests, or the transport has not released all buffers yet.
    DisconnectPending,
    /// The connection or attempt has ended.
    Disconnected,
    /// The program has accepted a request; the connection is not established yet.
    CompletionPending,
}

/// A call or report that can change the state of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the other variants are named after the call
pub enum Trigger {
    Connect,
    /// The program accepts a request with this endpoint.
    AcceptExplicit,
    /// The program accepts a request for which the service point supplied this endpoint.
    AcceptImplicit,
    /// A reserved service point is created for the endpoint.
    Reserve,
    /// The reserved service point of the endpoint is freed.
    Release,
    /// The reserved service point has received its request.
    RequestArrived,
    /// The request of this endpoint was rejected or handed off.
    RequestAnswered,
    DisconnectAbrupt,
    DisconnectGraceful,
    Reset,
    Free,
    Established,
    /// The connection, or the attempt to connect, has ended.
    Ended,
}

/// The effect of a [`Trigger`] that the state allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Next {
    Go(EpState),
    /// The state is unchanged, and the call succeeds.
    Stay,
    Destroy,
}

/// Returns the effect of a call or report in a state.
///
/// # Errors
/// The unchanged state, if it does not allow the call or report.
pub fn next(state: EpState, trigger: Trigger) -> Result<Next, EpState> {
    use EpState::*;
    use Trigger::*;
    let to = match (state, trigger) {
        (Unconnected, Connect) => Next::Go(ActiveConnectionPending),
        (Unconnected, AcceptExplicit) => Next::Go(CompletionPending),
        (PassiveConnectionPending | TentativeConnectionPending, AcceptImplicit) => Next::Go(CompletionPending),

        (Unconnected, Reserve) => Next::Go(Reserved),
        (Reserved, Release) => Next::Go(Unconnected),
        // The service point already has its request, so the endpoint is no longer reserved.
        (_, Release) => Next::Stay,
        (Reserved, RequestArrived) => Next::Go(PassiveConnectionPending),
        (PassiveConnectionPending, RequestAnswered) => Next::Go(Unconnected),
        (TentativeConnectionPending, RequestAnswered) => Next::Destroy,

        (ActiveConnectionPending | CompletionPending, Established) => Next::Go(Connected),
        (ActiveConnectionPending | CompletionPending | Connected | DisconnectPending, Ended) => Next::Go(Disconnected),

        // An attempt to connect ends immediately with either flag of dat_ep_disconnect.
        (ActiveConnectionPending | CompletionPending, DisconnectAbrupt | DisconnectGraceful) => Next::Go(Disconnected),
        (Connected | DisconnectPending, DisconnectAbrupt) => Next::Go(Disconnected),
        (Connected, DisconnectGraceful) => Next::Go(DisconnectPending),
        (DisconnectPending, DisconnectGraceful) => Next::Stay,
        (Disconnected, DisconnectAbrupt | DisconnectGraceful) => Next::Stay,

        (Unconnected, Reset) => Next::Stay,
        (Disconnected, Reset) => Next::Go(Unconnected),

        (Reserved | PassiveConnectionPending | TentativeConnectionPending, Free) => return Err(state),
        (_, Free) => Next::Destroy,

        _ => return Err(state),
    };
    Ok(to)
}

#[cfg(test)]
mod tests;
