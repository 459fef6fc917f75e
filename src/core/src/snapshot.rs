//! Snapshots of open adapters, which a thread of the transport takes for tools.

use std::sync::Arc;
use std::time::Instant;

use host::memory::{self, Room};
use host::pause::Pause;

use crate::addr::Address;
use crate::arena::Handle;
use crate::counters::{ConnSummary, Counters};
use crate::ep::Endpoint;
use crate::ep_state::EpState;
use crate::evd::Evd;
use crate::event::Streams;
use crate::ia::{AdapterSink, Ia};
use crate::srq::Srq;
use crate::transport::{Path, Transport};

/// An open adapter.
#[derive(Clone, Debug)]
pub struct AdapterSnapshot {
    /// Name by which the program opened the adapter.
    pub name: String,
    /// Version of the interface.
    pub version: (u8, u8),
    /// Number of connected endpoints.
    pub connections: u64,
    /// Counters of all endpoints, also of freed ones.
    pub counters: Counters,
    /// Summary of the connections.
    pub conn_summary: ConnSummary,
    /// The endpoints, up to the caller's limit.
    pub endpoints: Vec<EndpointSnapshot>,
    /// The queues, up to the caller's limit.
    pub queues: Vec<QueueSnapshot>,
}

/// An endpoint.
#[derive(Clone, Debug)]
pub struct EndpointSnapshot {
    /// The program's handle, which log messages also contain.
    pub handle: Handle,
    /// State.
    pub state: EpState,
    /// Address and connection qualifier of the peer of the last connection, attempt or request; `None` after a reset.
    pub remote: Option<(Arc<Address>, u64)>,
    /// How the connection transfers data; the default without a connection.
    pub path: Path,
    /// Outstanding requests.
    pub requests: usize,
    /// Receives posted to the endpoint's own queue.
    pub receives: usize,
    /// The SRQ that the endpoint uses instead of its own queue.
    pub srq: Option<Handle>,
    /// The EVD of requests.
    pub request_evd: Option<Handle>,
    /// The EVD of receives.
    pub recv_evd: Option<Handle>,
    /// Set if the EVD of requests or of receives is full. Clear also if another thread holds the lock on the EVD.
    pub evd_full: bool,
    /// Counters of all connections of the endpoint.
    pub counters: Counters,
}

/// The kind of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Event dispatcher.
    Evd,
    /// Shared receive queue.
    Srq,
}

/// An EVD or an SRQ.
#[derive(Clone, Copy, Debug)]
pub struct QueueSnapshot {
    /// The program's handle, which log messages also contain.
    pub handle: Handle,
    /// Kind.
    pub kind: QueueKind,
    /// Streams that an EVD accepts; empty for an SRQ.
    pub streams: Streams,
    /// Capacity in events or receives.
    pub size: usize,
    /// Queued events, or available receives.
    pub filled: usize,
    /// Low watermark of an SRQ; 0 if its event is not armed, and for an EVD.
    pub low_watermark: usize,
    /// Events and connection requests for which the EVD had no room; 0 for an SRQ.
    pub lost: u64,
    /// Set while a thread waits on the EVD.
    pub has_waiter: bool,
}

/// The result of [`AdapterSink::glance`].
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Glanced {
    /// The adapter's snapshot.
    Told(AdapterSnapshot),
    /// Another thread held a lock until the time limit, or memory is exhausted.
    Busy,
    /// The adapter is closed.
    Closed,
}

/// Retries `look` until it returns a value, or until the time `until`.
struct Patience {
    pause: Pause,
    until: Instant,
}

impl Patience {
    fn until<R>(&mut self, look: impl Fn() -> Option<R>) -> Option<R> {
        loop {
            let found = look();
            if found.is_some() || Instant::now() >= self.until {
                return found;
            }
            self.pause.pass();
        }
    }
}

impl<T: Transport> Ia<T> {
    /// Returns a snapshot with up to `most` endpoints, and as many queues. Returns `None` if another thread held a lock
    /// until `until`, or if memory is exhausted.
    fn glance(&self, until: Instant, most: usize) -> Option<AdapterSnapshot> {
        let mut patience = Patience { pause: Pause::new(), until };
        let (mut connections, mut endpoints, mut queues) = (0, Vec::new(), Vec::new());
        // While this is locked, no freed endpoint moves its counters to `ended`, so each counter is added once.
        let ended = patience.until(|| self.ended.try_lock())?;
        let mut counters = *ended;
        let busy = self.find(|ep: &Endpoint<T>| {
            let full = endpoints.len() < most;
            let Some(snapshot) = patience.until(|| ep.glance(full)) else { return Some(()) };
            counters.add(&snapshot.counters);
            connections += u64::from(matches!(snapshot.state, EpState::Connected | EpState::DisconnectPending));
            keep(&mut endpoints, snapshot, most)
        });
        drop(ended);
        let busy = busy
            .or_else(|| self.find(|srq: &Srq<T>| keep(&mut queues, patience.until(|| srq.glance()), most)))
            .or_else(|| self.find(|evd: &Evd<T>| keep(&mut queues, patience.until(|| evd.glance()), most)));
        let name = memory::text(&self.name).ok()?;
        let (version, conn_summary) = (self.api_caps.version, self.conn_stats.summary());
        let snapshot = AdapterSnapshot { name, version, connections, counters, conn_summary, endpoints, queues };
        busy.is_none().then_some(snapshot)
    }
}

/// Appends an entry if there are fewer than `most`. Returns `Some` if `entry` is `None` or memory is exhausted.
fn keep<E>(list: &mut Vec<E>, entry: impl Into<Option<E>>, most: usize) -> Option<()> {
    let Some(entry) = entry.into() else { return Some(()) };
    if list.len() < most {
        if list.room(1).is_err() {
            return Some(());
        }
        list.push(entry);
    }
    None
}

impl<T: Transport> AdapterSink<T> {
    /// Returns a snapshot with up to `most` endpoints and as many queues. Retries the locks that posts take until
    /// `until` instead of blocking, because a thread may be stopped in a post.
    pub fn glance(&self, until: Instant, most: usize) -> Glanced {
        let Some(ia) = self.adapter.upgrade().filter(|ia| !ia.is_shut()) else { return Glanced::Closed };
        ia.glance(until, most).map_or(Glanced::Busy, Glanced::Told)
    }

    /// Returns whether the adapter no longer exists.
    pub fn is_gone(&self) -> bool {
        self.adapter.strong_count() == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
