//! Datagrams: one queue pair for each endpoint of the program, and a lane on it for each of its peers.
//!
//! The core has a lane for each peer, which are one connection each to it. Here they share the queue pair ([`shared`]): a
//! lane is the way to its peer and the number of the peer's queue pair. [`cm`] asks peers and answers them, by the service
//! of rdma_cm that resolves queue pairs for datagrams, [`hello`] is what ends tell each other there, and [`answers`] is for
//! answers that get lost. A lane that ends tells nobody; [`ending`] sees to it that the device has given its requests back
//! by then, and that the queue pair ends with the last lane.
//!
//! # Locks
//! A thread that reports a receive holds the list of the lanes meanwhile, so that a lane that has left it has no more
//! reports. The order is: `Device::datagrams`, the list of lanes, the state of one; and the core's locks on requests, the
//! work of the queue pair.

pub mod answers;
pub mod cm;
mod ending;
pub mod hello;
pub mod shared;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use dat_core::error::{Error, Result};
use dat_core::transport::{ConnectionReport, EndpointSink, QpInit, RequestId, Segment};
use host::lock::Mutex;
use host::memory;

use crate::adapter::Verbs;
use crate::device::Device;
use crate::qp::Qp;
use crate::sys::cm::CmId;
use crate::sys::datagram::AddressHandle;
use shared::{SharedQp, Waiting};

/// What the core takes for a queue pair.
pub enum Carrier {
    /// One end of a connection.
    Qp(Arc<Qp>),
    /// The way from an endpoint for datagrams to one peer.
    Lane(Arc<Lane>),
}

impl Carrier {
    /// Makes what the core asks for.
    pub fn new(device: &Arc<Device>, init: QpInit<'_, Verbs>) -> Result<Arc<Self>> {
        let carrier = match init.datagrams {
            None => Carrier::Qp(Qp::new(device, init)?),
            Some(number) => Carrier::Lane(Lane::new(device, number, init)?),
        };
        Ok(memory::arc(carrier)?)
    }

    /// One end of a connection.
    ///
    /// # Errors
    /// [`Error::Internal`] if it is none.
    #[inline(always)]
    pub fn qp(&self) -> Result<&Arc<Qp>> {
        match self {
            Carrier::Qp(qp) => Ok(qp),
            Carrier::Lane(_) => Err(Error::Internal),
        }
    }
}

/// How far a lane has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LanePhase {
    /// Nothing was tried yet.
    #[default]
    Idle,
    /// The peer was asked.
    Connecting,
    /// The peer was answered, which is still to be reported.
    Accepting,
    Up,
    /// Requests are coming back, or the queue pair ends with it.
    Draining,
    Dead,
}

#[derive(Default)]
struct LaneState {
    phase: LanePhase,
    cm: Option<Arc<CmId>>,
    /// The private data of the request, until it is sent.
    private_data: Vec<u8>,
    /// The route that the kernel resolves: from where, to where, and until when.
    way: Option<(SocketAddr, SocketAddr, Instant)>,
    /// What is reported when it has ended; nothing if the core has no need of it.
    cause: Option<ConnectionReport>,
}

/// The way from an endpoint for datagrams to one peer.
pub struct Lane {
    shared: Arc<SharedQp>,
    sink: EndpointSink<Verbs>,
    /// The number of its endpoint.
    endpoint: u32,
    state: Mutex<LaneState>,
    /// The way, and the number of the peer's queue pair.
    to: OnceLock<(AddressHandle, u32)>,
    /// The number of the peer's endpoint.
    peer: AtomicU32,
    /// Its requests that the device has, and those whose completion is being reported.
    on_device: AtomicUsize,
}

impl Lane {
    fn new(device: &Arc<Device>, endpoint: u32, init: QpInit<'_, Verbs>) -> Result<Arc<Self>> {
        SharedQp::join(device, init, |shared, sink| {
            Ok(memory::arc(Lane {
                shared,
                sink,
                endpoint,
                state: Mutex::default(),
                to: OnceLock::new(),
                peer: AtomicU32::new(0),
                on_device: AtomicUsize::new(0),
            })?)
        })
    }

    /// The adapter's device.
    pub fn device(&self) -> &Arc<Device> {
        &self.shared.device
    }

    fn phase(&self) -> LanePhase {
        self.state.lock().phase
    }

    /// The number of the peer's endpoint, once that is known.
    pub fn peer(&self) -> Option<u32> {
        Some(self.peer.load(Ordering::Acquire)).filter(|number| *number != 0)
    }

    /// Hands over a datagram, which is one segment or empty.
    #[cold]
    #[inline(never)]
    pub fn post(self: &Arc<Self>, id: RequestId, segment: Option<Segment>, solicited: bool) -> Result<()> {
        self.shared.post(Waiting { lane: self.clone(), id, segment, solicited })
    }

    /// Reports all requests that are complete.
    pub fn reap(&self) {
        self.shared.drain();
    }
}
