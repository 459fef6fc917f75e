//! The packets of a question and its response: a kind byte, then fields in little-endian order. The snapshot of a
//! process has a packet for each adapter, then packets with some of its endpoints, then with its queues.
//!
//! These packets and [`END`] do not change, because a tool rejects fields that it does not know. New fields are in
//! packets after [`END`], which older tools do not read, and older libraries do not send. The length of an item follows
//! the kind byte there. A reader skips unknown kinds, and the unknown end of an item.

use crate::copies::Obstacle;

/// Kind of a question at the socket of shm, without fields. Other sockets respond to each connection.
pub const ASK: u8 = 12;
/// Kind of a packet with an [`Adapter`]. Packets with its endpoints and queues follow.
pub const ADAPTER: u8 = 13;
/// Kind of a packet with [`Endpoint`]s of the last adapter.
pub const ENDPOINTS: u8 = 14;
/// Kind of a packet with [`Queue`]s of the last adapter.
pub const QUEUES: u8 = 15;
/// Kind of the last packet that a response must have, without fields.
pub const END: u8 = 16;
/// Kind of a packet after [`END`] with the [`EndpointLinks`] of all endpoints of the response, in their order.
pub const LINKS: u8 = 17;
/// Kind of a packet after [`END`] with the streams of all queues of the response, in their order.
pub const STREAMS: u8 = 18;
/// Kind of a whole response without fields: the process cannot respond now.
pub const AGAIN: u8 = 11;
/// Maximum length of a field of bytes or text, in bytes.
pub const MAX_BYTES: usize = 512;

/// Maximum length of a packet, in bytes. With the kernel's data, it takes less than 17 KiB of a socket's buffer.
pub const MAX_PACKET: usize = 15 << 10;
/// Maximum number of endpoints of a response, and of queues. The packets must fit into a socket's buffer, because no
/// thread waits until their receiver reads.
pub const MAX_DETAILS: usize = 512;

/// One or several consecutive fields of a packet.
pub trait Field: Sized {
    /// Appends the field to a packet.
    fn put(&self, packet: &mut Vec<u8>);
    /// Removes the field from the start of a packet. Returns `None` if it is missing or invalid.
    fn take(packet: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Field for $number {
            fn put(&self, packet: &mut Vec<u8>) {
                packet.extend_from_slice(&self.to_le_bytes());
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = packet.split_first_chunk()?;
                *packet = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })*
    };
}

numbers!(u8 u32 u64);

impl Field for bool {
    fn put(&self, packet: &mut Vec<u8>) {
        packet.push((*self).into());
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let byte = u8::take(packet)?;
        (byte < 2).then_some(byte == 1)
    }
}

impl Field for Vec<u8> {
    fn put(&self, packet: &mut Vec<u8>) {
        (self.len() as u32).put(packet);
        packet.extend_from_slice(self);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let len = u32::take(packet)? as usize;
        let (bytes, rest) = packet.split_at_checked(len).filter(|_| len <= MAX_BYTES)?;
        *packet = rest;
        Some(bytes.to_vec())
    }
}

impl Field for String {
    fn put(&self, packet: &mut Vec<u8>) {
        self.as_bytes().to_vec().put(packet);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::take(packet)?).ok()
    }
}

/// Implements [`Field`] for structures. `take` returns `None` if the check fails. Fields that are not listed are not in
/// the packet, and get their default.
#[macro_export]
macro_rules! structures {
    ($($type:ident { $($field:ident)* $(.. $default:ident)? } $(if $check:expr)?;)*) => {
        $(impl $crate::Field for $type {
            fn put(&self, packet: &mut Vec<u8>) {
                $(self.$field.put(packet);)*
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                Some($type { $($field: $crate::Field::take(packet)?,)* $(..$default::default())? })$(.filter($check))?
            }
        })*
    };
}

structures! {
    Counts {
        sends send_bytes rdma_writes rdma_write_bytes rdma_reads rdma_read_bytes receives receive_bytes request_stalls
        receive_stalls peer_wakeups
    };
    Adapter {
        name major minor age connections counts established failures async_events events_lost peers direct_peers obstacle
    };
    Endpoint {
        handle state peer qualifier process path local_socket peer_socket outstanding_requests posted_receives
        requests_wait message_waits evd_full counts .. Default
    };
    Queue { handle is_srq size filled low_watermark lost has_waiter .. Default };
    EndpointLinks { srq request_evd receive_evd };
}

