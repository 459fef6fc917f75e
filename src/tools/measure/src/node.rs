//! An adapter with its dispatchers, and the wait for their events.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dat::sys::DAT_EVD_CR_FLAG;
use dat::{Attributes, Cno, Evd, Evds, Event, Ia, Psp, Pz};

use crate::interrupt::Interrupt;
use crate::stop::Stop;

/// An adapter, dispatchers that all its endpoints share, and the notification object of all dispatchers.
pub struct Node {
    /// The attributes of the adapter.
    pub attributes: Attributes,
    /// The protection zone of all endpoints.
    pub pz: Pz,
    /// The dispatchers of all endpoints.
    pub evds: Evds,
    requests: Evd,
    cno: Cno,
    /// The adapter.
    pub ia: Ia,
}

/// Maximum duration of a sleep, after which the interrupt is checked: a signal just before the sleep does not end it.
const MAX_SLEEP: Duration = Duration::from_millis(200);
/// Number of polls of all dispatchers before a polling thread checks the clock and yields the CPU.
const POLLS: u32 = 64;

impl Node {
    /// Creates the objects of an open adapter, with up to `events` queued events of each kind.
    pub fn new(ia: &Ia, events: usize) -> Result<Self> {
        let attributes = ia.attributes()?;
        let events = events.min(usize::try_from(attributes.ia.max_evd_qlen).unwrap_or(events));
        let cno = Cno::new(ia)?;
        let evds = Evds::new(ia, [events; 3], Some(&cno))?;
        let requests = Evd::new(ia, events, DAT_EVD_CR_FLAG, Some(&cno))?;
        Ok(Self { attributes, pz: Pz::new(ia)?, evds, requests, cno, ia: ia.clone() })
    }

    /// Returns whether the adapter supports shared receive queues.
    pub fn has_srq(&self) -> bool {
        self.attributes.provider.srq_supported && self.attributes.ia.max_srqs > 0
    }

    /// Listens on `qualifier`, or on any free qualifier if it is `None`.
    pub fn listen(&self, qualifier: Option<u64>) -> Result<Psp> {
        Psp::new(&self.ia, qualifier, &self.requests).with_context(|| match qualifier {
            Some(qualifier) => format!("qualifier {qualifier}: cannot listen; --qualifier selects another"),
            None => "cannot listen on any qualifier".to_owned(),
        })
    }

    /// Waits for the next event: polls if `poll` is set, otherwise sleeps. Returns `None` at the time `until`. Takes
    /// completions first, so they precede the end of their connection, unless both arrive during the polls.
    pub fn next(&self, until: Option<Instant>, interrupt: &Interrupt, poll: bool) -> Result<Option<Event>, Stop> {
        let Evds { recv, request, connect } = &self.evds;
        let mut polls = 0_u32;
        loop {
            if interrupt.is_set() {
                return Err(Stop::Interrupted);
            }
            for evd in [request, recv, connect, &self.requests] {
                if let Some(event) = evd.dequeue()? {
                    return Ok(Some(event));
                }
            }
            polls += 1;
            if poll && polls < POLLS {
                std::hint::spin_loop();
                continue;
            }
            polls = 0;
            let left = until.map_or(MAX_SLEEP, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            if poll {
                std::thread::yield_now();
            } else {
                self.cno.wait(left.min(MAX_SLEEP))?;
            }
        }
    }
}
