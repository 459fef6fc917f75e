//! The queue of an event dispatcher, and the rules that say who is told of a new event.

use std::collections::VecDeque;
use std::sync::Arc;

use host::memory::{self, Room};

use crate::charge::Charge;
use crate::cno::Cno;
use crate::error::{Arg, Error, Refusal, Result};
use crate::event::{Event, Feed};
use crate::transport::Transport;
use crate::users::Use;
use crate::waker::Waker;

/// A queued event, and the entry of a shared receive queue that it keeps occupied.
pub(crate) struct Queued {
    pub event: Event,
    pub charge: Option<Charge>,
}

impl Queued {
    /// Settles the books when the program has taken the event: its buffer no longer counts.
    #[inline]
    pub fn settle(self) -> Event {
        drop(self.charge);
        self.event
    }
}

/// The result of offering an event: the waiter or object to tell once the lock is free.
pub(crate) enum Offer<T: Transport> {
    Full,
    Quiet,
    Wake(Arc<Waker>),
    Trigger(Arc<Cno<T>>),
}

/// The one thread that waits.
pub(crate) struct Wait {
    threshold: usize,
    announced: bool,
    waker: Option<Arc<Waker>>,
}

pub(crate) struct Queue<T: Transport> {
    events: VecDeque<Queued>,
    pub qlen: usize,
    pub enabled: bool,
    pub waitable: bool,
    pub dead: bool,
    pub wait: Option<Wait>,
    pub cno: Option<Use<Cno<T>>>,
    feeds: [usize; 3],
}

impl<T: Transport> Queue<T> {
    pub fn new(qlen: usize) -> Result<Self> {
        let events = VecDeque::from(memory::vec(qlen)?);
        Ok(Queue { events, qlen, enabled: true, waitable: true, dead: false, wait: None, cno: None, feeds: [0; 3] })
    }

    #[inline]
    pub fn offer(&mut self, event: Event, charge: Option<Charge>, announce: bool) -> Offer<T> {
        if self.events.len() >= self.qlen || self.dead {
            return Offer::Full;
        }
        self.events.push_back(Queued { event, charge });
        self.tell(announce)
    }

    /// Makes an event that is queued already a notification event.
    pub fn announce(&mut self) -> Offer<T> {
        if self.events.is_empty() || self.dead { Offer::Quiet } else { self.tell(true) }
    }

    /// The waiter or notification object to tell of an event that was just queued.
    fn tell(&mut self, announce: bool) -> Offer<T> {
        let waiting = self.wait.is_some();
        if let Some(wait) = &mut self.wait {
            wait.announced |= announce;
            if wait.announced && self.events.len() >= wait.threshold {
                return wait.waker.clone().map_or(Offer::Quiet, Offer::Wake);
            }
        }
        match &self.cno {
            Some(cno) if announce && self.enabled && !waiting => Offer::Trigger(cno.object().clone()),
            _ => Offer::Quiet,
        }
    }

    /// The oldest event, for a dequeue.
    pub fn take(&mut self) -> Result<Option<Queued>> {
        if self.wait.is_some() {
            return Err(Error::InvalidState(Refusal::EvdWaiter));
        }
        Ok(self.events.pop_front())
    }

    pub fn take_all(&mut self) -> VecDeque<Queued> {
        std::mem::take(&mut self.events)
    }

    /// Whether the queue can have `qlen` places now.
    pub fn check_resize(&self, qlen: usize) -> Result<()> {
        let waited_for = self.wait.as_ref().map_or(0, |wait| wait.threshold);
        if self.events.len() > qlen || waited_for > qlen {
            return Err(Error::InvalidState(Refusal::EvdTooShort));
        }
        Ok(())
    }

    pub fn resize(&mut self, qlen: usize) -> Result<()> {
        self.check_resize(qlen)?;
        let more = qlen.saturating_sub(self.events.len());
        self.events.room(more)?;
        self.qlen = qlen;
        Ok(())
    }

    pub fn waker(&self) -> Option<Arc<Waker>> {
        self.wait.as_ref().and_then(|wait| wait.waker.clone())
    }

    pub fn feed_count(&mut self, feed: Feed) -> &mut usize {
        &mut self.feeds[feed as usize]
    }

    /// The configuration that the streams agree on, or the one that restricts most.
    pub fn feed(&self) -> Option<Feed> {
        match self.feeds {
            [0, 0, 0] => None,
            [_, 0, 0] => Some(Feed::Threshold),
            [_, _, 0] => Some(Feed::Unsignalled),
            _ => Some(Feed::Solicited),
        }
    }
}

/// A waiting thread's view of the queue, under its lock.
pub(crate) struct WaitState<'a, T: Transport> {
    pub queue: &'a mut Queue<T>,
}

impl<T: Transport> WaitState<'_, T> {
    /// Makes the calling thread the waiter.
    pub fn enter(&mut self, threshold: usize) -> Result<()> {
        if self.queue.wait.is_some() {
            return Err(Error::InvalidState(Refusal::EvdWaiter));
        }
        if !self.queue.waitable {
            return Err(Error::InvalidState(Refusal::EvdUnwaitable));
        }
        if threshold == 0 || threshold > self.queue.qlen {
            return Err(Error::InvalidParameter(Arg::Threshold));
        }
        if threshold != 1 {
            match self.queue.feed() {
                Some(Feed::Unsignalled) => return Err(Error::InvalidState(Refusal::EvdConfigNotify)),
                Some(Feed::Solicited) => return Err(Error::InvalidState(Refusal::EvdConfigSolicited)),
                Some(Feed::Threshold) | None => {}
            }
        }
        // At entry every queued event counts, announced or not; after that only an announced one ends the wait.
        let announced = self.queue.events.len() >= threshold;
        self.queue.wait = Some(Wait { threshold, announced, waker: None });
        Ok(())
    }

    /// Whether fewer events are queued than a wait for `threshold` needs.
    pub fn is_short_of(&self, threshold: usize) -> bool {
        self.queue.events.len() < threshold
    }

    /// The result of the wait if it ends now; `None` if it goes on.
    pub fn check(&mut self) -> Option<Result<(Queued, usize)>> {
        if self.queue.dead {
            return Some(Err(Error::Aborted));
        }
        if !self.queue.waitable {
            return Some(Err(Error::InvalidState(Refusal::EvdUnwaitable)));
        }
        let wait = self.queue.wait.as_ref()?;
        if wait.announced && self.queue.events.len() >= wait.threshold {
            let queued = self.queue.events.pop_front()?;
            return Some(Ok((queued, self.queue.events.len())));
        }
        None
    }

    /// Notes that the thread is going to sleep.
    pub fn block(&mut self, waker: &Arc<Waker>) {
        if let Some(wait) = &mut self.queue.wait {
            wait.waker = Some(waker.clone());
        }
    }

    /// Ends the wait. Returns the number of events queued then.
    pub fn leave(&mut self) -> usize {
        self.queue.wait = None;
        self.queue.events.len()
    }
}
