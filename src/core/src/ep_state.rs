//! The endpoint's states as a table: the transitions, and what is refused.

/// The states of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EpState {
    /// Quiet; the first state.
    Unconnected,
    /// Tied to a reserved service point that listens.
    Reserved,
    /// The reserved service point got its request.
    PassiveConnectionPending,
    /// A connect is under way.
    ActiveConnectionPending,
    /// Made by the provider for a connection request.
    TentativeConnectionPending,
    /// Connected.
    Connected,
    /// A graceful disconnect waits for posted requests.
    DisconnectPending,
    /// The connection, or the attempt at one, has ended.
    Disconnected,
    /// A request was accepted, but the connection is not up yet.
    CompletionPending,
}

impl EpState {
    /// All states.
    pub const ALL: [EpState; 9] = [
        EpState::Unconnected,
        EpState::Reserved,
        EpState::PassiveConnectionPending,
        EpState::ActiveConnectionPending,
        EpState::TentativeConnectionPending,
        EpState::CompletionPending,
        EpState::Connected,
        EpState::DisconnectPending,
        EpState::Disconnected,
    ];
}

/// The things that can happen to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The program connects it.
    Connect,
    /// The program accepts a request and names this endpoint.
    AcceptExplicit,
    /// The program accepts a request that brought this endpoint.
    AcceptImplicit,
    /// A reserved service point is made for it.
    Reserve,
    /// Its reserved service point is freed.
    Release,
    /// The reserved service point got its request.
    RequestArrived,
    /// The request that holds the endpoint was rejected or handed off.
    RequestAnswered,
    /// The program disconnects it abruptly.
    DisconnectAbrupt,
    /// The program disconnects it gracefully.
    DisconnectGraceful,
    /// The program resets it.
    Reset,
    /// The program frees it.
    Free,
    /// The connection is up.
    Established,
    /// The connection, or the attempt at one, has ended for any reason.
    Ended,
}

/// The effect of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The endpoint goes to this state.
    Go(EpState),
    /// The state stays: the call succeeds without effect.
    Stay,
    /// The endpoint ceases to exist.
    Destroy,
}

/// The transition of a state on a trigger.
///
/// # Errors
/// The state itself, if it does not admit the trigger.
pub fn next(state: EpState, trigger: Trigger) -> Result<Next, EpState> {
    use EpState::*;
    use Trigger::*;
    let to = match (state, trigger) {
        (Unconnected, Connect) => Next::Go(ActiveConnectionPending),
        (Unconnected, AcceptExplicit) => Next::Go(CompletionPending),
        (PassiveConnectionPending | TentativeConnectionPending, AcceptImplicit) => Next::Go(CompletionPending),

        (Unconnected, Reserve) => Next::Go(Reserved),
        (Reserved, Release) => Next::Go(Unconnected),
        // The reserved service point has done its work, so freeing it changes nothing.
        (_, Release) => Next::Stay,
        (Reserved, RequestArrived) => Next::Go(PassiveConnectionPending),
        (PassiveConnectionPending, RequestAnswered) => Next::Go(Unconnected),
        (TentativeConnectionPending, RequestAnswered) => Next::Destroy,

        (ActiveConnectionPending | CompletionPending, Established) => Next::Go(Connected),
        (ActiveConnectionPending | CompletionPending | Connected | DisconnectPending, Ended) => Next::Go(Disconnected),

        // Both flags end an attempt in the same way.
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