/// Counters of an endpoint, or of all endpoints of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Started sends.
    pub sends: u64,
    /// Bytes of these sends.
    pub send_bytes: u64,
    /// Started RDMA writes.
    pub rdma_writes: u64,
    /// Bytes of these writes.
    pub rdma_write_bytes: u64,
    /// Started RDMA reads.
    pub rdma_reads: u64,
    /// Bytes of these reads.
    pub rdma_read_bytes: u64,
    /// Received messages.
    pub receives: u64,
    /// Bytes of these messages.
    pub receive_bytes: u64,
    /// Number of requests that found no room.
    pub request_stalls: u64,
    /// Number of messages that found no receive.
    pub receive_stalls: u64,
    /// Number of wakeups of a sleeping peer.
    pub peer_wakeups: u64,
}

/// An open adapter of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adapter {
    /// The name under which it was opened.
    pub name: String,
    /// Major version of the interface.
    pub major: u8,
    /// Minor version of the interface.
    pub minor: u8,
    /// Seconds since it was opened.
    pub age: u64,
    /// Connected endpoints.
    pub connections: u64,
    /// Counters of all endpoints.
    pub counts: Counts,
    /// Number of connections that were established since it was opened.
    pub established: u64,
    /// Connections and attempts that ended without a disconnect.
    pub failures: u64,
    /// Number of asynchronous events since it was opened.
    pub async_events: u64,
    /// Events and connection requests for which an event dispatcher had no room.
    pub events_lost: u64,
    /// Other processes to which the process has a link.
    pub peers: u64,
    /// Peers from and to whose memory the process copies directly.
    pub direct_peers: u64,
    /// Why the process does not copy directly from and to some or all of its peers; `None` without an obstacle.
    pub obstacle: Option<Obstacle>,
}

/// An endpoint of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Handle in the program and in messages.
    pub handle: u64,
    /// State, as the specification names it.
    pub state: String,
    /// Address of the peer; empty without a connection or an attempt.
    pub peer: String,
    /// Connection qualifier of the peer.
    pub qualifier: u64,
    /// ID of the peer's process; 0 if the transport does not know it.
    pub process: u32,
    /// Path of the data: `local`, `direct`, `ring`, `socket` or `device`; empty without a connection.
    pub path: String,
    /// Address and port of its TCP socket; empty without one.
    pub local_socket: String,
    /// Address and port of the peer's TCP socket; empty without one.
    pub peer_socket: String,
    /// Outstanding requests.
    pub outstanding_requests: u64,
    /// Receives posted to its own queue.
    pub posted_receives: u64,
    /// Set while a request waits for room or for earlier requests.
    pub requests_wait: bool,
    /// Set while a message of the peer waits for a receive.
    pub message_waits: bool,
    /// Set while the event dispatcher of requests or of receives is full.
    pub evd_full: bool,
    /// Counters of all its connections.
    pub counts: Counts,
    /// The queues that the endpoint uses; `None` if the response lacks them, because of an older library or a full
    /// socket.
    pub links: Option<EndpointLinks>,
}

/// The handles of the queues that an endpoint uses; 0 without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointLinks {
    /// The shared receive queue.
    pub srq: u64,
    /// The event dispatcher of requests.
    pub request_evd: u64,
    /// The event dispatcher of receives.
    pub receive_evd: u64,
}

/// An event dispatcher or a shared receive queue of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Handle in the program and in messages.
    pub handle: u64,
    /// Set for a shared receive queue.
    pub is_srq: bool,
    /// Number of entries.
    pub size: u64,
    /// Queued events, or available receives.
    pub filled: u64,
    /// Low watermark of a shared receive queue; 0 if none is set.
    pub low_watermark: u64,
    /// Events for which the dispatcher had no room.
    pub lost: u64,
    /// Set while a thread waits on the event dispatcher.
    pub has_waiter: bool,
    /// Streams that the event dispatcher accepts, with the bits of the C interface; 0 if the response lacks them, as
    /// [`Endpoint::links`].
    pub streams: u32,
}
