//! The part of the contract for endpoints that exchange datagrams with any number of peers.
//!
//! Such an endpoint has one queue pair. An *exchange* makes two endpoints known to each other: one side asks a service point,
//! the program there accepts, and each side gets an address handle of the other side ([`Exchange::established`]). The core
//! drops the handle when the program can neither send to the peer nor name the exchange. What the peer sends arrives anyway.
//!
//! # Promises that no signature shows
//! * A datagram is stored in one receive, from byte [`LEAD`] on. Without a receive of that length it is lost and counted
//!   ([`DatagramSink::lost`]), and the receive remains.
//! * A datagram that cannot be sent is lost and counted. A post never waits for the peer, and no peer delays another peer.
//! * The core holds the lock on the endpoint's requests during [`Datagrams::send_to`], and the lock on its receives during
//!   [`Datagrams::post_datagram_recv`]. The rules of [the contract](super) on locks apply: the methods of [`DatagramSink`]
//!   are data methods. The methods of [`Exchange`] need a thread without locks, and are not called inside a method of this trait,
//!   except [`Datagrams::close_datagrams`].

use std::sync::Arc;

pub use crate::ep::{DatagramSink, Exchange};
use crate::error::Result;
use crate::transport::{Connect, Handed, Parts, QpInit, Recv, RequestId, Segment, ShortSend, Transport};

/// Bytes of a receive before a datagram, for the header that some networks store there.
pub const LEAD: u64 = 40;

/// Maximum bytes of a datagram that travels over a connection.
pub const MAX_DATAGRAM: usize = 4096;

/// A datagram to send.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Its number among the requests of the endpoint.
    pub id: RequestId,
    /// Local memory, in order.
    pub segments: &'a [Segment],
    /// Sum of the lengths of `segments`, at most the MTU of the adapter.
    pub len: u64,
    /// Set if the matching receive is announced to a solicited waiter.
    pub solicited: bool,
}

/// What a transport adds for datagrams. Only called with [`AdapterAttributes::datagrams`](super::AdapterAttributes::datagrams).
pub trait Datagrams: Parts {
    /// A queue pair for datagrams.
    type DatagramQp: Send + Sync;

    /// The way to a peer.
    type AddressHandle: Send + Sync;

    /// Creates a queue pair, to which peers can send at once.
    fn datagram_qp_create(&self, init: QpInit<'_, Self, DatagramSink<Self>>) -> Result<Arc<Self::DatagramQp>>
    where
        Self: Transport;

    /// Hands over a receive. With [`Transport::TAKES_RECEIVES`] the core keeps it.
    fn post_datagram_recv(&self, qp: &Self::DatagramQp, recv: &Recv<'_>) -> Result<()>;

    /// Starts to ask a service point. The outcome is reported to `exchange`.
    fn resolve(&self, qp: &Arc<Self::DatagramQp>, connect: &Connect<'_>, exchange: Exchange<Self>) -> Result<()>
    where
        Self: Transport;

    /// Accepts a request that asks for an exchange. The outcome is reported to `exchange`. After an error the request can be
    /// answered again.
    fn answer(
        &self,
        incoming: &mut Option<Self::Incoming>,
        qp: &Arc<Self::DatagramQp>,
        private_data: &[u8],
        exchange: Exchange<Self>,
    ) -> Result<()>
    where
        Self: Transport;

    /// Called without a lock before each [`Datagrams::send_to`]: may poll once if earlier datagrams for this peer wait.
    fn poll_if_queued(&self, _to: &Self::AddressHandle) {}

    /// Sends a datagram of at most [`Transport::INLINE_MAX`] bytes if it leaves immediately. Returns `false` if the call has
    /// had no effect; the core then calls [`Datagrams::send_to`].
    #[inline(always)]
    fn send_short(&self, _to: &Self::AddressHandle, _datagram: ShortSend<'_>) -> bool {
        false
    }

    /// Sends a datagram to a peer of any endpoint of the same zone. Marks are as for [`Transport::post`]. One that is lost
    /// is done, too.
    fn send_to(&self, qp: &Arc<Self::DatagramQp>, to: &Self::AddressHandle, datagram: &Datagram<'_>) -> Result<Handed>;

    /// Ends queue pairs, all concurrently, and their exchanges without a report. Called without a lock unless they were never
    /// used. Datagrams that were reported as sent leave before, but peers that take none delay the end by at most 100 ms.
    /// After the call the transport uses no memory of the program for them. May be called again.
    fn close_datagrams(&self, qps: &[Arc<Self::DatagramQp>]);
}
