//! The contract for datagram endpoints, which have any number of peers.
//!
//! Such an endpoint has one queue pair. In an *exchange*, one side sends a request to a service point, and the program
//! there accepts. Each side then gets the other's address handle ([`Exchange::established`]). Core drops the handle
//! when the program has freed handle and exchange. The peer's datagrams still arrive.
//!
//! # Requirements that no signature expresses
//! * A datagram is stored in one receive, from byte [`LEAD`] on. Without a receive of that length it is lost and
//!   counted ([`DatagramSink::lost`]), and the receive remains.
//! * A datagram that cannot be sent is lost and counted. A post never waits for the peer, and no peer delays another.
//! * Core holds the endpoint's lock on requests during [`Datagrams::send_to`], and its lock on receives during
//!   [`Datagrams::post_recv`]. For the lock rules of [the contract](super), the methods of [`DatagramSink`]
//!   are data methods. Methods of [`Exchange`] need a thread without locks, and of this trait only
//!   [`Datagrams::close`] may call them.

use std::sync::Arc;

pub use crate::ep::{DatagramSink, Exchange};
use crate::error::Result;
use crate::transport::{Connect, Handed, QpInit, Recv, Request, ShortSend, Transport};

/// Number of bytes before a datagram in a receive, where some networks store a header.
pub const LEAD: u64 = 40;

/// Maximum bytes of a datagram if the transport transfers datagrams over connections.
pub const MAX_DATAGRAM: usize = 4096;

/// A queue pair for datagrams: see [`Transport::DatagramQp`].
pub trait Datagrams<T: Transport>: Send + Sync + Sized {
    /// The address of a peer.
    type Peer: Send + Sync;

    /// Creates a queue pair, which receives immediately.
    fn create(transport: &T, init: QpInit<'_, T, DatagramSink<T>>) -> Result<Arc<Self>>;

    /// Posts a receive. With [`Transport::TAKES_RECEIVES`], core stores the receive.
    fn post_recv(&self, recv: &Recv<'_>) -> Result<()>;

    /// Requests an exchange from a service point, and reports the outcome to `exchange`.
    fn resolve(self: &Arc<Self>, transport: &T, connect: &Connect<'_>, exchange: Exchange<T>) -> Result<()>;

    /// Accepts a request for an exchange, and reports the outcome to `exchange`. After an error, `incoming` still
    /// contains the request.
    fn answer(
        self: &Arc<Self>,
        transport: &T,
        incoming: &mut Option<T::Incoming>,
        private_data: &[u8],
        exchange: Exchange<T>,
    ) -> Result<()>;

    /// May poll once if earlier datagrams to this peer wait. Called without a lock before each [`Datagrams::send_to`].
    fn poll_if_queued(_transport: &T, _to: &Self::Peer) {}

    /// Sends a datagram of at most [`Transport::INLINE_MAX`] bytes if it leaves immediately. After `false`, which has
    /// no effect, core calls [`Datagrams::send_to`].
    #[inline(always)]
    fn send_short(_to: &Self::Peer, _datagram: ShortSend<'_>) -> bool {
        false
    }

    /// Sends a datagram to a peer of any endpoint in the zone. The datagram is an
    /// [`Operation::Send`](super::Operation::Send) of at most the adapter's MTU. Returns a position like
    /// [`Transport::post`]. A lost datagram counts as done.
    fn send_to(self: &Arc<Self>, to: &Self::Peer, datagram: &Request<'_>) -> Result<Handed>;

    /// Closes queue pairs concurrently, and ends their exchanges without a report. Datagrams that were reported as sent
    /// leave the host first; peers delay this by at most 100 ms. After the call, the transport uses no memory of the
    /// program. Core holds no lock, except for unused queue pairs, and may repeat the call.
    fn close(transport: &T, qps: &[Arc<Self>]);
}

/// The address of a peer of the transport `T`.
pub type PeerOf<T> = <<T as Transport>::DatagramQp as Datagrams<T>>::Peer;
