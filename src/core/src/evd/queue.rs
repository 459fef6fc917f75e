//! The queue of an event dispatcher, and the rules that say which new event wakes which thread.

use std::mem;
use std::sync::Arc;

use crate::cno::Cno;
use crate::error::{Arg, Error, Result, StateError};
use crate::event::{Completion, Event, Extended, Feed, Status, Transfer};
use crate::fifo::{Fifo, Vacancy};
use crate::probes;
use crate::slab::Handle;
use crate::srq_accounting::OutstandingRecv;
use crate::transport::Transport;
use crate::users::Use;
use crate::waker::Waker;

/// An event that is queued: what has ended, or something else that has happened. The end of a transfer lies in plain words,
/// because an [`Event`] as a whole would be copied on its way.
pub(crate) struct Queued {
    /// Meaningless if there is another event.
    pub(crate) completion: Completion,
    pub(crate) more: More,
}

/// What belongs to the end of a transfer, or is queued in its place. One byte of its own says which.
#[repr(u8)]
pub(crate) enum More {
    Nothing,
    /// The entry of a shared receive queue that it keeps occupied.
    #[expect(dead_code)] // its drop counts
    OutstandingRecv(OutstandingRecv),
    /// Another event.
    Event(Event),
    /// The kind of a transfer that has the event [`Event::Extended`], what it brought, and the entry of a shared receive
    /// queue that it keeps occupied.
    Extended(Extended, u32, #[expect(dead_code)] Option<OutstandingRecv>),
}

// Programs ask for queues of thousands of events.
const _: () = assert!(size_of::<Queued>() == 72);

/// No transfer, beside another event.
const NOTHING: Completion =
    Completion { ep: Handle::NULL, cookie: 0, len: 0, status: Status::Success, transfer: Transfer::Recv };

impl Queued {
    /// The end of a transfer. `charge` is that of a buffer of a shared receive queue.
    #[inline(always)]
    pub fn transfer(completion: Completion, charge: Option<OutstandingRecv>) -> Self {
        Queued { completion, more: charge.map_or(More::Nothing, More::OutstandingRecv) }
    }

    /// The end of a transfer that has the event [`Event::Extended`], with what it brought.
    pub fn extended(completion: Completion, kind: Extended, extra: u32, charge: Option<OutstandingRecv>) -> Self {
        Queued { completion, more: More::Extended(kind, extra, charge) }
    }

    /// Another event.
    pub fn event(event: Event) -> Self {
        Queued { completion: NOTHING, more: More::Event(event) }
    }

    /// Shows it to a tracer, if it is the end of a request or a receive, and puts it into its place.
    #[inline(never)]
    pub(crate) fn show_and_put(self, place: Vacancy<'_, Queued>) {
        match self.more {
            More::Event(Event::Bind { rmr, cookie, status }) => probes::bind_completed(rmr, cookie, status),
            More::Event(_) => {}
            More::Nothing | More::OutstandingRecv(_) | More::Extended(..) => probes::completed(&self.completion),
        }
        place.fill(self);
    }

    /// Settles the books when the program has taken the event: its buffer no longer counts.
    pub fn settle(self) -> Event {
        match self.more {
            More::Event(event) => event,
            More::Nothing | More::OutstandingRecv(_) => self.completion.into(),
            More::Extended(operation, extra, _) => {
                let Completion { ep, cookie, len, status, transfer: _ } = self.completion;
                Event::Extended { ep, cookie, status, len, operation, extra }
            }
        }
    }

