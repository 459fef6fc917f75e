//! The choice of a transfer's path. A short message or write that the fast path can post immediately
//! ([`Tx::post`](crate::tx::Tx::post)) takes [`Route::Record`] or [`Route::Local`] without this choice.
//!
//! If a path turns out to be impossible, the transfer continues on a slower path. Without room in the ring, a write or
//! read by [`Route::Record`] or [`Route::Shared`] becomes [`Route::Direct`]; messages, and writes that must follow an
//! earlier write, wait. A copy that the kernel refuses becomes [`Route::Pieces`].

use crate::record::EAGER_MAX;

/// Shortest slice of a message or write of which both sides copy a part.
pub const SHARED_MIN: u64 = 32 * 1024;
/// Longest RDMA write of which both sides copy a part.
pub const SHARED_MAX: u64 = 4 * 1024 * 1024;

/// A kind of transfer with a choice of paths. Other requests are sent as these, or always as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    Message,
    /// An RDMA write. `splits` is `true` if a copy by the kernel could make parts of the last word visible separately.
    Write {
        splits: bool,
    },
    Read,
}

/// What is known of the peer when a transfer starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The peer is an endpoint of this process.
    pub is_local: bool,
    /// This process can copy from and to the peer's memory.
    pub is_readable: bool,
    /// The peer can copy from and to this process's memory.
    pub reads: bool,
    /// Callers of the peer poll, it has passed all revoked records, and there is room for one more revocable record.
    pub polls: bool,
    /// The peer has yet to execute a record that changes its memory, which later transfers must not overtake.
    pub is_behind: bool,
}

/// The path of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The initiator copies, within the process.
    Local,
    /// One record in the ring, which the peer executes.
    Record,
    /// A record with the addresses of a message. The peer copies the message, from [`SHARED_MIN`] bytes on together
    /// with the sender.
    Announced,
    /// A record with the addresses of a write, of which both sides copy parts.
    Shared,
    /// The initiator copies to or from the peer's memory.
    Direct,
    /// Records with up to [`EAGER_MAX`] of the transfer's bytes each, which the receiver of the bytes stores.
    Pieces,
}

/// Returns the path of a transfer of `len` bytes.
pub fn route(transfer: Transfer, len: u64, peer: &Peer) -> Route {
    let is_short = len <= EAGER_MAX;
    match transfer {
        Transfer::Message if is_short => Route::Record,
        Transfer::Message if peer.reads => Route::Announced,
        Transfer::Message => Route::Pieces,
        _ if peer.is_local => Route::Local,
        _ if !peer.is_readable => Route::Pieces,
        Transfer::Write { splits: true } if is_short => Route::Pieces,
        Transfer::Write { splits: true } => Route::Direct,
        _ if is_short && (peer.polls || peer.is_behind) => Route::Record,
        Transfer::Write { .. } if peer.polls && peer.reads && (SHARED_MIN..=SHARED_MAX).contains(&len) => Route::Shared,
        _ => Route::Direct,
    }
}

#[cfg(test)]
mod tests;
