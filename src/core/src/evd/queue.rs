//! The queue of an EVD, and the rules for wakeups by new events.

use std::mem;
use std::sync::Arc;

use host::memory::Room;

use crate::arena::Handle;
use crate::cno::Cno;
use crate::error::{Arg, Error, Result, StateError};
use crate::event::{AsyncReason, Completion, Event, Feed, Status, Transfer};
use crate::fifo::{Fifo, Vacancy};
use crate::probes;
use crate::srq_accounting::OutstandingRecv;
use crate::transport::Transport;
use crate::users::Use;
use crate::waker::Waker;

/// A queued event. A DTO completion has a field of its own, because copies of a whole [`Event`] are slow.
pub(crate) struct Queued {
    /// Valid unless `more` is [`More::Event`].
    pub(crate) completion: Completion,
    pub(crate) more: More,
}

/// Data of a DTO completion beyond [`Queued::completion`], or an event of another kind. The tag is one byte.
#[repr(u8)]
pub(crate) enum More {
    Nothing,
    /// The entry of an SRQ that the receive occupies.
    #[expect(dead_code)] // its drop counts
    OutstandingRecv(OutstandingRecv),
    Event(Event),
    /// The `extra` value of [`Event::Transfer`], and the entry of an SRQ that the receive occupies, if any.
    Extended(u32, #[expect(dead_code)] Option<OutstandingRecv>),
}

// Small, because a queue can contain thousands of events.
const _: () = assert!(size_of::<Queued>() == 72);

const NOTHING: Completion =
    Completion { ep: Handle::NULL, cookie: 0, len: 0, status: Status::Success, transfer: Transfer::Recv };

impl Queued {
    /// Returns a DTO completion. `charge` is the SRQ's entry that a receive occupies; otherwise `None`.
    #[inline(always)]
    pub fn transfer(completion: Completion, charge: Option<OutstandingRecv>) -> Self {
        // Faster than `map_or`.
        let more = match charge {
            Some(charge) => More::OutstandingRecv(charge),
            None => More::Nothing,
        };
        Queued { completion, more }
    }

    pub fn extended(completion: Completion, extra: u32, charge: Option<OutstandingRecv>) -> Self {
        Queued { completion, more: More::Extended(extra, charge) }
    }

    pub fn event(event: Event) -> Self {
        Queued { completion: NOTHING, more: More::Event(event) }
    }

    #[inline(never)]
    pub(crate) fn show_and_put(self, place: Vacancy<'_, Queued>) {
        match self.more {
            More::Event(Event::Bind { rmr, cookie, status }) => probes::bind_completed(rmr, cookie, status),
            More::Event(_) => {}
            More::Nothing | More::OutstandingRecv(_) | More::Extended(..) => probes::completed(&self.completion),
        }
        place.fill(self);
    }

    /// Returns the event, and frees the entry of an SRQ that a receive occupies.
    pub fn settle(self) -> Event {
        let extra = match self.more {
            More::Event(event) => return event,
            More::Nothing | More::OutstandingRecv(_) => 0,
            More::Extended(extra, _) => extra,
        };
        let Completion { ep, cookie, len, status, transfer } = self.completion;
        Event::Transfer { ep, cookie, status, len, transfer, extra }
    }