    /// Settles the books when the program takes the end of a transfer, which is left in its place; false if this is another
    /// event.
    #[inline(always)]
    pub(crate) fn release(&mut self) -> bool {
        if !matches!(self.more, More::Nothing) {
            if !matches!(self.more, More::OutstandingRecv(_)) {
                return false;
            }
            self.more = More::Nothing;
        }
        true
    }
}

/// What to wake for new events, once the lock is free.
pub(crate) enum PendingWakeup<T: Transport> {
    Nobody,
    Waiter(Arc<Waker>),
    /// The notification object, and how often it is triggered.
    Object(Arc<Cno<T>>, usize),
}

/// The one thread that waits.
pub(crate) struct Wait {
    threshold: usize,
    announced: bool,
    /// The dispatcher was made unwaitable, which ends the wait even if it is waitable again by now.
    refused: bool,
    waker: Option<Arc<Waker>>,
}

/// The bits that say who gets no event. They lie together, so that a wait looks at them once.
pub(crate) mod refuses {
    /// Everybody, because a thread waits.
    pub const ALL: u8 = 1;
    /// Waits, because the dispatcher is not waitable.
    pub const WAITS: u8 = 2;
}

pub(crate) struct Queue<T: Transport> {
    pub(crate) events: Fifo<Queued>,
    pub qlen: usize,
    pub enabled: bool,
    /// Who may not take or wait for events now: bits of [`refuses`].
    pub(crate) refused: u8,
    dead: bool,
    pub(crate) wait: Option<Wait>,
    cno: Option<Use<Cno<T>>>,
    /// Whether there is a waiter or a notification object, which a new event may have to wake.
    pub(crate) watched: bool,
    /// The streams of endpoints that feed the dispatcher, by [`Feed`].
    pub feeds: [usize; 3],
    /// The endpoints whose requests complete here, and one more for asynchronous events, which such completions may cause.
    pub requests: usize,
    /// Waits that found the end of a transfer there, all others, and the events that these took.
    pub(crate) quick_waits: u64,
    waits: u64,
    waited_for: u64,
    /// The private data of the last event taken that had some. The program was given their address, and the endpoint may
    /// have been reset before.
    shown: Option<Arc<[u8]>>,
}

impl<T: Transport> Queue<T> {
    pub fn new(qlen: usize) -> Result<Self> {
        let mut events = Fifo::default();
        events.reserve(qlen)?;
        Ok(Queue {
            events,
            qlen,
            enabled: true,
            refused: 0,
            dead: false,
            wait: None,
            cno: None,
            watched: false,
            feeds: [0; 3],
            requests: 0,
            quick_waits: 0,
            waits: 0,
            waited_for: 0,
            shown: None,
        })
    }

    /// The number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether a dequeue has something to find: an event, or a thread that waits.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.events.is_empty() || self.wait.is_some()
    }

    /// How many waits there were, and how many events were taken by others than waits.
    pub fn counts(&self) -> (u64, u64) {
        let by_waits = self.quick_waits + self.waited_for;
        (self.quick_waits + self.waits, (self.events.taken() as u64).saturating_sub(by_waits))
    }

    /// Whether a thread waits.
    #[inline(always)]
    pub fn has_waiter(&self) -> bool {
        self.wait.is_some()
    }

    fn set_wait(&mut self, wait: Option<Wait>) {
        self.refuse(refuses::ALL, wait.is_some());
        self.wait = wait;
        self.watched = self.wait.is_some() || self.cno.is_some();
    }

    /// The notification object.
    pub fn cno(&self) -> Option<&Use<Cno<T>>> {
        self.cno.as_ref()
    }

    /// Replaces the notification object; returns the former one.
    pub fn set_cno(&mut self, cno: Option<Use<Cno<T>>>) -> Option<Use<Cno<T>>> {
        let former = mem::replace(&mut self.cno, cno);
        self.watched = self.wait.is_some() || self.cno.is_some();
        former
    }

    /// Makes an event that is queued already a notification event.
    pub fn announce(&mut self) -> PendingWakeup<T> {
        if self.events.is_empty() || self.dead { PendingWakeup::Nobody } else { self.tell(1) }
    }

    /// What to wake for events that were just queued, of which `announced` are notification events.
    #[cold]
    #[inline(never)]
    pub fn tell(&mut self, announced: usize) -> PendingWakeup<T> {
        if let Some(wait) = &mut self.wait {
            wait.announced |= announced > 0;
            if wait.announced && self.events.len() >= wait.threshold {
                return wait.waker.clone().map_or(PendingWakeup::Nobody, PendingWakeup::Waiter);
            }
            return PendingWakeup::Nobody;
        }
        match &self.cno {
            Some(cno) if announced > 0 && self.enabled => PendingWakeup::Object(cno.object().clone(), announced),
            _ => PendingWakeup::Nobody,
        }
    }

    /// Takes the oldest event, for a dequeue.
    pub fn take(&mut self) -> Result<Queued> {
        if self.wait.is_some() {
            return Err(Error::InvalidState(StateError::EvdWaiter));
        }
        self.pop().ok_or(Error::QueueEmpty)
    }

    /// Takes the oldest event, and keeps its private data until others are taken.
    fn pop(&mut self) -> Option<Queued> {
        let queued = self.events.pop()?;
        match &queued.more {
            More::Event(Event::Connection { private_data: Some(data), .. }) => self.shown = Some(data.clone()),
            More::Event(Event::Peer { peer, .. }) => self.shown = peer.private_data().cloned().or(self.shown.take()),
            _ => {}
        }
        Some(queued)
    }

    /// Takes all events, and the private data of those taken before; they are gone with what this returns.
    pub fn take_all(&mut self) -> impl Sized + use<T> {
        (mem::take(&mut self.events), self.shown.take())
    }

    /// Whether threads may wait.
    pub fn is_waitable(&self) -> bool {
        self.refused & refuses::WAITS == 0
    }

