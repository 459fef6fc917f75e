//! Event dispatchers: each is one queue to the program, whatever feeds it.
//!
//! The lock on the queue is held for moving one event, or those of one report; endpoints share it only if the program
//! ties them to one EVD. A word says whether there is an event or a waiter. A dequeue that finds neither polls the
//! transport once, reads the word again, and returns without this lock; the transport takes what locks its poll
//! needs. The end of a transfer that every version knows lies in the queue in plain words and goes into the program's
//! structure field by field; ends of other transfers are [`Event::Extended`].
//!
//! The EVD for the connection events of an endpoint may belong to another adapter of the library, since no transport
//! has a part in it. The endpoint counts as a user. An abrupt close of that adapter frees it all the same; later events
//! are dropped, and the endpoint finds that it has none (`Use::is_gone`).

mod queue;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use host::lock::{Mutex, MutexGuard};

use queue::PendingWakeup;
pub(crate) use queue::{Batch, More, Queue, Queued, refuses};

use crate::adaptive_spin::AdaptiveSpin;
use crate::attached_data::AttachedData;
use crate::cno::Cno;
use crate::error::{Arg, Error, Resource, Result, Role, StateError};
use crate::event::{AsyncReason, Event, Feed, Streams};
use crate::ia::Ia;
use crate::slab::{Header, Kind};
use crate::transport::{Poll, Transport};
use crate::users::Use;

/// The parameters of a dispatcher that change, as a query shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvdStatus {
    /// Events that it has room for.
    pub qlen: usize,
    /// Whether it triggers its notification object.
    pub enabled: bool,
    /// Whether threads may wait on it.
    pub waitable: bool,
    /// The configuration of the endpoints that feed it; `None` without any.
    pub feed: Option<Feed>,
}

/// What a dispatcher has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvdCounts {
    /// Waits that were let in.
    pub waits: u64,
    /// Those of them that have slept.
    pub slept: u64,
    /// Events that were taken without a wait.
    pub dequeued: u64,
    /// Events of connections that it was given.
    pub connection_events: u64,
}

/// An event dispatcher.
pub struct Evd<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    /// The streams it admits.
    pub streams: Streams,
    /// The transport's side of it, if it admits transfers.
    pub(crate) cq: Option<T::Cq>,
    pub(crate) queue: Mutex<Queue<T>>,
    /// Whether the queue holds an event or a thread waits: if not, a dequeue need not lock it. Changed under its lock.
    pub(crate) busy: AtomicBool,
    /// Whether the adapter that made it is gone while another one still uses it.
    orphan: AtomicBool,
    /// What its last waits were like.
    pub(crate) adaptive_spin: AdaptiveSpin,
    /// Waits that have slept.
    pub(crate) slept: AtomicU64,
    /// Connection events that it was given.
    connection_events: AtomicU64,
    /// What the face keeps of its counters.
    pub counter_baseline: AttachedData,
    /// Held by who changes its notification object, and what that knows of it.
    tie: Mutex<()>,
}

impl<T: Transport> Evd<T> {
    /// Makes a dispatcher for at least `qlen` events.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0, [`Arg::Streams`] for no stream,
    /// [`Error::InsufficientResources`] for more than the adapter's limit.
    pub fn create(ia: &Arc<Ia<T>>, qlen: usize, cno: Option<&Arc<Cno<T>>>, streams: Streams) -> Result<Arc<Self>> {
        if qlen == 0 {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        if streams.is_empty() {
            return Err(Error::InvalidParameter(Arg::Streams));
        }
        if qlen > ia.transport.attributes().max_evd_qlen {
            return Err(Error::InsufficientResources(Resource::Evd));
        }
        ia.room_for(Kind::Evd)?;
        let cq = streams.contains(Streams::TRANSFERS).then(|| ia.transport.cq_create(qlen)).transpose()?;
        let cno = cno.map(|cno| Use::of(cno).ok_or(Error::InvalidHandle(Role::Cno))).transpose()?;
        let mut queue = Queue::new(qlen)?;
        // An asynchronous event may report that the completion of a request has found no room.
        queue.requests += usize::from(streams.contains(Streams::ASYNC));
        let evd = ia.adopt(Evd {
            header: Header::default(),
            ia: ia.clone(),
            streams,
            cq,
            queue: Mutex::new(queue),
            busy: AtomicBool::new(false),
            orphan: AtomicBool::new(false),
            adaptive_spin: AdaptiveSpin::default(),
            slept: AtomicU64::new(0),
            connection_events: AtomicU64::new(0),
            counter_baseline: AttachedData::default(),
            tie: Mutex::default(),
        })?;
        if let Some(cno) = cno {
            if let Err(error) = cno.attach(evd.header.handle()) {
                evd.free_anyway();
                ia.discount(Kind::Evd);
                return Err(error);
            }
            evd.queue().set_cno(Some(cno));
        }
        log::debug!(
            target: host::diagnostics::EVD,
            "event dispatcher {}: made, with room for {qlen} events",
            evd.header.handle(),
        );
        Ok(evd)
    }

    /// Frees the dispatcher and what is queued on it.
    ///
    /// # Errors
    /// [`StateError::EvdInUse`] while a stream feeds it, [`StateError::EvdWaiter`] while a
    /// thread waits on it.
    pub fn free(&self) -> Result<()> {
        {
            // A thread that comes to wait needs this lock: it is seen here, or finds the dispatcher freed.
            let queue = self.queue();
            let waiter = queue.has_waiter();
            if waiter && self.header.users.count() == 0 {
                return Err(Error::InvalidState(StateError::EvdWaiter));
            }
            if waiter || !self.header.users.retire() {
                return Err(Error::InvalidState(StateError::EvdInUse));
            }
        }
        self.reclaim();
        Ok(())
    }

    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.reclaim();
    }

