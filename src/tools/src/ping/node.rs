//! What either side has of its adapter, and waiting for what happens there.

use std::time::{Duration, Instant};

use anyhow::Result;
use dat_udat12::{DAT_EVD_CR_FLAG, DAT_FALSE};

use crate::dat::{Attributes, Cno, Evd, Evds, Event, Ia, Library, Pz};
use crate::interrupt::Interrupt;

/// An adapter with a zone and dispatchers, and one object to wait for all of these.
pub struct Node {
    pub ia: Ia,
    /// What it can do.
    pub attributes: Attributes,
    /// The zone of all memory.
    pub pz: Pz,
    /// The dispatchers of all endpoints.
    pub evds: Evds,
    /// The dispatcher of connection requests.
    pub requests: Evd,
    cno: Cno,
}

/// What ended a wait.
pub enum Happening {
    Event(Event),
    TimeUp,
    /// The tool is to end.
    Interrupted,
}

/// The longest sleep: a signal that comes just before it does not end it.
const NAP: Duration = Duration::from_millis(200);
/// Polls between two checks of the clock, each followed by a yield.
const POLLS: u32 = 64;

impl Node {
    /// Opens an adapter.
    ///
    /// # Parameters
    /// * `events` - events of each kind that can be under way at a time.
    pub fn open(library: Library, name: &str, events: usize) -> Result<Self> {
        let ia = Ia::open(library, name)?;
        let attributes = ia.attributes()?;
        let events = events.min(usize::try_from(attributes.ia.max_evd_qlen).unwrap_or(events));
        let cno = Cno::new(&ia)?;
        let evds = Evds::new(&ia, [events; 3], Some(&cno))?;
        let requests = Evd::new(&ia, events, DAT_EVD_CR_FLAG, Some(&cno))?;
        Ok(Self { attributes, pz: Pz::new(&ia)?, evds, requests, cno, ia })
    }

    /// Whether the adapter has shared receive queues.
    pub fn has_srq(&self) -> bool {
        self.attributes.provider.srq_supported != DAT_FALSE && self.attributes.ia.max_srqs > 0
    }

    /// Waits for the next event: ends of transfers before ends of connections, so that nothing that has arrived is missed.
    ///
    /// # Parameters
    /// * `poll` - poll for events instead of sleeping until one arrives.
    pub fn next(&self, until: Option<Instant>, interrupt: &Interrupt, poll: bool) -> Result<Happening> {
        let Evds { recv, request, connect } = &self.evds;
        let mut polls = 0_u32;
        loop {
            if interrupt.is_set() {
                return Ok(Happening::Interrupted);
            }
            for evd in [request, recv, connect, &self.requests] {
                if let Some(event) = evd.dequeue()? {
                    return Ok(Happening::Event(event));
                }
            }
            polls += 1;
            if poll && polls < POLLS {
                std::hint::spin_loop();
                continue;
            }
            polls = 0;
            let left = until.map_or(NAP, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(Happening::TimeUp);
            }
            if poll {
                std::thread::yield_now();
            } else {
                self.cno.wait(left.min(NAP))?;
            }
        }
    }
}