    /// Lets threads wait from now on, or not.
    pub fn set_waitable(&mut self, waitable: bool) {
        self.refuse(refuses::WAITS, !waitable);
    }

    fn refuse(&mut self, bit: u8, on: bool) {
        self.refused = if on { self.refused | bit } else { self.refused & !bit };
    }

    /// Ends the wait, and admits no other one.
    pub fn refuse_waits(&mut self) {
        self.set_waitable(false);
        if let Some(wait) = &mut self.wait {
            wait.refused = true;
        }
    }

    /// Whether the dispatcher is being freed.
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Takes no more events.
    pub fn die(&mut self) {
        self.dead = true;
        self.events.limit(0);
    }

    /// Whether the queue can have `qlen` places now.
    pub fn check_resize(&self, qlen: usize) -> Result<()> {
        let waited_for = self.wait.as_ref().map_or(0, |wait| wait.threshold);
        if self.events.len() > qlen || waited_for > qlen {
            return Err(Error::InvalidState(StateError::EvdTooShort));
        }
        Ok(())
    }

    pub fn resize(&mut self, qlen: usize) -> Result<()> {
        self.check_resize(qlen)?;
        self.events.reserve(qlen)?;
        self.qlen = qlen;
        if self.dead {
            self.events.limit(0);
        }
        Ok(())
    }

    pub fn waker(&self) -> Option<Arc<Waker>> {
        self.wait.as_ref().and_then(|wait| wait.waker.clone())
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

/// Events on their way into a queue, under its lock. What they wake is woken once the lock is free.
pub(crate) struct Batch<'a, T: Transport> {
    queue: &'a mut Queue<T>,
    announced: usize,
    lost: usize,
}

impl<'a, T: Transport> Batch<'a, T> {
    pub(super) fn new(queue: &'a mut Queue<T>) -> Self {
        Batch { queue, announced: 0, lost: 0 }
    }

    /// Adds an event; `notifies` makes it a notification event. An event that finds no room is lost.
    pub fn add(&mut self, queued: Queued, notifies: bool) {
        if self.queue.add(|| queued) {
            self.announced += usize::from(notifies);
        } else {
            self.lost += 1;
        }
    }

    /// The number of events that were lost, and what to wake for the others.
    pub(super) fn end(self) -> (usize, Option<PendingWakeup<T>>) {
        (self.lost, self.queue.watched.then(|| self.queue.tell(self.announced)))
    }
}

/// What a waiting thread does with the queue, under its lock.
impl<T: Transport> Queue<T> {
    /// Makes the calling thread the waiter.
    pub fn begin_wait(&mut self, threshold: usize) -> Result<()> {
        if self.wait.is_some() {
            return Err(Error::InvalidState(StateError::EvdWaiter));
        }
        if !self.is_waitable() {
            return Err(Error::InvalidState(StateError::EvdUnwaitable));
        }
        if threshold == 0 || threshold > self.qlen {
            return Err(Error::InvalidParameter(Arg::Threshold));
        }
        if threshold != 1 {
            match self.feed() {
                Some(Feed::Unsignalled) => return Err(Error::InvalidState(StateError::EvdConfigNotify)),
                Some(Feed::Solicited) => return Err(Error::InvalidState(StateError::EvdConfigSolicited)),
                Some(Feed::Threshold) | None => {}
            }
        }
        // At entry every queued event counts, announced or not; after that only an announced one ends the wait.
        let announced = self.events.len() >= threshold;
        self.set_wait(Some(Wait { threshold, announced, refused: false, waker: None }));
        self.waits += 1;
        Ok(())
    }

    /// The result of the wait if it ends now; `None` if it goes on.
    pub fn check_wait(&mut self) -> Option<Result<(Queued, usize)>> {
        if self.dead {
            return Some(Err(Error::Aborted));
        }
        let wait = self.wait.as_ref()?;
        if wait.refused {
            return Some(Err(Error::InvalidState(StateError::EvdUnwaitable)));
        }
        if wait.announced && self.events.len() >= wait.threshold {
            let queued = self.pop()?;
            self.waited_for += 1;
            return Some(Ok((queued, self.events.len())));
        }
        None
    }

    /// Notes that the thread is going to sleep. Returns whether the completions of any endpoint's requests arrive here.
    pub fn block(&mut self, waker: &Arc<Waker>) -> bool {
        if let Some(wait) = &mut self.wait {
            if wait.waker.is_none() {
                wait.waker = Some(waker.clone());
            }
        }
        self.requests > 0
    }

    /// Ends the wait. Returns the number of events queued then.
    pub fn end_wait(&mut self) -> usize {
        self.set_wait(None);
        self.events.len()
    }
}