    /// Frees the SRQ's entry of a DTO completion. Returns `false`, without effect, for extended and other events.
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

/// The wakeup for new events, performed after the queue is unlocked.
pub(crate) enum PendingWakeup<T: Transport> {
    Nobody,
    Waiter(Arc<Waker>),
    /// The CNO, and the number of triggers.
    Object(Arc<Cno<T>>, usize),
}

pub(crate) struct Wait {
    threshold: usize,
    announced: bool,
    /// Set when the EVD becomes unwaitable. Ends the wait even if the EVD becomes waitable again.
    refused: bool,
    waker: Option<Arc<Waker>>,
}

/// Reasons to take no event: the bits of `Queue::refused`, which fast paths check together.
pub(crate) mod refuses {
    /// A thread waits, so no other thread may take an event.
    pub const ALL: u8 = 1;
    pub const WAITS: u8 = 2;
    /// Late events wait for a freed place, to which only `Queue::pop` moves them. So fast paths take no event.
    pub const LATE: u8 = 4;
}

/// Equal asynchronous events of an object, which wait because the queue has had no room for them.
struct Late {
    object: Handle,
    reason: AsyncReason,
    count: u64,
}

pub(crate) struct Queue<T: Transport> {
    pub(crate) events: Fifo<Queued>,
    /// Empty unless the queue is full. One entry for each object and reason, so the number of objects bounds its
    /// length.
    late: Vec<Late>,
    pub qlen: usize,
    pub enabled: bool,
    pub(crate) refused: u8,
    pub dead: bool,
    pub(crate) wait: Option<Wait>,
    cno: Option<Use<Cno<T>>>,
    /// `true` if there is a waiter or a CNO.
    pub(crate) watched: bool,
    /// Number of endpoints' streams that complete on the EVD, by [`Feed`].
    pub feeds: [usize; 3],
    /// Number of request streams that complete on the EVD, plus one if the EVD accepts asynchronous events. If it is
    /// not 0, completions of requests must wake a waiter.
    pub requests: usize,
    /// Number of waits that took a queued DTO completion immediately. Neither `waits` nor `waited_for` counts them.
    pub(crate) quick_waits: u64,
    waits: u64,
    waited_for: u64,
    /// Private data of the last dequeued event that had some. Kept, because the program may still refer to it.
    shown: Option<Arc<[u8]>>,
}

impl<T: Transport> Queue<T> {
    pub fn new(qlen: usize) -> Result<Self> {
        let mut events = Fifo::default();
        events.reserve(qlen)?;
        Ok(Queue {
            events,
            late: Vec::new(),
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

    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.events.is_empty() || self.wait.is_some()
    }

    /// Returns the number of waits, and the number of events that were taken without a wait.
    pub fn counts(&self) -> (u64, u64) {
        let by_waits = self.quick_waits + self.waited_for;
        (self.quick_waits + self.waits, (self.events.taken() as u64).saturating_sub(by_waits))
    }

    fn set_wait(&mut self, wait: Option<Wait>) {
        self.refuse(refuses::ALL, wait.is_some());
        self.wait = wait;
        self.watched = self.wait.is_some() || self.cno.is_some();
    }

    pub fn cno(&self) -> Option<&Use<Cno<T>>> {
        self.cno.as_ref()
    }

    pub fn set_cno(&mut self, cno: Option<Use<Cno<T>>>) -> Option<Use<Cno<T>>> {
        let former = mem::replace(&mut self.cno, cno);
        self.watched = self.wait.is_some() || self.cno.is_some();
        former
    }

    pub fn announce(&mut self) -> PendingWakeup<T> {
        if self.events.is_empty() || self.dead { PendingWakeup::Nobody } else { self.tell(1) }
    }

    /// Returns the wakeup for new events, of which `announced` are notification events.
    #[cold]
    #[inline(never)]
    pub fn tell(&mut self, announced: usize) -> PendingWakeup<T> {
        if let Some(wait) = self.wait.as_mut().filter(|wait| !wait.refused) {
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

    pub fn take(&mut self) -> Result<Queued> {
        if self.wait.is_some() {
            return Err(Error::InvalidState(StateError::EvdWaiter));
        }
        self.pop().ok_or(Error::QueueEmpty)
    }

    fn pop(&mut self) -> Option<Queued> {
        let queued = self.events.pop()?;
        if !self.late.is_empty() {
            self.admit_late();
        }
        match &queued.more {
            More::Event(Event::Connection { private_data: Some(data), .. }) => self.shown = Some(data.clone()),
            More::Event(Event::Peer { peer, .. }) => self.shown = peer.private_data.clone().or(self.shown.take()),
            _ => {}
        }
        Some(queued)
    }

    /// Removes and returns all events, and the private data in `shown`, so that the caller drops them without the lock.
    pub fn take_all(&mut self) -> (Fifo<Queued>, impl Sized + use<T>) {
        (mem::take(&mut self.events), self.shown.take())
    }

    pub fn is_waitable(&self) -> bool {
        self.refused & refuses::WAITS == 0
    }

    pub fn set_waitable(&mut self, waitable: bool) {
        self.refuse(refuses::WAITS, !waitable);
    }

    fn refuse(&mut self, bit: u8, on: bool) {
        self.refused = if on { self.refused | bit } else { self.refused & !bit };
    }

    pub fn refuse_waits(&mut self) -> Option<Arc<Waker>> {
        self.set_waitable(false);
        if let Some(wait) = &mut self.wait {
            wait.refused = true;
        }
        self.waker()
    }

    /// Keeps an asynchronous event until there is room. Returns `false` if it is lost.
    fn delay(&mut self, object: Handle, reason: AsyncReason) -> bool {
        if let Some(late) = self.late.iter_mut().find(|late| late.object == object && late.reason == reason) {
            late.count += 1;
            return true;
        }
        if self.dead || self.late.room(1).is_err() {
            return false;
        }
        self.late.push(Late { object, reason, count: 1 });
        self.refuse(refuses::LATE, true);
        true
    }

    /// Queues late events while there is room. A waiter or the CNO was notified when the events were raised.
    #[cold]
    fn admit_late(&mut self) {
        while !self.events.is_full() {
            let Some(Late { object, reason, count }) = self.late.first_mut() else { break };
            let event = Event::Async { object: *object, reason: *reason };
            *count -= 1;
            if *count == 0 {
                self.late.remove(0);
            }
            self.add(|| Queued::event(event));
        }
        self.refuse(refuses::LATE, !self.late.is_empty());
    }

    /// Removes the late events of a freed object.
    pub fn forget_late(&mut self, object: Handle) {
        self.late.retain(|late| late.object != object);
        self.refuse(refuses::LATE, !self.late.is_empty());
    }

    /// Marks the EVD as freed. Later events are lost.
    pub fn die(&mut self) {
        self.dead = true;
        self.late = Vec::new();
        self.events.limit(0);
    }

    pub fn resize(&mut self, qlen: usize) -> Result<()> {
        let waited_for = self.wait.as_ref().map_or(0, |wait| wait.threshold);
        if self.events.len() > qlen || waited_for > qlen {
            return Err(Error::InvalidState(StateError::EvdTooShort));
        }
        self.events.reserve(qlen)?;
        self.qlen = qlen;
        if self.dead {
            self.events.limit(0);
        }
        self.admit_late();
        Ok(())
    }

    pub fn waker(&self) -> Option<Arc<Waker>> {
        self.wait.as_ref().and_then(|wait| wait.waker.clone())
    }

    /// Returns the most restrictive configuration of the streams in `feeds`; `None` without a stream.
    pub fn feed(&self) -> Option<Feed> {
        match self.feeds {
            [0, 0, 0] => None,
            [_, 0, 0] => Some(Feed::Threshold),
            [_, _, 0] => Some(Feed::Unsignalled),
            _ => Some(Feed::Solicited),
        }
    }
}

/// Adds events to a locked queue. [`Batch::end`] returns the wakeup for all of them.
pub(crate) struct Batch<'a, T: Transport> {
    queue: &'a mut Queue<T>,
    announced: usize,
    lost: usize,
}

impl<'a, T: Transport> Batch<'a, T> {
    pub(super) fn new(queue: &'a mut Queue<T>) -> Self {
        Batch { queue, announced: 0, lost: 0 }
    }

    /// Adds an event, which is lost if the queue is full.
    pub fn add(&mut self, queued: Queued, notifies: bool) {
        if self.queue.add(|| queued) {
            self.announced += usize::from(notifies);
        } else {
            self.lost += 1;
        }
    }

    /// Adds an asynchronous event, which waits until there is room if the queue is full. Returns whether it waits.
    pub fn add_or_delay(&mut self, object: Handle, reason: AsyncReason) -> bool {
        let added = self.queue.add(|| Queued::event(Event::Async { object, reason }));
        let waits = !added && self.queue.delay(object, reason);
        self.announced += usize::from(added || waits);
        self.lost += usize::from(!added && !waits);
        waits
    }

    /// Returns the number of lost events, and the wakeup for the others.
    pub(super) fn end(self) -> (usize, Option<PendingWakeup<T>>) {
        (self.lost, self.queue.watched.then(|| self.queue.tell(self.announced)))
    }
}

impl<T: Transport> Queue<T> {
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
        // When a wait begins, all queued events count. Later, only a notification event can end the wait.
        let announced = self.events.len() >= threshold;
        self.set_wait(Some(Wait { threshold, announced, refused: false, waker: None }));
        self.waits += 1;
        Ok(())
    }

    /// Returns the result of the wait, with the number of remaining events; `None` if the wait continues.
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

    /// Registers the waker, unless the wait has one. Returns whether completions of requests must wake the thread.
    pub fn block(&mut self, waker: &Arc<Waker>) -> bool {
        if let Some(wait) = &mut self.wait {
            if wait.waker.is_none() {
                wait.waker = Some(waker.clone());
            }
        }
        self.requests > 0
    }

    /// Ends the wait. Returns the number of queued events.
    pub fn end_wait(&mut self) -> usize {
        self.set_wait(None);
        self.events.len()
    }
}