    fn reclaim(&self) {
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {}: freed", self.header.handle());
        // The notification object knows it by its handle, also below.
        let _dying = self.ia.disown(self);
        let _tie = self.tie.lock();
        let (events, cno, waker) = {
            let mut queue = self.queue();
            queue.die();
            (queue.take_all(), queue.set_cno(None), queue.waker())
        };
        drop(events);
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(cno) = cno {
            cno.detach(self.header.handle());
            cno.forget(self.header.handle());
        }
    }

    /// Notes that the adapter that made this dispatcher is gone while another one still uses it; the dispatcher ends
    /// with the last such use ([`AsyncOutlet`](crate::ia::AsyncOutlet)).
    pub(crate) fn orphan(&self) {
        self.orphan.store(true, Ordering::Release);
    }

    /// Ends the dispatcher if it has no other user and its adapter is gone.
    pub(crate) fn free_if_orphaned(&self) {
        if self.orphan.load(Ordering::Acquire) && self.header.users.retire() {
            self.reclaim();
        }
    }

    /// Its changing parameters.
    pub fn status(&self) -> EvdStatus {
        let queue = self.queue();
        EvdStatus { qlen: queue.qlen, enabled: queue.enabled, waitable: queue.is_waitable(), feed: queue.feed() }
    }

    /// Its notification object.
    pub fn cno(&self) -> Option<Arc<Cno<T>>> {
        self.queue().cno().map(|cno| cno.object().clone())
    }

    /// Ties the dispatcher to another notification object, or to none. Events queued already do not
    /// trigger it.
    ///
    /// # Errors
    /// [`Role::Cno`] if that is being freed, [`Role::Evd`] if the dispatcher is, [`Resource::Memory`].
    pub fn modify_cno(&self, cno: Option<&Arc<Cno<T>>>) -> Result<()> {
        let new = cno.map(|cno| Use::of(cno).ok_or(Error::InvalidHandle(Role::Cno))).transpose()?;
        let _tie = self.tie.lock();
        if self.queue().is_dead() {
            return Err(Error::InvalidHandle(Role::Evd));
        }
        if let Some(new) = &new {
            new.attach(self.header.handle())?;
        }
        let old = self.queue().set_cno(new);
        if let Some(old) = old {
            let same = cno.is_some_and(|cno| Arc::ptr_eq(cno, old.object()));
            if !same {
                old.detach(self.header.handle());
            }
        }
        Ok(())
    }

    /// Lets events trigger the notification object.
    pub fn enable(&self) {
        self.queue().enabled = true;
    }

    /// Keeps events from triggering the notification object.
    pub fn disable(&self) {
        self.queue().enabled = false;
    }

