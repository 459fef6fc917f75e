//! The datagrams that were sent to one peer and have not left yet.

use std::time::{Duration, Instant};

use host::lock::Mutex;
use host::memory;
use host::pause::Pause;

use crate::ep::datagram::{Lane, Service};
use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{Gate, InFlight, Requests, Work};
use crate::error::{Arg, Error, Result};
use crate::event::{CompletionFlags, Transfer};
use crate::mem::Rights;
use crate::transport::{Operation, Poll, RegionKeys, Request, Segment, Transport};

/// How long posts wait, once, for a peer that has taken nothing while its backlog was full. A process that has lost its processor
/// to another one gets it back by then.
const PATIENCE: Duration = Duration::from_millis(10);

/// The datagrams that are on their way to one peer.
pub(super) struct Backlog<T: Transport>(Mutex<Kept<T>>);

struct Kept<T: Transport> {
    /// Their memory, from the first send to the end of the lane.
    places: Option<Places<T>>,
    /// Since when no place has become free, if a post has found none.
    full_since: Option<Instant>,
}

/// Memory for datagrams, each in a place of its own.
struct Places<T: Transport> {
    /// Dropped before the memory that it registers.
    region: T::Region,
    bytes: Vec<u8>,
    size: usize,
    /// The place of the next datagram. They are used in turn, from the first one whenever all are free.
    next: usize,
}

impl<T: Transport> Kept<T> {
    /// Whether a post may wait for a place, for a peer that takes datagrams but not as fast.
    fn may_wait(&mut self, full: bool) -> bool {
        let since = self.full_since.get_or_insert_with(Instant::now);
        let may = !full || since.elapsed() < PATIENCE;
        if !full {
            self.full_since = None;
        }
        may
    }

    /// The datagram in the next place is on its way.
    fn use_up(&mut self) {
        self.full_since = None;
        if let Some(places) = &mut self.places {
            places.next = (places.next + 1) % (places.bytes.len() / places.size);
        }
    }
}

impl<T: Transport> Places<T> {
    /// Has `fill` write a datagram of `len` bytes into the next place, which is used up by [`Kept::use_up`]; gives its segment.
    fn put(&mut self, all_free: bool, len: u64, fill: impl FnOnce(&mut [u8]) -> bool) -> Option<Segment> {
        if all_free {
            self.next = 0;
        }
        let start = self.next * self.size;
        let place = self.bytes.get_mut(start..start + (len as usize).min(self.size))?;
        let addr = place.as_mut_ptr().expose_provenance() as u64;
        let filled = place.len() as u64 == len && fill(place);
        filled.then_some(Segment { addr, len, key: self.region.local_key(), since: 0 })
    }
}

impl<T: Transport> Backlog<T> {
    /// One without memory.
    pub fn new() -> Self {
        Backlog(Mutex::new(Kept { places: None, full_since: None }))
    }

    /// Gives the memory back. No datagram is on its way.
    pub fn release(&self) {
        self.0.lock().places = None;
    }
}

impl<T: Transport> Lane<T> {
    /// Sees to the memory for what is sent, which is had at the first send; false if the lane has ended.
    fn prepare(&self, lane: &Endpoint<T>) -> Result<bool> {
        if self.backlog.0.lock().places.is_some() {
            return Ok(true);
        }
        let control = lane.control.lock();
        let Some(zone) = control.pz.as_ref() else { return Ok(false) };
        // Another thread may have had it meanwhile.
        if self.backlog.0.lock().places.is_none() {
            let size = lane.ia.transport.attributes().fabric.mtu;
            let len = size * T::LANE;
            memory::probe(len)?;
            let bytes = vec![0; len];
            let addr = bytes.as_ptr().expose_provenance() as u64;
            let region = lane.ia.transport.register(&zone.zone, addr, len as u64, Rights::LOCAL_READ, addr)?;
            self.backlog.0.lock().places = Some(Places { region, bytes, size, next: 0 });
        }
        Ok(true)
    }
}

impl<T: Transport> Endpoint<T> {
    /// Sends a datagram over this lane; false if it is lost.
    pub(super) fn carry(&self, segments: &[Segment], len: u64, solicited: bool) -> Result<bool> {
        let Service::Lane(lane) = &self.service else { return Err(Error::Internal) };
        if !lane.prepare(self)? {
            return Ok(false);
        }
        let backlog = &lane.backlog.0;
        let transport = &self.ia.transport;
        let mut requests = self.requests();
        let mut pause = Pause::new();
        while requests.flight.is_full() {
            let Some(qp) = requests.qp.clone() else { break };
            requests.unlocked(|| {
                // The peer may wait here too, for this side to take what it has sent.
                transport.poll(None, Poll::IfFree);
                transport.reap(&qp);
            });
            let full = requests.flight.is_full();
            if !backlog.lock().may_wait(full) {
                return Ok(false);
            }
            if full {
                requests.unlocked(|| pause.pass());
            }
        }
        if requests.gate != Gate::Open {
            return Ok(false);
        }
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Ok(false) };
        let all_free = flight.is_empty();
        let Some((id, place)) = flight.next_place() else { return Ok(false) };
        let fill = |to: &mut [u8]| transport.gather(segments, to);
        let mut kept = backlog.lock();
        let Some(places) = &mut kept.places else { return Ok(false) };
        let piece = places.put(all_free, len, fill);
        let piece = [piece.ok_or(Error::InvalidParameter(Arg::Segments))?];
        let segments = if len == 0 { &[] } else { &piece[..] };
        let request =
            Request { id, operation: Operation::Send { solicited }, segments, len, fence: false, signalled: false };
        let handed = transport.post(qp, tx, &request)?;
        kept.use_up();
        drop(kept);
        let work = Work::Transfer(Transfer::Send, len);
        place.fill(InFlight { mark: handed.mark, cookie: 0, flags: CompletionFlags::SUPPRESS, work });
        if handed.done {
            let _ = requests.complete_through(self.header.handle(), handed.mark);
        }
        Ok(true)
    }

    /// How many datagrams wait in this lane for its peer.
    pub(super) fn still_carried(&self) -> usize {
        let idle = self.requests().flight.is_empty();
        if idle {
            return 0;
        }
        self.drain_completions();
        let requests = self.requests();
        if requests.gate == Gate::Open { requests.flight.len() } else { 0 }
    }
}