    /// Keeps threads from waiting; one that waits returns.
    pub fn set_unwaitable(&self) {
        let waker = {
            let mut queue = self.queue();
            queue.refuse_waits();
            queue.waker()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Lets threads wait again.
    pub fn clear_unwaitable(&self) {
        self.queue().set_waitable(true);
    }

    /// Changes the capacity to at least `qlen` events. Loses no event.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0, [`StateError::EvdTooShort`] if more events are queued or a
    /// thread waits for more, [`Error::InsufficientResources`] above the adapter's limit.
    pub fn resize(&self, qlen: usize) -> Result<()> {
        if qlen == 0 {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        if qlen > self.ia.transport.attributes().max_evd_qlen {
            return Err(Error::InsufficientResources(Resource::Evd));
        }
        self.queue().resize(qlen)?;
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {}: room for {qlen} events", self.header.handle());
        Ok(())
    }

    /// Queues a software event.
    ///
    /// # Errors
    /// [`Arg::Evd`] if the dispatcher does not admit software events,
    /// [`Error::QueueFull`].
    pub fn post_software(&self, pointer: usize) -> Result<()> {
        if !self.streams.contains(Streams::SOFTWARE) {
            return Err(Error::InvalidParameter(Arg::Evd));
        }
        if self.offer(Event::Software { pointer }) { Ok(()) } else { Err(Error::QueueFull) }
    }

    /// Looks for an event and takes the oldest one.
    ///
    /// # Errors
    /// Those of [`Evd::take`].
    pub fn dequeue(&self) -> Result<Event> {
        if !self.look() {
            return Err(Error::QueueEmpty);
        }
        self.take(|&completion| completion.into(), |event| event)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn take_any(&self) -> Result<Event> {
        let queued = self.queue().take()?;
        Ok(queued.settle())
    }

    /// Whether the queue holds an event or a thread waits.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// What it has counted since it was made.
    pub fn counts(&self) -> EvdCounts {
        let (waits, dequeued) = self.queue().counts();
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EvdCounts { waits, slept: of(&self.slept), dequeued, connection_events: of(&self.connection_events) }
    }

    /// Queues an event of a connection, or of a peer.
    pub(crate) fn push_connection(&self, event: Event) {
        self.connection_events.fetch_add(1, Ordering::Relaxed);
        self.push(|| Queued::event(event), || true);
    }

    /// Locks the queue.
    #[inline]
    pub(crate) fn queue(&self) -> Locked<'_, T> {
        Locked { queue: self.queue.lock(), busy: &self.busy }
    }

    /// Polls the transport for completions.
    #[inline]
    pub(crate) fn poll(&self) {
        self.ia.transport.poll(self.cq.as_ref(), Poll::IfFree);
    }

    /// Makes an event that is queued already a notification event.
    pub(crate) fn announce(&self) {
        let tell = self.queue().announce();
        self.tell(tell);
    }

    /// Queues an event, which is a notification event, if there is room.
    pub(crate) fn offer(&self, event: Event) -> bool {
        self.fill(|batch| batch.add(Queued::event(event), true)) == 0
    }

    /// Wakes what the event wakes that [`Evd::push`] has queued, or reports that it is lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_push(&self, mut queue: MutexGuard<'_, Queue<T>>, kept: bool, notifies: bool) {
        if kept {
            let tell = queue.tell(usize::from(notifies));
            drop(queue);
            self.tell(tell);
        } else {
            // A queue that takes no event at all is empty.
            self.busy.store(queue.is_busy(), Ordering::Release);
            drop(queue);
            self.report_loss(1);
        }
    }

    /// Queues the events that `add` adds, as [`Evd::push`] does with one, under one lock.
    pub(crate) fn push_all(&self, add: impl FnOnce(&mut Batch<'_, T>)) {
        let lost = self.fill(add);
        if lost > 0 {
            self.report_loss(lost);
        }
    }

    /// Queues the events that `add` adds as far as there is room, and wakes what they wake. Returns the number of those
    /// that found none.
    fn fill(&self, add: impl FnOnce(&mut Batch<'_, T>)) -> usize {
        let (lost, tell) = {
            let mut queue = self.queue();
            let mut batch = Batch::new(&mut queue);
            add(&mut batch);
            batch.end()
        };
        if let Some(tell) = tell {
            self.tell(tell);
        }
        lost
    }

    #[cold]
    fn report_loss(&self, lost: usize) {
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {}: full, {lost} lost", self.header.handle());
        (0..lost).for_each(|_| self.ia.raise(self.header.handle(), AsyncReason::EvdOverflow));
    }

    /// Wakes what new events wake. Called without the lock of the queue.
    #[cold]
    fn tell(&self, tell: PendingWakeup<T>) {
        match tell {
            PendingWakeup::Nobody => {}
            PendingWakeup::Waiter(waker) => waker.wake(),
            PendingWakeup::Object(cno, times) => (0..times).for_each(|_| cno.trigger(self.header.handle())),
        }
    }

    /// Counts a stream of an endpoint that feeds this dispatcher; `requests` says that it is that of its requests. A waiter that
    /// sleeps then wakes, because it has to hear of their completions from now on.
    pub(crate) fn add_feed(&self, feed: Feed, requests: bool) {
        let waker = {
            let mut queue = self.queue();
            queue.feeds[feed as usize] += 1;
            queue.requests += usize::from(requests);
            queue.waker().filter(|_| requests)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Undoes [`Evd::add_feed`].
    pub(crate) fn remove_feed(&self, feed: Feed, requests: bool) {
        let mut queue = self.queue();
        queue.feeds[feed as usize] -= 1;
        queue.requests -= usize::from(requests);
    }
}

/// The locked queue of a dispatcher.
pub(crate) struct Locked<'a, T: Transport> {
    queue: MutexGuard<'a, Queue<T>>,
    busy: &'a AtomicBool,
}

impl<T: Transport> Deref for Locked<'_, T> {
    type Target = Queue<T>;

    #[inline]
    fn deref(&self) -> &Queue<T> {
        &self.queue
    }
}

impl<T: Transport> DerefMut for Locked<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Queue<T> {
        &mut self.queue
    }
}

impl<T: Transport> Drop for Locked<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.busy.store(self.queue.is_busy(), Ordering::Release);
    }
}
